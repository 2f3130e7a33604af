"""POPGym: one of its games of memory, or many at once as in AMAGO-2 (Grigsby et al. 2024)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from agent.envs.adapted import Observation
from agent.envs.base import MAX_SEED, Game
from agent.envs.games import chosen_games, played_game
from agent.envs.popgym_games import MULTI_TASK, PopGymEnv, game_classes
from store.errors import AmagoError


def make_popgym(names: Sequence[str], *, explore: bool) -> gymnasium.Env:
    """The games of these names, without any the 27 of AMAGO-2; AmagoError for a name that is none.

    With `explore` the first attempt at one of several games is not paid.
    """
    classes = game_classes()
    chosen = chosen_games("popgym", names or tuple(MULTI_TASK), classes)
    made = {name: PopGymEnv(name, classes[name]()) for name in chosen}
    return made[chosen[0]] if len(made) == 1 else PopGymGamesEnv(made, explore=explore)


class PopGymGamesEnv(gymnasium.Env):
    """Several games; the agent is not told which one it plays.

    All share the spaces of the largest. Observation: `categories` one-hot and `reals` as they are, zeros behind either;
    `reward`, what the last action earned, paid or not; `invalid`, whether the game lacks that action: then it played
    one of its own, drawn uniformly; `paid`, whether the rewards of this attempt are.
    """

    name = "popgym"
    max_instruction = 0
    vocabulary = ""
    success_return = None

    def __init__(self, made: dict[str, PopGymEnv], *, explore: bool):
        self._made = made
        self.free_attempts = int(explore)
        self.games = tuple(MULTI_TASK.get(name, Game(name)) for name in made)
        self.max_steps = max(game.max_steps for game in made.values())
        self.action_space = spaces.Discrete(max(_num_actions(name, game) for name, game in made.items()))
        widths = np.array([_widths(game) for game in made.values()])
        self._num_categories, self._num_reals = widths.max(0).tolist()
        flags = {key: spaces.MultiBinary(1) for key in ("invalid", "paid")}
        self.observation_space = spaces.Dict({"reward": spaces.Box(-1.0, 1.0, (1,), np.float32), **flags})
        if self._num_categories:
            self.observation_space["categories"] = spaces.MultiBinary(self._num_categories)
        if self._num_reals:
            self.observation_space["reals"] = spaces.Box(-np.inf, np.inf, (self._num_reals,), np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        super().reset(seed=seed)
        world = int(self.np_random.integers(MAX_SEED)) if seed is None else seed
        attempt = (options or {}).get("attempt", 0)
        self._replacements = np.random.default_rng((world, attempt))
        self._paid = attempt >= self.free_attempts
        name = played_game(options, self.games, np.random.default_rng(world))
        self._playing = self._made[name]
        observation, info = self._playing.reset(seed=world, options={"attempt": attempt})
        return self._observe(observation, 0.0, invalid=False), info

    def step(self, action: int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        num_actions = self._playing.action_space.n  # type: ignore[attr-defined]
        invalid = bool(action >= num_actions)
        if invalid:
            action = int(self._replacements.integers(num_actions))
        observation, reward, terminated, truncated, info = self._playing.step(action)
        return (
            self._observe(observation, reward, invalid=invalid),
            reward if self._paid else 0.0,
            terminated,
            truncated,
            info,
        )

    def close(self) -> None:
        for game in self._made.values():
            game.close()

    def _observe(self, observation: Observation, reward: float, *, invalid: bool) -> Observation:
        categories, reals = np.zeros(self._num_categories, np.int8), np.zeros(self._num_reals, np.float32)
        category = real = 0  # where the next ones go
        for key, space in _spaces(self._playing):
            value, width = observation[key], _width(space)
            if isinstance(space, spaces.MultiDiscrete):
                categories[category + np.cumsum(space.nvec) - space.nvec + value] = 1
                category += width
            else:
                reals[real : real + width] = value
                real += width
        seen = {
            "reward": np.array([reward], np.float32),
            "invalid": np.array([invalid], np.int8),
            "paid": np.array([self._paid], np.int8),
            "categories": categories,
            "reals": reals,
        }
        return {key: array for key, array in seen.items() if array.size}


def _spaces(game: PopGymEnv) -> list[tuple[str, gymnasium.Space]]:
    """What is seen of a game, in order: categories, or reals."""
    assert isinstance(game.observation_space, spaces.Dict)
    return list(game.observation_space.items())


def _width(space: gymnasium.Space) -> int:
    """Numbers that an observation takes, categories one-hot."""
    return int(space.nvec.sum()) if isinstance(space, spaces.MultiDiscrete) else math.prod(space.shape or ())


def _widths(game: PopGymEnv) -> tuple[int, int]:
    """Numbers of all categories of a game, and of all its reals."""
    each = [(isinstance(space, spaces.MultiDiscrete), _width(space)) for _, space in _spaces(game)]
    return sum(width for discrete, width in each if discrete), sum(width for discrete, width in each if not discrete)


def _num_actions(name: str, game: PopGymEnv) -> int:
    if not isinstance(game.action_space, spaces.Discrete):
        raise AmagoError(f"{name} has continuous actions: it can be played alone, not with other games")
    return int(game.action_space.n)
