"""Half-cheetah velocity: run at a speed that nobody tells, only the reward.

Gymnasium's HalfCheetah-v5 with the reward of VariBAD (Zintgraf et al. 2020): -|v - target| - 0.05 * sum(action^2),
where v is the forward velocity and the target, hidden, comes from U[0, 3] by the world's seed. The small noise of the
initial state depends on the attempt as well. An attempt ends by its time limit only.
"""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from agent.envs.base import MAX_SEED
from store.errors import AmagoError

_TARGETS = (0.0, 3.0)
_CONTROL_COST = 0.05
_TARGET_STREAM = 2**31  # no attempt has this number, so the target shares no randomness with any attempt's noise

Observation = dict[str, np.ndarray]


class HalfCheetahVelocityEnv(gymnasium.Env):
    """One attempt at the velocity that belongs to the world's seed."""

    name = "half-cheetah"
    max_instruction = 0
    vocabulary = ""
    success_return = None

    def __init__(self, max_steps: int):
        self.max_steps = max_steps
        self._cheetah = _make_cheetah()
        shape = self._cheetah.observation_space.shape
        self.observation_space = spaces.Dict({"state": spaces.Box(-np.inf, np.inf, shape, np.float32)})
        self.action_space = spaces.Box(-1.0, 1.0, self._cheetah.action_space.shape, np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        super().reset(seed=seed)
        world = int(self.np_random.integers(MAX_SEED)) if seed is None else seed
        attempt = (options or {}).get("attempt", 0)
        self.target = float(np.random.default_rng((world, _TARGET_STREAM)).uniform(*_TARGETS))
        noise = int(np.random.default_rng((world, attempt)).integers(MAX_SEED))
        self._steps = 0
        state, _ = self._cheetah.reset(seed=noise)
        return {"state": state.astype(np.float32)}, {"cause": ""}

    def step(self, action: np.ndarray) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        self._steps += 1
        state, _, _, _, said = self._cheetah.step(action)
        effort = float(np.square(action, dtype=float).sum())
        reward = -abs(float(said["x_velocity"]) - self.target) - _CONTROL_COST * effort
        truncated = self._steps >= self.max_steps
        info = {"cause": "time limit" if truncated else ""}
        return {"state": state.astype(np.float32)}, reward, False, truncated, info

    def close(self) -> None:
        self._cheetah.close()


def _make_cheetah() -> gymnasium.Env:
    """The simulation, without wrappers: this module counts the steps and pays the reward."""
    try:
        return gymnasium.make("HalfCheetah-v5", max_episode_steps=-1, disable_env_checker=True).unwrapped
    except (gymnasium.error.DependencyNotInstalled, ImportError) as error:
        raise AmagoError('half-cheetah needs MuJoCo: pip install "amago[mujoco]"') from error
