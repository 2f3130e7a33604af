"""Tiny environments for the tests of the vector: predictable, fast, and failing on request.

They live in a module of their own because worker processes import them by name.
"""

import os
import signal
import sys
import time
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces


class CountingEnv(gymnasium.Env):
    """Shows (seed, steps) and the action, pays the action, reaches goal 7 on even steps, ends by time."""

    name = "counting"
    max_instruction = 5
    vocabulary = "crafter"
    success_return = None

    def __init__(self, max_steps: int = 10):
        self.max_steps = max_steps
        self.observation_space = spaces.Dict(
            {
                "state": spaces.Box(0, 1_000_000, (2,), np.int64),
                "action": spaces.Box(0, 255, (1,), np.uint8),
            }
        )
        self.action_space = spaces.Discrete(17)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None):
        super().reset(seed=seed)
        self.seed, self.steps = seed, 0
        return self._observation(0), {"progress": 0}

    def step(self, action: int):
        self.steps += 1
        over = self.steps >= self.max_steps
        info = {
            "achieved": (7,) if self.steps % 2 == 0 else (),
            "progress": self.steps // 2,
            "cause": "time limit" if over else "",
        }
        return self._observation(action), float(action), False, over, info

    def _observation(self, action: int) -> dict[str, np.ndarray]:
        return {"state": np.array([self.seed, self.steps]), "action": np.array([action], np.uint8)}


class FailingEnv(CountingEnv):
    """Fails as `failure` says at step 3 in worlds with an odd seed."""

    def __init__(self, failure: str):
        super().__init__()
        self.failure = failure

    def step(self, action: int):
        if self.steps == 2 and self.seed is not None and self.seed % 2:
            _fail(self.failure)
        return super().step(action)


def _fail(failure: str) -> None:
    match failure:
        case "exit":
            os._exit(3)
        case "exception":
            raise RuntimeError("the world has ended")
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "hang":
            time.sleep(3600)


class TimedEnv(CountingEnv):
    """Takes `seconds` of pure computing a step, never ends."""

    def __init__(self, seconds: float):
        super().__init__(max_steps=1_000_000_000)
        self.seconds = seconds

    def step(self, action: int):
        end = time.perf_counter() + self.seconds
        while time.perf_counter() < end:
            pass
        return super().step(action)


class BrokenEnv(CountingEnv):
    """Can be made but not played."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None):
        raise RuntimeError("no world")


class ModulesEnv(CountingEnv):
    """Shows whether (torch, numpy) have been imported where it lives."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None):
        observation, info = super().reset(seed=seed)
        observation["state"] = np.array([int(name in sys.modules) for name in ("torch", "numpy")])
        return observation, info
