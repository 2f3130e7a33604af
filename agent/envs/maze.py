"""Maze runner (AMAGO, arXiv 2310.09971): reach the places of an instruction, in order, in a maze never seen before.

The agent knows where it is and sees how far it could walk in each direction; the maze itself it has to find out. Every
step reaches the goal of the cell it ends on.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from agent.envs.base import MAX_SEED
from agent.envs.maze_layout import maze_of
from agent.goals.detection import advance

Observation = dict[str, np.ndarray]


class MazeEnv(gymnasium.Env):
    """A maze of `size` x `size` cells, drawn from the seed; actions: up, right, down, left (y grows downwards).

    Entering the cell of the active goal pays 1; the attempt ends when all goals are done.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 (Gymnasium's own convention)
    name = "maze"
    success_return = None

    def __init__(self, size: int, num_goals: int, max_steps: int):
        self.max_steps = max_steps
        self.max_instruction = num_goals
        self.vocabulary = f"cells {size}"
        self.observation_space = spaces.Dict(
            {
                "position": spaces.MultiDiscrete([size, size], np.uint8),
                "sight": spaces.MultiDiscrete([size - 2] * 4, np.uint8),
            }
        )
        self.action_space = spaces.Discrete(4)
        self._size = size
        y, x = np.divmod(np.arange(size * size), size)
        self._positions = np.stack([x, y], axis=1).astype(np.uint8)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        super().reset(seed=seed)
        world = int(self.np_random.integers(MAX_SEED)) if seed is None else seed
        self._instruction = tuple((options or {}).get("instruction", ()))
        assert len(self._instruction) <= self.max_instruction, self._instruction
        assert all(0 <= goal < self._size**2 for goal in self._instruction), self._instruction
        self._maze = maze_of(self._size, world)
        self._cell = self._maze.start
        self._steps = self._progress = 0
        return self._observation(), {"achieved": (), "progress": 0, "cause": ""}

    def step(self, action: int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        self._steps += 1
        self._cell = self._maze.moves[self._cell][action]
        achieved = (self._cell,)
        before, self._progress = self._progress, advance(self._instruction, self._progress, achieved)
        completed = self._progress == len(self._instruction) > 0
        truncated = not completed and self._steps >= self.max_steps
        cause = "completed" if completed else "time limit" if truncated else ""
        info = {"achieved": achieved, "progress": self._progress, "cause": cause}
        return self._observation(), float(self._progress - before), completed, truncated, info

    def _observation(self) -> Observation:
        return {"position": self._positions[self._cell].copy(), "sight": self._maze.sight[self._cell].copy()}
