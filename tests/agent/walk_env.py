"""Small deterministic worlds, one of them with goals, in a module of its own for worker processes to import."""

import os
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from agent.goals.detection import advance

LENGTH = 7


class WalkEnv(gymnasium.Env):
    """Places 0..6 in a row; goal g is to be at place g, instructions of up to two of them.

    Actions: left, stay, right. The wind of the world's seed sometimes pushes. Going left of place 0 is death; in worlds
    whose seed is a multiple of 5 it also waits at place 3.
    """

    name = "walk"
    max_instruction = 2
    vocabulary = "crafter"
    success_return = None

    def __init__(self, max_steps: int = 14):
        self.max_steps = max_steps
        self.observation_space = spaces.Dict(
            {"place": spaces.MultiDiscrete([LENGTH], np.uint8), "wind": spaces.Box(0.0, 1.0, (1,), np.float32)}
        )
        self.action_space = spaces.Discrete(3)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None):
        super().reset(seed=seed)
        self.seed = seed or 0
        self.wind = np.random.default_rng(self.seed).random(self.max_steps + 1).astype(np.float32)
        self.instruction = tuple((options or {}).get("instruction", ()))
        self.place, self.steps, self.progress = int(LENGTH * self.wind[0]), 0, 0
        return self._observation(), {"progress": 0}

    def step(self, action: int):
        self.steps += 1
        wanted = self.place + int(action) - 1 + (self.wind[self.steps] > 0.8)
        self.place = int(np.clip(wanted, 0, LENGTH - 1))
        achieved = (self.place,)
        before, self.progress = self.progress, advance(self.instruction, self.progress, achieved)
        cause = self._cause(wanted < 0)
        truncated = cause == "time limit"
        info = {"achieved": achieved, "progress": self.progress, "cause": cause}
        reward = float(self.progress - before)
        return self._observation(), reward, bool(cause) and not truncated, truncated, info

    def _cause(self, fell: bool) -> str:
        if self.instruction and self.progress == len(self.instruction):
            return "completed"
        if fell or (self.seed % 5 == 0 and self.place == 3):
            return "death by falling"
        return "time limit" if self.steps >= self.max_steps else ""

    def _observation(self) -> dict[str, np.ndarray]:
        return {
            "place": np.array([self.place], np.uint8),
            "wind": self.wind[self.steps : self.steps + 1].copy(),
        }


class SlideEnv(gymnasium.Env):
    """A place between -1 and 1, moved by the mean of two numbers or (`bits`) of three bits, to a hidden goal.

    No instructions. Ends at the goal, at the other end, or by its time limit; every attempt starts elsewhere.
    """

    name = "slide"
    max_instruction = 0
    vocabulary = ""
    success_return = 0.5

    def __init__(self, max_steps: int = 10, *, bits: bool = False):
        self.max_steps = max_steps
        self.observation_space = spaces.Dict({"place": spaces.Box(-2.0, 2.0, (1,), np.float32)})
        self.action_space = spaces.MultiBinary(3) if bits else spaces.Box(np.float32([-1, 0]), np.float32([1, 4]))
        self._middle = 0.5 if bits else np.array([0.0, 2.0])
        self._scale = 1.0 if bits else np.array([0.5, 0.25])

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None):
        super().reset(seed=seed)
        world = np.random.default_rng(seed or 0)
        self.goal = world.choice([-1.0, 1.0])
        attempt = int((options or {}).get("attempt", 0))
        self.place, self.steps = np.random.default_rng((seed or 0, attempt)).uniform(-0.3, 0.3), 0
        return self._observation(), {}

    def step(self, action: np.ndarray):
        assert self.action_space.contains(action), action
        self.steps += 1
        self.place += float(np.mean((np.asarray(action, np.float64) - self._middle) * self._scale))
        arrived = self.place * self.goal >= 0.9
        lost = self.place * self.goal <= -0.9
        truncated = self.steps >= self.max_steps and not (arrived or lost)
        cause = "arrived" if arrived else "lost" if lost else "time limit" if truncated else ""
        return self._observation(), float(arrived), arrived or lost, truncated, {"cause": cause}

    def _observation(self) -> dict[str, np.ndarray]:
        return {"place": np.array([self.place], np.float32)}


class CrashingWalkEnv(WalkEnv):
    """Takes its process with it at its fourth step, once: then the file `marker` exists."""

    def __init__(self, marker: Path):
        super().__init__()
        self.marker = marker

    def step(self, action: int):
        if self.steps == 3 and not self.marker.exists():
            self.marker.touch()
            os._exit(9)
        return super().step(action)
