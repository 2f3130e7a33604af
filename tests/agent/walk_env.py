"""A small deterministic world with goals, in a module of its own so that worker processes can import it."""

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
