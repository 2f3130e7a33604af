"""Procgen (Cobbe et al. 2020): sixteen video games with levels made from numbers, many of them in one environment.

As AMAGO-2 plays them (arXiv 2411.11188, appendix B): a rollout draws a game and a level and plays it twice. A black
square in the upper left corner marks every attempt but the first, so that also an agent without memory knows.

The world's seed decides the level, and the game where nobody names one: even seeds give training levels, odd ones
others. Attempts at a level are all the same, they differ by what is done. A game never shows how an attempt ended: the
last picture is the one before.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from agent.envs import procgen_package
from agent.envs.base import MAX_SEED
from agent.envs.games import chosen_games, played_game
from agent.envs.procgen_games import NAMES, game_of, level_of, playable_mode, success_return, time_limit

_NUM_ACTIONS = 15
_SIDE = 64  # of a picture, in pixels
_MARK = 4  # side of the black square

Observation = dict[str, np.ndarray]


class ProcgenEnv(gymnasium.Env):
    """One attempt at a level of one of several games; its pictures are all that is seen."""

    name = "procgen"
    max_instruction = 0
    vocabulary = ""

    def __init__(
        self, names: Sequence[str], mode: str, levels: int, max_steps: int | None, scales: Mapping[str, float]
    ):
        """`names`: the games, none for all sixteen; `scales`: by what the rewards of some of them are multiplied.

        `levels`: how many to train on, 0 for no end. `max_steps`: of an attempt, None for the games' own limits.
        AmagoError for a game that Procgen does not have, or without the package. Nothing is loaded before a reset.
        """
        names = chosen_games("procgen", names, NAMES)
        chosen_games("env.reward_scales: the choice of games", tuple(scales), names)
        scales = {name.lower(): scale for name, scale in scales.items()}
        self.games = tuple(game_of(name, mode, scales.get(name, 1.0)) for name in names)
        self._modes = {name: playable_mode(name, mode) for name in names}
        own_limits = {name: time_limit(name, played) for name, played in self._modes.items()}
        self._limits = {name: min(limit, max_steps or limit) for name, limit in own_limits.items()}
        self.max_steps = max(self._limits.values())
        self.success_return = success_return({game.name: game.scale for game in self.games})
        self.observation_space = spaces.Dict({"rgb": spaces.Box(0, 255, (_SIDE, _SIDE, 3), np.uint8)})
        self.action_space = spaces.Discrete(_NUM_ACTIONS)
        self._scales, self._levels = scales, levels
        self._game: Any = None
        self._begun: tuple[str, int] | None = None  # game and level that were begun and not played yet
        procgen_package.load()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        super().reset(seed=seed)
        world = int(self.np_random.integers(MAX_SEED)) if seed is None else seed
        self._name = played_game(options, self.games, np.random.default_rng(world))
        self._marked = (options or {}).get("attempt", 0) > 0
        self._place = self._name, level_of(world, self._levels)
        self._steps = 0
        if self._begun != self._place:
            self.close()
            self._game = procgen_package.new_game(self._name, self._modes[self._name], self._place[1])
        self._begun = None
        _, seen, _ = self._game.observe()
        self._picture = self._as_shown(seen["rgb"][0])
        return {"rgb": self._picture}, {"cause": ""}

    def step(self, action: int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        self._game.act(np.array([action], np.int32))
        rewards, seen, firsts = self._game.observe()
        self._steps += 1
        over = bool(firsts[0])
        if over:  # the picture is already the first one of the level again
            self._begun = self._place
        else:
            self._picture = self._as_shown(seen["rgb"][0])
        reward = float(rewards[0]) * self._scales.get(self._name, 1.0)
        cause = self._cause(over)
        truncated = cause == "time limit"
        return {"rgb": self._picture}, reward, over and not truncated, truncated, {"cause": cause}

    def close(self) -> None:
        if self._game is not None:
            self._game.close()
            self._game = self._begun = None

    def _as_shown(self, picture: np.ndarray) -> np.ndarray:
        """`picture`, in later attempts with the square that tells so."""
        if self._marked:
            picture[:_MARK, :_MARK] = 0
        return picture

    def _cause(self, over: bool) -> str:
        """Why the attempt has ended, "" if it has not; `over`: the game has ended it, and begun the next."""
        if over and self._game.get_info()[0]["prev_level_complete"]:
            return "completed"
        if self._steps >= self._limits[self._name]:
            return "time limit"
        return "game over" if over else ""
