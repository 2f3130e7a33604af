"""An environment of three small games in different units, for tests: whose rewards are known by hand.

Every attempt takes `STEPS` steps; action 1 is paid, action 0 is not. The world's seed says how much in the game
"coins": 1 or 2 a step; in "gold" it is a hundred times as much, and "silver", which is kept for evaluations, pays ten
times as much.
"""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces

from agent.envs.base import Game

STEPS = 4
GAMES = (
    Game("coins", low=0.0, high=8.0),
    Game("gold", low=0.0, high=800.0, scale=0.01),
    Game("silver", held_out=True, low=0.0, high=80.0),
)
WORTH = {"coins": 1.0, "gold": 100.0, "silver": 10.0}


class GamesEnv(gymnasium.Env):
    """The observation tells the place in the attempt, and not which game it is."""

    name = "games"
    max_steps = STEPS
    max_instruction = 0
    vocabulary = ""
    success_return = None
    games: ClassVar[tuple[Game, ...]] = GAMES
    observation_space = spaces.Dict({"time": spaces.Box(0.0, 1.0, (1,), np.float32)})
    action_space = spaces.Discrete(2)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        super().reset(seed=seed)
        by_name = {game.name: game for game in self.games}
        trained = [game.name for game in self.games if not game.held_out]
        name = (options or {}).get("game") or trained[int(self.np_random.integers(len(trained)))]
        self._pay = WORTH[name] * by_name[name].scale * (1 + (seed or 0) // 2 % 2)
        self._time = 0
        return self._observe(), {"cause": ""}

    def step(self, action: Any) -> tuple[dict[str, np.ndarray], float, bool, bool, dict[str, Any]]:
        self._time += 1
        ended = self._time == STEPS
        return self._observe(), self._pay * int(action), ended, False, {"cause": "ended" if ended else ""}

    def _observe(self) -> dict[str, np.ndarray]:
        return {"time": np.array([self._time / STEPS], np.float32)}
