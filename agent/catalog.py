"""The table of environments by name. Imports an environment only when one is asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from agent.env_config import UNPLAYABLE
from agent.envs.procgen_package import INSTALL as INSTALL_PROCGEN
from store.errors import AmagoError

if TYPE_CHECKING:
    import gymnasium

    from agent.env_config import (
        AtariConfig,
        BabyAIConfig,
        CrafterConfig,
        DeliveryConfig,
        EnvConfig,
        FrozenLakeConfig,
        GymConfig,
        HalfCheetahConfig,
        KeyDoorConfig,
        MazeConfig,
        MetaWorldConfig,
        OwnConfig,
        PopGymConfig,
        ProcgenConfig,
        TMazeConfig,
    )

MakeEnv = Callable[[], "gymnasium.Env"]
"""Makes one environment, in any process: picklable."""


class Needs(NamedTuple):
    """Packages that do not come with amago."""

    modules: tuple[str, ...]
    install: str
    """The command that brings them."""


class Environment(NamedTuple):
    """One line of the table."""

    description: str
    attempt: Callable[[Any], MakeEnv]
    """From the `env` section of the configuration to what makes an environment of one attempt."""
    needs: Needs | None = None


def make_env(config: EnvConfig) -> MakeEnv:
    """What makes the environment that `config` describes, with several attempts at a task if it says so.

    AmagoError for one of which there are only stored rollouts.
    """
    if config.name == UNPLAYABLE:
        raise AmagoError(f"{config.dataset} cannot be played here: amago has only stored rollouts of its environment")
    make_attempt = ENVIRONMENTS[config.name].attempt(config)
    if config.attempts == 1 and config.horizon is None:
        return make_attempt
    from agent.envs.trial import make_trial

    return partial(make_trial, make_attempt, config.attempts, config.horizon)


def _crafter(config: CrafterConfig) -> MakeEnv:
    from agent.envs.crafter.env import make_crafter

    return partial(make_crafter, config.engine, config.observation, config.max_steps, config.reward)


def _tmaze(config: TMazeConfig) -> MakeEnv:
    from agent.envs.tmaze import TMazeEnv

    return partial(TMazeEnv, config.max_steps, active=config.active)


def _key_door(config: KeyDoorConfig) -> MakeEnv:
    from agent.envs.key_door import KeyDoorEnv

    return partial(KeyDoorEnv, config.size, config.max_steps, dark=config.dark)


def _frozen_lake(config: FrozenLakeConfig) -> MakeEnv:
    from agent.envs.frozen_lake import FrozenLakeEnv

    return partial(FrozenLakeEnv, config.size, config.max_steps, shuffle_actions=config.shuffle_actions)


def _delivery(config: DeliveryConfig) -> MakeEnv:
    from agent.envs.delivery import DeliveryEnv

    return partial(DeliveryEnv, config.length, config.num_forks, config.num_packages)


def _maze(config: MazeConfig) -> MakeEnv:
    from agent.envs.maze import MazeEnv

    return partial(MazeEnv, config.size, config.num_goals, config.max_steps)


def _half_cheetah(config: HalfCheetahConfig) -> MakeEnv:
    from agent.envs.half_cheetah import HalfCheetahVelocityEnv

    return partial(HalfCheetahVelocityEnv, config.max_steps)


def _gym(config: GymConfig) -> MakeEnv:
    from agent.envs.gym import GymEnv

    return partial(GymEnv, config.id, config.max_steps)


def _own(config: OwnConfig) -> MakeEnv:
    from agent.envs.own import OwnEnv

    return partial(OwnEnv, config.target, config.max_steps)


def _popgym(config: PopGymConfig) -> MakeEnv:
    from agent.envs.popgym import make_popgym

    return partial(make_popgym, config.games, explore=config.attempts != 1)


def _babyai(config: BabyAIConfig) -> MakeEnv:
    from agent.envs.babyai import BabyAIEnv

    return partial(BabyAIEnv, config.games)


def _procgen(config: ProcgenConfig) -> MakeEnv:
    from agent.envs.procgen import ProcgenEnv

    return partial(ProcgenEnv, config.games, config.mode, config.levels, config.max_steps, config.scales)


def _atari(config: AtariConfig) -> MakeEnv:
    from agent.envs.atari import AtariEnv

    return partial(AtariEnv, config.games, config.max_steps, config.frame_skip, config.sticky)


def _metaworld(config: MetaWorldConfig) -> MakeEnv:
    from agent.envs.metaworld import MetaWorldEnv

    return partial(MetaWorldEnv, config.benchmark, config.games, config.goals, config.max_steps)


ENVIRONMENTS = {
    "crafter": Environment("Crafter with instructions of up to five goals out of 191", _crafter),
    "tmaze": Environment("T-Maze: remember a sign along a corridor of any length, then turn", _tmaze),
    "dark-key-door": Environment("a dark room: find the key, then the door, again and again", _key_door),
    "frozen-lake": Environment("several attempts to cross an unknown frozen lake", _frozen_lake),
    "delivery": Environment("package delivery: a road with forks and addresses to remember", _delivery),
    "maze": Environment("an unknown maze: reach up to three places in the order asked for", _maze),
    "half-cheetah": Environment(
        "half-cheetah at a velocity nobody tells", _half_cheetah, Needs(("mujoco",), 'pip install "amago[mujoco]"')
    ),
    "gym": Environment("any Gymnasium environment: --id CartPole-v1", _gym),
    "own": Environment("an environment of your own: what my_package:make_env returns", _own),
    "popgym": Environment("27 games of memory", _popgym, Needs(("popgym",), 'pip install "amago[popgym]"')),
    "babyai": Environment(
        "missions in words, 68 levels on grids of rooms", _babyai, Needs(("minigrid",), 'pip install "amago[babyai]"')
    ),
    "procgen": Environment(
        "16 video games with levels without end", _procgen, Needs(("procgen", "gym3", "cffi"), INSTALL_PROCGEN)
    ),
    "atari": Environment(
        "ten Atari games, scores as they are", _atari, Needs(("ale_py",), 'pip install "amago[atari]"')
    ),
    "metaworld": Environment(
        "a robot arm and fifty tasks with hidden goals",
        _metaworld,
        Needs(("metaworld",), 'pip install "amago[metaworld]"'),
    ),
}
