"""What the commands know of each environment beside its configuration: which instructions it takes, how to begin."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, NamedTuple

from store.errors import AmagoError

if TYPE_CHECKING:
    import gymnasium

    from agent.config import Config
    from agent.env_check.finding import Finding
    from agent.env_config import EnvConfig
    from agent.envs.base import EnvSpec

WORDED = "crafter"  # the environment whose instructions people write in words
FOREIGN = ("gym", "own")  # somebody else's program, which may fail
_EXAMPLES = {
    "crafter": 'amago train crafter --goals "collect sapling, place plant"',
    "gym": "amago train gym --id CartPole-v1",
    "own": "amago train my_package:make_env",
}


class Instructions(NamedTuple):
    """Which instructions an environment takes: a word for programs and one for people."""

    kind: str | None
    text: str


def instructions_of(name: str) -> Instructions:
    """In words, drawn for each world, or none."""
    kinds = {WORDED: Instructions("words", "in words"), "maze": Instructions("world", "of each world")}
    return kinds.get(name, Instructions(None, "none"))


def meant(text: str) -> dict[str, str]:
    """The configuration keys that say what to play, from what was typed: a name, or module:callable of one's own."""
    return {"env.name": "own", "env.target": text} if ":" in text else {"env.name": text}


def example(name: str) -> str:
    """The shortest command that trains on an environment."""
    return _EXAMPLES.get(name, f"amago train {name}")


def install_command(name: str) -> str | None:
    """The command that installs the packages of an environment, None where they come with amago."""
    from agent.catalog import ENVIRONMENTS

    needs = ENVIRONMENTS[name].needs
    return needs.install if needs else None


def is_installed(name: str) -> bool:
    """Whether the packages of an environment are there."""
    from importlib.util import find_spec

    from agent.catalog import ENVIRONMENTS

    needs = ENVIRONMENTS[name].needs
    return needs is None or all(find_spec(module) for module in needs.modules)


def describe_packages(name: str) -> str:
    """'come with amago', 'installed', or how to install them."""
    command = install_command(name)
    if command is None:
        return "come with amago"
    return "installed" if is_installed(name) else command


def describe(env: EnvConfig) -> str:
    """'tmaze (attempts 1, max_steps 400, active no)'."""
    from agent.reports.text import environment_text

    return environment_text(env.name, env.model_dump(mode="json", exclude={"name"}))


def describe_attempts(env: EnvConfig) -> str:
    """'1', '8', or 'as many as fit into 500 steps'."""
    if env.attempts is None:
        return f"as many as fit into {env.horizon} steps"
    return str(env.attempts) if env.horizon is None else f"{env.attempts}, at most {env.horizon} steps"


def takes_words(env: EnvConfig) -> bool:
    """Whether its instructions are written in words: Crafter's are, unless it is played freely."""
    from agent.env_config import CrafterConfig

    return isinstance(env, CrafterConfig) and env.reward == "instructions"


def require_words(config: Config, option: str) -> None:
    """AmagoError where an instruction in words was given to an environment that takes none."""
    if config.env.name == WORDED and not takes_words(config.env):
        raise AmagoError(f"free play takes no instructions: leave out {option} or --reward crafter")
    if config.env.name != WORDED:
        raise AmagoError(f"{config.env.name} takes no instructions in words: {option} is for {WORDED}")


def can_play(config: Config) -> bool:
    """Whether there is a program of the environment, and not only stored rollouts."""
    from agent.env_config import UNPLAYABLE

    return config.env.name != UNPLAYABLE


def check(config: Config) -> list[Finding]:
    """Whether an environment keeps its promises, and what its steps take in memory."""
    from agent.catalog import make_env
    from agent.env_check.check import check_environment
    from amago_cli.estimates import describe_memory

    with redirect_stdout(sys.stderr):  # somebody else's environment may print
        spec, findings = check_environment(make_env(config.env))
    return findings if spec is None else [*findings, describe_memory(config, spec)]


def look_at(config: Config) -> EnvSpec:
    """What the environment says of itself.

    AmagoError if there is no such environment, if its packages are missing, or if somebody else's does not play.
    """
    from agent.catalog import make_env

    with redirect_stdout(sys.stderr):  # somebody else's environment may print
        return _look_at(config, make_env(config.env)())


def _look_at(config: Config, env: gymnasium.Env) -> EnvSpec:
    from agent.envs.base import EnvSpec
    from agent.envs.rehearsal import rehearse

    try:
        if config.env.name in FOREIGN:  # ours are known to play, and Crafter would be compiled now
            rehearse(env)
        return EnvSpec.from_env(env)
    finally:
        env.close()
