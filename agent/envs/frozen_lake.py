"""Meta-frozen-lake (Gymnasium's FrozenLake as a task to learn within a few attempts; Grigsby et al. 2024, AMAGO-2).

A square lake whose ice has holes that cannot be seen: one cell in five, drawn anew until a way leads from the upper
left corner to the lower right one, the goal. The ice is not slippery. Where the holes are, and with `shuffle_actions`
what each action does, is the task, the same at each attempt. Nothing else is random. Maps are drawn here, not by
Gymnasium, so that a seed means the same lake in all its versions.
"""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

_HOLES = 0.2
_MOVES = ((-1, 0), (0, -1), (1, 0), (0, 1), (0, 0))  # left, up, right, down, stay


class FrozenLakeEnv(gymnasium.Env):
    """Actions: left, up, right, down, stay, or a permutation of them; into the shore they do nothing.

    Observation: `position` (x, y). Reaching the goal pays 1. Causes: "completed" and "fell in" (terminated), "time
    limit" (truncated).
    """

    name = "frozen-lake"
    max_instruction = 0
    vocabulary = ""
    success_return = 1.0

    def __init__(self, size: int, max_steps: int, *, shuffle_actions: bool):
        assert 2 <= size <= 255, size
        self.size, self.max_steps = size, max_steps
        self._shuffle_actions = shuffle_actions
        self._goal = size - 1, size - 1
        self.observation_space = spaces.Dict({"position": spaces.MultiDiscrete([size, size], np.uint8)})
        self.action_space = spaces.Discrete(5)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        super().reset(seed=seed)
        self._holes = draw_lake(self.np_random, self.size)
        order = self.np_random.permutation(5).tolist() if self._shuffle_actions else range(5)
        self._moves = [_MOVES[index] for index in order]
        self._position, self._steps = (0, 0), 0
        return self._observation(), {"cause": ""}

    def step(self, action: int) -> tuple[dict[str, np.ndarray], float, bool, bool, dict[str, Any]]:
        (x, y), (dx, dy), last = self._position, self._moves[action], self.size - 1
        x, y = self._position = min(max(x + dx, 0), last), min(max(y + dy, 0), last)
        self._steps += 1
        arrived, fell = self._position == self._goal, self._holes[y][x]
        late = not arrived and not fell and self._steps >= self.max_steps
        cause = "completed" if arrived else "fell in" if fell else "time limit" if late else ""
        return self._observation(), float(arrived), arrived or fell, late, {"cause": cause}

    def _observation(self) -> dict[str, np.ndarray]:
        return {"position": np.array(self._position, np.uint8)}


def draw_lake(rng: np.random.Generator, size: int) -> list[list[bool]]:
    """Where the holes are, by row and column: a lake that can be crossed."""
    while True:
        holes = rng.random((size, size)) < _HOLES
        holes[0, 0] = holes[-1, -1] = False
        lake = holes.tolist()
        if _can_be_crossed(lake):
            return lake


def _can_be_crossed(lake: list[list[bool]]) -> bool:
    last = len(lake) - 1
    closed = [row.copy() for row in lake]  # holes, and what has been visited
    to_visit = [(0, 0)]
    while to_visit:
        x, y = to_visit.pop()
        if closed[y][x]:
            continue
        if x == y == last:
            return True
        closed[y][x] = True
        if x:
            to_visit.append((x - 1, y))
        if y:
            to_visit.append((x, y - 1))
        if x < last:
            to_visit.append((x + 1, y))
        if y < last:
            to_visit.append((x, y + 1))
    return False
