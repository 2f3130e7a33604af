import pickle
import subprocess
import sys

import numpy as np
import pytest
from gymnasium import spaces

from agent.catalog import ENVIRONMENTS, make_env
from agent.config import Config, environment_names, override
from agent.envs.base import EnvSpec

SMALL = {  # those with games by the dozen have tests of their own
    "crafter": {"engine": "package", "max_steps": 7},
    "tmaze": {"max_steps": 7},
    "dark-key-door": {"size": 3, "max_steps": 7},
    "frozen-lake": {"size": 3, "max_steps": 7},
    "delivery": {"length": 8},
    "maze": {"size": 5, "max_steps": 7},
    "half-cheetah": {"max_steps": 7},
    "gym": {"id": "CartPole-v1", "max_steps": 7},
    "own": {"target": "bad_envs:GoodEnv", "max_steps": 7},
}


def env_config(name: str, **changes):
    return override(Config(), {"env.name": name, **{f"env.{key}": value for key, value in changes.items()}}).env


def skip_without_packages(name: str) -> None:
    needs = ENVIRONMENTS[name].needs
    for module in needs.modules if needs else ():
        pytest.importorskip(module)


def play(env, spec: EnvSpec) -> tuple[int, int, str]:
    """Steps, hidden resets and the cause of the end of a rollout in world 2 with whatever actions."""
    assert isinstance(spec.observation_space, spaces.Dict)
    spec.action_space.seed(0)
    observation, info = env.reset(seed=2, options={"instruction": (), "attempt": 0})
    steps, firsts, over = 0, 0, False
    while not over:
        assert set(observation) == set(spec.observation_space.spaces)
        for key, space in spec.observation_space.items():
            assert space.contains(observation[key]), (key, observation[key])
        observation, reward, terminated, truncated, info = env.step(spec.action_space.sample())
        over = terminated or truncated
        assert np.isfinite(reward) and bool(info.get("cause")) == over
        steps, firsts = steps + 1, firsts + bool(info.get("is_first"))
    return steps, firsts, info["cause"]


def test_the_table_and_the_configuration_name_the_same_environments():
    assert list(ENVIRONMENTS) == environment_names()
    assert set(SMALL) <= set(ENVIRONMENTS)
    for environment in ENVIRONMENTS.values():
        assert environment.description and "\n" not in environment.description


@pytest.mark.parametrize("name", SMALL)
def test_every_environment_can_be_made_in_another_process_and_played(name):
    skip_without_packages(name)
    once = pickle.loads(pickle.dumps(make_env(env_config(name, attempts=1, horizon=None, **SMALL[name]))))()
    spec = EnvSpec.from_env(once)
    assert spec.name == name or spec.name.startswith(f"{name}:")
    assert EnvSpec.from_json(spec.to_json()) == spec
    steps, firsts, cause = play(once, spec)
    assert steps <= spec.max_steps and firsts == 0 and cause != "horizon"
    once.close()

    limit = 3 * spec.max_steps
    often = pickle.loads(pickle.dumps(make_env(env_config(name, attempts=None, horizon=limit, **SMALL[name]))))()
    assert EnvSpec.from_env(often) == EnvSpec(**{**vars(spec), "max_steps": limit})
    steps, firsts, cause = play(often, spec)
    assert steps == limit and firsts >= 2 and cause
    often.close()


@pytest.mark.parametrize("name", SMALL)
def test_the_defaults_can_be_played(name):
    skip_without_packages(name)
    named = {key: value for key, value in SMALL[name].items() if key in ("id", "target")}
    env = make_env(env_config(name, **named))()
    env.reset(seed=0)
    env.step(env.action_space.sample())
    env.close()


def test_the_table_imports_no_environment():
    code = (
        "import agent.catalog, sys; print([m for m in ('crafter', 'torch', 'numba', 'gymnasium') if m in sys.modules])"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"
