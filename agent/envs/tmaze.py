"""T-Maze of Ni et al. 2023 (When Do Transformers Shine in RL?): a sign, a corridor, and a turn where the sign said.

           +               places x = 0 .. J, the junction J with an arm above and one below;
    s......J    passive    the sign hangs at s (x = 0) and is seen the first time the agent is there.
           +               Passive: the agent begins at s, so it sees the sign in its first observation.
           +               Active: it begins at b (x = 1) and sees the sign only if it first steps back.
    sb.....J    active
           +

An attempt takes exactly T = `max_steps` steps, and there is just time for the way: J = T - 1 in the passive maze, whose
T-th decision is the turn; J = T - 2 in the active one: one step back, T - 2 forward, one turn. With x_t the place after
t steps and o the length of the detour, 1 in the active maze and 0 in the passive one, the agent is
b_t = max(0, t - o - x_t) steps behind, and is paid

    r_t = -(b_t - b_{t-1}) / (T - 1)                     for t < T: every step lost is paid for, once
    r_T = 1             if in the arm of the sign, else 0

So the best return is 1, and 1/2 on average for who does not remember the sign. A step lost is never won back. (The
paper charges being behind again at every step; like AMAGO's variant of the maze this one leaves the exploration out of
the test of memory: after a slip the next step is still worth taking well.) Who leaves out the detour of the active one
is early at the junction and may step into an arm and back; only where the agent is at the end counts. That end belongs
to the task, so it is always a termination. Positions are ambiguous, as in the paper's experiments: all of the corridor
looks alike.
"""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

_MOVES = ((1, 0), (0, 1), (-1, 0), (0, -1))  # right, up, left, down
_SIGN, _CORRIDOR, _JUNCTION, _UP, _DOWN = range(5)


class TMazeEnv(gymnasium.Env):
    """Actions: right, up, left, down; into a wall they do nothing.

    Observation: `place` (0 where the sign hangs, 1 corridor, 2 junction, 3 upper arm, 4 lower arm) and `sign` (0 not
    seen, 1 up, 2 down). The active maze of 3 steps has no corridor: it begins at the junction. Causes: "completed",
    "wrong turn", and "time limit" for an agent that is in no arm at the end.
    """

    name = "tmaze"
    max_instruction = 0
    vocabulary = ""
    success_return = 0.95

    def __init__(self, max_steps: int, *, active: bool):
        assert max_steps >= 3, max_steps
        self.max_steps = max_steps
        self.observation_space = spaces.Dict(
            {"place": spaces.MultiDiscrete([5], np.uint8), "sign": spaces.MultiDiscrete([3], np.uint8)}
        )
        self.action_space = spaces.Discrete(4)
        self._start = int(active)
        self._junction = max_steps - 1 - self._start
        self._penalty = -1.0 / (max_steps - 1)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        super().reset(seed=seed)
        self._sign = 1 if self.np_random.integers(2) else -1
        self._seen = False
        self._x, self._y, self._steps, self._behind = self._start, 0, 0, 0
        return self._observation(), {"cause": ""}

    def step(self, action: int) -> tuple[dict[str, np.ndarray], float, bool, bool, dict[str, Any]]:
        dx, dy = _MOVES[action]
        if dx and not self._y:
            self._x = min(max(self._x + dx, 0), self._junction)
        elif self._x == self._junction:
            self._y = min(max(self._y + dy, -1), 1)
        self._steps += 1
        observation = self._observation()
        if self._steps < self.max_steps:
            before, self._behind = self._behind, max(0, self._steps - self._start - self._x)
            return observation, self._penalty * (self._behind - before), False, False, {"cause": ""}
        cause = "completed" if self._y == self._sign else "wrong turn" if self._y else "time limit"
        return observation, float(cause == "completed"), True, False, {"cause": cause}

    def _observation(self) -> dict[str, np.ndarray]:
        sign = 0
        if self._x == 0 and not self._seen:
            self._seen = True
            sign = 1 if self._sign > 0 else 2
        return {"place": np.array([self._kind()], np.uint8), "sign": np.array([sign], np.uint8)}

    def _kind(self) -> int:
        if self._y:
            return _UP if self._y > 0 else _DOWN
        if self._x == self._junction:
            return _JUNCTION
        return _CORRIDOR if self._x else _SIGN
