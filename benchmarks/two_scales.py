"""Two tasks whose rewards differ a thousandfold, as a Gymnasium environment: `--id benchmarks.two_scales:TwoScales-v0`.

Each of 20 steps shows one of four signs; one action of four fits it, another one in each task. The first observation
tells which task it is, nothing later does. A fitting action pays 100 in one task and 0.1 in the other.
"""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

NUM_STEPS, NUM_SIGNS = 20, 4
SCALES = (100.0, 0.1)


class TwoScales(gymnasium.Env):
    """Observation: `task` (1 or 2 at the first step, then 0) and `sign`."""

    def __init__(self) -> None:
        self.observation_space = spaces.Dict({"task": spaces.Discrete(3), "sign": spaces.Discrete(NUM_SIGNS)})
        self.action_space = spaces.Discrete(NUM_SIGNS)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None):
        super().reset(seed=seed)
        self._task = int(self.np_random.integers(2))
        self._signs = self.np_random.integers(NUM_SIGNS, size=NUM_STEPS + 1)
        self._steps = 0
        return self._observation(), {}

    def step(self, action: int):
        fits = int(action) == (self._signs[self._steps] + 1 + 2 * self._task) % NUM_SIGNS
        self._steps += 1
        return self._observation(), SCALES[self._task] * fits, self._steps == NUM_STEPS, False, {}

    def _observation(self) -> dict[str, Any]:
        return {"task": np.int64(0 if self._steps else 1 + self._task), "sign": self._signs[self._steps]}


gymnasium.register("TwoScales-v0", entry_point=TwoScales, max_episode_steps=NUM_STEPS)
