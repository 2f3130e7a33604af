"""Any Gymnasium environment as one of ours.

How observations and actions change is said in `gym_spaces`. An `action_mask` that the environment puts into its info,
as Taxi does, becomes an entry of the observation. Every attempt at a task resets the environment
with the world's seed: what it draws at a reset is the task. What the environment does wrong is told in one line.
"""

import difflib
import math
import sys
import textwrap
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from agent.envs.base import MAX_SEED
from agent.envs.gym_spaces import ACTION_MASK, flat_action, flat_observation, mask_space, read_mask
from store.errors import AmagoError

Observation = dict[str, np.ndarray]

_MAX_REASON = 240  # characters of somebody else's error that are repeated


class GymEnv(gymnasium.Env):
    """The environment registered as `id`; an id of the form "module:Name-v0" imports the module first.

    `max_steps` is the time limit, None that of the environment. AmagoError if there is no such environment, or if it
    cannot be played by our agent.
    """

    max_instruction = 0
    vocabulary = ""

    def __init__(self, id: str, max_steps: int | None = None):
        self._id = id
        self._env = _make(id, max_steps)
        spec = self._env.spec
        assert spec is not None, id
        if spec.max_episode_steps is None:
            raise AmagoError(f"{id} has no time limit of its own; give one: --set env.max_steps=1000")
        self.name = f"gym:{id}"
        self.max_steps = spec.max_episode_steps
        self.success_return = None if spec.reward_threshold is None else float(spec.reward_threshold)
        try:
            self.action_space, self._original_action = flat_action(self._env.action_space)
            num_actions = int(self.action_space.n) if isinstance(self.action_space, spaces.Discrete) else None
            self._entries = flat_observation(self._env.observation_space, num_actions)
        except AmagoError as error:
            raise AmagoError(f"{id}: {error}") from None
        except Exception as error:
            raise self._failure("spaces", error) from error
        observed: dict[str, gymnasium.Space] = {name: entry.space for name, entry in self._entries.items()}
        self._told_mask: np.ndarray | None = None
        if num_actions is not None and ACTION_MASK not in observed and self._tells_mask(num_actions):
            self._told_mask = np.ones(num_actions, np.int8)
            observed[ACTION_MASK] = mask_space(num_actions)
        self.observation_space = spaces.Dict(observed)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        super().reset(seed=seed)
        world = int(self.np_random.integers(MAX_SEED)) if seed is None else seed
        try:
            observation, said = self._env.reset(seed=world)
            return self._observe(observation, said), {"cause": ""}
        except Exception as error:
            raise self._failure("reset", error) from error

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        try:
            observation, reward, terminated, truncated, said = self._env.step(self._original_action(action))
            terminated, truncated = bool(terminated), bool(truncated and not terminated)
            cause = "ended" if terminated else "time limit" if truncated else ""
            return self._observe(observation, said), _finite(reward), terminated, truncated, {"cause": cause}
        except Exception as error:
            raise self._failure("step", error) from error

    def close(self) -> None:
        self._env.close()

    def _observe(self, observation: Any, said: dict[str, Any]) -> Observation:
        seen = {name: entry.read(observation) for name, entry in self._entries.items()}
        for name, entry in self._entries.items():
            if seen[name].shape != entry.space.shape:
                raise ValueError(f"'{name}' of the observation is {seen[name].shape}, not {entry.space.shape}")
            if seen[name].dtype.kind == "f" and not np.isfinite(seen[name]).all():
                raise ValueError(f"'{name}' of the observation is not finite")
        if self._told_mask is not None:
            seen[ACTION_MASK] = read_mask(said.get(ACTION_MASK, self._told_mask))
        return seen

    def _tells_mask(self, num_actions: int) -> bool:
        """Whether the info at a reset tells which actions are legal."""
        try:
            _, said = self._env.reset(seed=0)
            return ACTION_MASK in said and np.shape(said[ACTION_MASK]) == (num_actions,)
        except Exception as error:
            raise self._failure("reset", error) from error

    def _failure(self, where: str, error: Exception) -> AmagoError:
        return AmagoError(f"the Gymnasium environment '{self._id}' fails in its {where}: {_line(error)}")


def _finite(reward: Any) -> float:
    if not math.isfinite(number := float(reward)):
        raise ValueError(f"the reward is {number}")
    return number


def _line(error: Exception) -> str:
    return textwrap.shorten(f"{type(error).__name__}: {error}", _MAX_REASON, placeholder=" ...")


def _make(id: str, max_steps: int | None) -> gymnasium.Env:
    """The environment, with its time limit; what keeps it from being made is one clear line."""
    if not id:
        raise AmagoError("which Gymnasium environment? give --id, for example --id CartPole-v1")
    if id.count(":") > 1:
        raise AmagoError(f"'{id}' has two colons; the Gymnasium environments of a module are called module:Name-v0")
    if ":" in id and str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))  # where one's own module lies, as with `python -m`
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that there is a newer version, a better package, ...
            return gymnasium.make(id, max_episode_steps=max_steps, disable_env_checker=True)
    except gymnasium.error.NamespaceNotFound as error:
        raise AmagoError(
            f"there are no Gymnasium environments of the kind of '{id}'; install their package and name the module "
            "that registers them, for example --id ale_py:ALE/Pong-v5"
        ) from error
    except (gymnasium.error.UnregisteredEnv, gymnasium.error.DeprecatedEnv) as error:
        raise AmagoError(f"there is no Gymnasium environment '{id}'{_near_names(id)}") from error
    except Exception as error:
        raise AmagoError(f"the Gymnasium environment '{id}' cannot be made: {_line(error)}") from error


def _near_names(id: str) -> str:
    """What the id may have meant, to end a sentence with."""
    names = {name.lower(): name for name in gymnasium.registry}
    near = difflib.get_close_matches(id.rpartition(":")[2].lower(), names, n=3)
    if near:
        return f"; is it {' or '.join(names[name] for name in near)}?"
    return "; one of your own is --id module:Name-v0, where importing the module registers it"
