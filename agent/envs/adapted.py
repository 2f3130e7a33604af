"""A Gymnasium environment of somebody else's in our conventions (`agent.envs.base`).

How observations and actions change is said in `gym_spaces`. An `action_mask` that the environment puts into its info,
as Taxi does, becomes an entry of the observation. Every attempt at a task resets the environment with the world's seed:
what it draws at a reset is the task. What the environment does wrong is told in one line. Does not know where the
environment comes from.
"""

import textwrap
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium import spaces

from agent.envs.base import MAX_SEED
from agent.envs.gym_spaces import ACTION_MASK, flat_action, flat_observation, mask_space, read_mask
from store.errors import AmagoError

Observation = dict[str, np.ndarray]

_MAX_REWARD = 1e9  # returns beyond that are past what float32 can add up
_MAX_REASON = 240  # characters of somebody else's error that are repeated


class Called(NamedTuple):
    """What messages call an environment."""

    kind: str
    """ "the Gymnasium environment"."""
    label: str
    """ "CartPole-v1"."""


class AdaptedEnv(gymnasium.Env):
    """`original`, which ends by itself within `max_steps`, in our conventions.

    AmagoError if it cannot be played by our agent, and whenever it fails.
    """

    max_instruction = 0
    vocabulary = ""

    def __init__(self, original: gymnasium.Env, called: Called, max_steps: int, success_return: float | None):
        self.original = original
        """The environment as its author wrote it."""
        self.max_steps, self.success_return = max_steps, success_return
        self._called = called
        try:
            self.action_space, self._original_action = flat_action(original.action_space)
            num_actions = int(self.action_space.n) if isinstance(self.action_space, spaces.Discrete) else None
            self._entries = flat_observation(original.observation_space, num_actions)
        except AmagoError as error:
            raise AmagoError(f"{called.label}: {error}") from None
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
            observation, said = self.original.reset(seed=world, options=self._told(options))
            return self._observe(observation, said), {"cause": ""}
        except (Exception, SystemExit) as error:
            raise self._failure("reset", error) from error

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        try:
            observation, reward, terminated, truncated, said = self.original.step(self._original_action(action))
            terminated, truncated = bool(terminated), bool(truncated and not terminated)
            info = self._info(said, terminated, truncated)
            return self._observe(observation, said), _finite(reward), terminated, truncated, info
        except (Exception, SystemExit) as error:
            raise self._failure("step", error) from error

    def close(self) -> None:
        self.original.close()

    def _told(self, options: dict[str, Any] | None) -> dict[str, Any] | None:
        """The options of a reset that the environment is handed: ours would mean nothing to it."""
        return None

    def _info(self, said: dict[str, Any], terminated: bool, truncated: bool) -> dict[str, Any]:
        """What is kept of what the environment says beside the observation."""
        return {"cause": "ended" if terminated else "time limit" if truncated else ""}

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
            _, said = self.original.reset(seed=0)
            return ACTION_MASK in said and np.shape(said[ACTION_MASK]) == (num_actions,)
        except (Exception, SystemExit) as error:
            raise self._failure("reset", error) from error

    def _failure(self, where: str, error: BaseException) -> AmagoError:
        return AmagoError(f"{self._called.kind} '{self._called.label}' fails in its {where}: {error_line(error)}")


def error_line(error: BaseException) -> str:
    """Somebody else's error in one line of bearable length, without what a terminal would obey."""
    said = "".join(c if c.isprintable() else " " for c in f"{type(error).__name__}: {error}")
    return textwrap.shorten(said, _MAX_REASON, placeholder=" ...")


def _finite(reward: Any) -> float:
    if not abs(number := float(reward)) <= _MAX_REWARD:  # nan is not
        raise ValueError(f"the reward is {number:g}")
    return number
