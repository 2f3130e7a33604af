"""Return and success game by game, where an environment plays several.

The returns of games may differ by orders of magnitude: what is said of all games together is the mean of figures that
do not. Returns are those of last attempts, in the game's own unit: as they were before the environment scaled them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from agent.envs.base import Game

WINDOW = 200  # rollouts, shared among the games
LEAST = 10  # of each game, however many there are


class Outcome(NamedTuple):
    """What became of a rollout."""

    game: str
    last_return: float  # of its last attempt, as paid
    success: bool | None  # of the same; None where nothing tells


class RecentGames:
    """The last rollouts of each of the games that are trained; rollouts of other games are left out."""

    def __init__(self, games: Sequence[Game]) -> None:
        self._games = {game.name: game for game in games if not game.held_out}
        self._window = max(WINDOW // max(len(self._games), 1), LEAST)
        self._returns: dict[str, deque[float]] = {name: deque(maxlen=self._window) for name in self._games}
        self._successes: dict[str, deque[bool]] = {name: deque(maxlen=self._window) for name in self._games}

    def add(self, outcome: Outcome) -> None:
        """Take in a finished rollout."""
        if outcome.game in self._games:
            self._returns[outcome.game].append(outcome.last_return)
            if outcome.success is not None:
                self._successes[outcome.game].append(outcome.success)

    @property
    def score(self) -> float | None:
        """Mean over games of the normalised return; where a game has no scale, of the success; where nothing tells that
        either, of the symlog of the mean return: a game that doubles its return counts the same whatever its unit.

        None until every game's window is full.
        """
        if any(len(returns) < self._window for returns in self._returns.values()):
            return None
        if (normalised := self.normalised) is not None:
            return normalised
        if all(self._successes.values()):
            return float(np.mean([np.mean(successes) for successes in self._successes.values()]))
        means = np.array([np.mean(returns) / self._games[name].scale for name, returns in self._returns.items()])
        return float(np.mean(np.sign(means) * np.log1p(np.abs(means))))

    @property
    def normalised(self) -> float | None:
        """Mean over the games played so far of their normalised return; None where a game has no scale."""
        played = {name: returns for name, returns in self._returns.items() if returns}
        means = [self._games[name].normalised(float(np.mean(returns))) for name, returns in played.items()]
        known = [mean for mean in means if mean is not None]
        return float(np.mean(known)) if known and len(known) == len(means) else None

    def snapshot(self) -> dict[str, Any]:
        """Everything, as JSON's own types."""
        return {
            "returns": {name: list(returns) for name, returns in self._returns.items()},
            "successes": {name: list(successes) for name, successes in self._successes.items()},
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over what `snapshot` returned, as far as it is about the same games."""
        for name in self._games:
            self._returns[name].extend(state["returns"].get(name, ()))
            self._successes[name].extend(state["successes"].get(name, ()))


def game_values(outcomes: Sequence[Outcome], games: Sequence[Game]) -> dict[str, list[Any]]:
    """By metric key, the values whose mean is the metric: "game/<name>/return" and "game/<name>/success" of each game
    that was played, and "normalised", which has a value for each of those with a scale.
    """
    values: dict[str, list[Any]] = {}
    normalised = []
    for game in games:
        played = [outcome for outcome in outcomes if outcome.game == game.name]
        if not played:
            continue
        returns = [outcome.last_return for outcome in played]
        values[f"game/{game.name}/return"] = [paid / game.scale for paid in returns]
        values[f"game/{game.name}/success"] = [each.success for each in played if each.success is not None]
        normalised.append(game.normalised(float(np.mean(returns))))
    return values | {"normalised": [value for value in normalised if value is not None]}
