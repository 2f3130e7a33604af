"""BabyAI (Chevalier-Boisvert et al. 2019): missions in words, carried out on grids of which a few cells are seen.

Games of Minigrid. Layout and mission belong to the world's seed, the same at each attempt; nothing else is random.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from agent.envs.babyai_levels import HELD_OUT, MAX_WORDS, TRAINING, WORDS
from agent.envs.base import MAX_SEED, Game
from agent.envs.games import chosen_games, played_game
from store.errors import AmagoError

_LEVELS = TRAINING | HELD_OUT
_VIEW = 7  # cells along a side of what is seen
_KINDS = {"objects": 11, "colours": 6, "states": 3}  # of a cell, each with the number of its values
_NUMBERS = {word: number for number, word in enumerate(WORDS, 1)}

Observation = dict[str, np.ndarray]


class BabyAIEnv(gymnasium.Env):
    """The levels of these names; without any all, of which some are held out.

    Actions: turn left, turn right, go forward, pick up, drop, toggle (open), done (does nothing). Observation: the
    cells in front of the agent, who looks up from the middle of the lowest row, as `objects`, `colours` and `states`
    (7, 7) of rows and columns; the `direction` it faces; the `mission` (10,) in numbers of `WORDS` from 1 on, 0 behind.
    Step t of at most T pays 1 - 0.9 t / T if it completes the mission. Causes: "completed", "failed" (terminated),
    "time limit" (truncated).
    """

    name = "babyai"
    max_instruction = 0
    vocabulary = ""
    success_return = 0.05  # the last step still pays 0.1

    def __init__(self, names: Sequence[str] = ()):
        chosen = chosen_games("babyai", names, _LEVELS)
        self.games = tuple(Game(name, held_out=not names and name in HELD_OUT, low=0.0, high=1.0) for name in chosen)
        self.max_steps = max(_LEVELS[name] for name in chosen)
        self._made: dict[str, Any] = {}
        _require_minigrid()
        grid = {kind: np.full((_VIEW, _VIEW), count) for kind, count in _KINDS.items()}
        counts = {**grid, "direction": [4], "mission": [len(WORDS) + 1] * MAX_WORDS}
        self.observation_space = spaces.Dict(
            {key: spaces.MultiDiscrete(count, np.uint8) for key, count in counts.items()}
        )
        self.action_space = spaces.Discrete(7)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        super().reset(seed=seed)
        world = int(self.np_random.integers(MAX_SEED)) if seed is None else seed
        name = played_game(options, self.games, np.random.default_rng(world))
        if name not in self._made:
            self._made[name] = _make_level(name)
        self._level = self._made[name]
        seen, _ = self._level.reset(seed=world)
        self._mission = mission_numbers(seen["mission"])
        return self._observe(seen), {"cause": ""}

    def step(self, action: int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        seen, reward, terminated, truncated, _ = self._level.step(int(action))
        truncated = bool(truncated and not terminated)
        cause = "time limit" if truncated else "" if not terminated else "completed" if reward > 0 else "failed"
        return self._observe(seen), float(reward), bool(terminated), truncated, {"cause": cause}

    def close(self) -> None:
        for level in self._made.values():
            level.close()

    def _observe(self, seen: dict[str, Any]) -> Observation:
        cells = seen["image"].transpose(2, 1, 0)  # Minigrid's come by column, row and kind
        return {
            **dict(zip(_KINDS, cells, strict=True)),
            "direction": np.array([seen["direction"]], np.uint8),
            "mission": self._mission,
        }


def mission_numbers(mission: str) -> np.ndarray:
    """(10,) uint8: the numbers of the words, 0 behind the last."""
    numbers = np.zeros(MAX_WORDS, np.uint8)
    words = mission.replace(",", " ,").split()
    numbers[: len(words)] = [_NUMBERS[word] for word in words]
    return numbers


def _make_level(name: str) -> Any:
    version = 1 if name == "GoToObjS6" else 0
    return gymnasium.make(f"BabyAI-{name}-v{version}", disable_env_checker=True).unwrapped


def _require_minigrid() -> None:
    """AmagoError without the package. It tells of every layout it draws anew on stdout: here it does not."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    try:
        from minigrid.envs.babyai.core import roomgrid_level
    except ImportError as error:
        raise AmagoError('babyai needs Minigrid: pip install "amago[babyai]"') from error
    roomgrid_level.print = lambda *said: None  # type: ignore[attr-defined]
