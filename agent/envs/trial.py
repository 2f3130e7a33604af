"""Several attempts at one task in one rollout: what an agent learned in the first it can use in the next.

Plays any environment that keeps the conventions of `agent.envs.base`; does not know what its attempts are about.
"""

from collections.abc import Callable
from typing import Any

import gymnasium

from agent.envs.base import MAX_SEED, free_attempts_of, games_of


class Trial(gymnasium.Env):
    """`attempts` attempts at the task of one seed, or as many as fit into `horizon` steps, whichever is over first.

    Between two attempts there is no step: the one that ends an attempt returns the first observation of the next, with
    `is_first` in its info, no end and no `cause`. Its reward and `achieved` still belong to the attempt that ended,
    its `progress` to the new one. The trial ends as its last attempt does; at the horizon it is truncated, and the
    cause is "horizon" if that cuts an attempt short.
    """

    def __init__(self, env: gymnasium.Env, attempts: int | None, horizon: int | None):
        assert attempts or horizon, "a trial needs an end"
        self._env = env
        self._attempts, self._horizon = attempts, horizon
        self.observation_space, self.action_space = env.observation_space, env.action_space
        self.name: str = env.get_wrapper_attr("name")
        self.max_instruction: int = env.get_wrapper_attr("max_instruction")
        self.vocabulary: str = env.get_wrapper_attr("vocabulary")
        self.success_return: float | None = env.get_wrapper_attr("success_return")
        self.games, self.free_attempts = games_of(env), free_attempts_of(env)
        by_attempts = [attempts * env.get_wrapper_attr("max_steps")] if attempts else []
        self.max_steps: int = min([*by_attempts, *([horizon] if horizon else [])])

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self._seed = int(self.np_random.integers(MAX_SEED)) if seed is None else seed
        self._options = dict(options or {})
        self._steps = self._ended = 0
        return self._begin()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self._env.step(action)
        self._steps += 1
        self._ended += terminated or truncated
        if self._ended == self._attempts:
            return observation, float(reward), terminated, truncated, info
        if self._steps == self._horizon:
            return observation, float(reward), False, True, {**info, "cause": info["cause"] or "horizon"}
        if terminated or truncated:
            observation, first = self._begin()
            kept = {"achieved": info.get("achieved", ()), "progress": first.get("progress", 0)}
            info = {**first, **kept, "cause": "", "is_first": True}
        return observation, float(reward), False, False, info

    def close(self) -> None:
        self._env.close()

    def _begin(self) -> tuple[Any, dict[str, Any]]:
        """The first observation of the next attempt."""
        return self._env.reset(seed=self._seed, options={**self._options, "attempt": self._ended})


def make_trial(make_attempt: Callable[[], gymnasium.Env], attempts: int | None, horizon: int | None) -> Trial:
    """A trial of the environment that `make_attempt` makes."""
    return Trial(make_attempt(), attempts, horizon)
