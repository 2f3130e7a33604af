"""Dark key-to-door (Laskin et al. 2022, In-context RL with Algorithm Distillation; Grigsby et al. 2023, AMAGO).

A square room with a key and a door that cannot be seen. Reaching the key pays 1, reaching the door with the key pays 1
and ends the attempt. Where key and door are, and where the agent begins, is the task: three different cells, the same
at each attempt, so that what one attempt found the next can use. Nothing else is random.
"""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

_MOVES = ((-1, 0), (0, -1), (1, 0), (0, 1), (0, 0))  # left, up, right, down, stay


class KeyDoorEnv(gymnasium.Env):
    """Actions: left, up, right, down, stay; into a wall they do nothing.

    Observation: `position` (x, y), `has_key` and `time`, the share of the attempt that is over; with `dark=False` also
    `key` and `door`. Causes: "completed" (terminated) and "time limit" (truncated).
    """

    name = "dark-key-door"
    max_instruction = 0
    vocabulary = ""
    success_return = 2.0

    def __init__(self, size: int, max_steps: int, *, dark: bool):
        assert 2 <= size <= 255, size
        self.size, self.max_steps = size, max_steps
        self._dark = dark
        cell = spaces.MultiDiscrete([size, size], np.uint8)
        seen = {} if dark else {"key": cell, "door": cell}
        self.observation_space = spaces.Dict(
            {
                "position": cell,
                "has_key": spaces.MultiDiscrete([2], np.uint8),
                "time": spaces.Box(0.0, 1.0, (1,), np.float32),
                **seen,
            }
        )
        self.action_space = spaces.Discrete(5)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        super().reset(seed=seed)
        cells = self.np_random.choice(self.size**2, 3, replace=False).tolist()
        self._position, self._key, self._door = ((cell % self.size, cell // self.size) for cell in cells)
        self._has_key, self._steps = False, 0
        return self._observation(), {"cause": ""}

    def step(self, action: int) -> tuple[dict[str, np.ndarray], float, bool, bool, dict[str, Any]]:
        (x, y), (dx, dy), last = self._position, _MOVES[action], self.size - 1
        self._position = min(max(x + dx, 0), last), min(max(y + dy, 0), last)
        self._steps += 1
        opened = self._has_key and self._position == self._door
        found = not self._has_key and self._position == self._key
        self._has_key |= found
        late = not opened and self._steps >= self.max_steps
        cause = "completed" if opened else "time limit" if late else ""
        return self._observation(), float(opened or found), opened, late, {"cause": cause}

    def _observation(self) -> dict[str, np.ndarray]:
        observation = {
            "position": np.array(self._position, np.uint8),
            "has_key": np.array([self._has_key], np.uint8),
            "time": np.array([self._steps / self.max_steps], np.float32),
        }
        if not self._dark:
            observation["key"] = np.array(self._key, np.uint8)
            observation["door"] = np.array(self._door, np.uint8)
        return observation
