"""The figures of an environment of several games: game by game, and over all of those that are trained or held out.

First and last attempts are told apart: what lies between them is what the agent learned of a game's world while it
played. Returns are in each game's own unit, as they were before the environment scaled them; only normalised returns
and successes are put together over games. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from agent.envs.base import EnvSpec, Game
from agent.progress import Tally
from agent.reports.figures import (
    AttemptResult,
    Played,
    Returns,
    attempt_results,
    returns_of,
    tally_of,
    tally_to_json,
)
from agent.reports.statistics import Estimate, Statistic, estimate_of_groups, iqm, mean, paired_difference
from agent.tallies import has_success, succeeded
from store.trajectory import Attempt


@dataclass(frozen=True)
class GameAttempt:
    """The first or the last attempt of each episode of a game."""

    returns: Returns
    normalised: Estimate | None  # mean; None where the game has no scale
    success: Tally | None


@dataclass(frozen=True)
class GameResult:
    """All episodes of one game."""

    name: str
    held_out: bool
    first: GameAttempt
    last: GameAttempt
    difference: Estimate | None  # return of the last attempt minus that of the first, pairs of the same world
    attempts: tuple[AttemptResult, ...]


@dataclass(frozen=True)
class Aggregate:
    """The first or the last attempts over several games; intervals are over worlds, not over games or runs."""

    mean: Estimate | None  # of the games' normalised returns; None where one of them has no scale
    iqm: Estimate | None
    success: Tally | None


@dataclass(frozen=True)
class GameSet:
    """The games that are trained, or those that are held out."""

    held_out: bool
    count: int
    first: Aggregate
    last: Aggregate


def game_results(played: Sequence[Played], spec: EnvSpec) -> tuple[GameResult, ...]:
    """A result for each game that was played, the trained ones first."""
    games = sorted(spec.games, key=lambda game: game.held_out)
    groups = [(game, [each for each in played if each.game == game.name]) for game in games]
    return tuple(_game_result(game, group, spec) for game, group in groups if group)


def game_sets(played: Sequence[Played], spec: EnvSpec) -> tuple[GameSet, ...]:
    """The trained games together, and the held-out ones together, where any of them was played."""
    sets = (_game_set(held_out, played, spec) for held_out in (False, True))
    return tuple(found for found in sets if found.count)


def games_to_json(games: Sequence[GameResult], sets: Sequence[GameSet]) -> dict[str, Any]:
    """Both as plain data."""
    return {
        "games": [_game_to_json(game) for game in games],
        "game_sets": [
            asdict(each) | {"first": _success_to_json(each.first), "last": _success_to_json(each.last)} for each in sets
        ],
    }


def _game_result(game: Game, group: Sequence[Played], spec: EnvSpec) -> GameResult:
    several = [each for each in group if len(each.attempts) > 1]
    difference = None
    if several:
        first, last = ([_own(game, each.attempts[k]) for each in several] for k in (0, -1))
        difference = paired_difference(last, first)
    return GameResult(
        name=game.name,
        held_out=game.held_out,
        first=_game_attempt(game, [each.attempts[0] for each in group], spec),
        last=_game_attempt(game, [each.last for each in group], spec),
        difference=difference,
        attempts=attempt_results(group, spec, game.scale),
    )


def _game_attempt(game: Game, attempts: Sequence[Attempt], spec: EnvSpec) -> GameAttempt:
    values = _normalised(game, attempts)
    return GameAttempt(
        returns=returns_of([_own(game, attempt) for attempt in attempts]),
        normalised=None if values is None else estimate_of_groups(mean, [values]),
        success=_success(attempts, spec),
    )


def _game_set(held_out: bool, played: Sequence[Played], spec: EnvSpec) -> GameSet:
    groups = {game: [each for each in played if each.game == game.name] for game in spec.games}
    groups = {game: group for game, group in groups.items() if group and game.held_out is held_out}
    first, last = (
        _aggregate({game: [each.attempts[k] for each in group] for game, group in groups.items()}, spec)
        for k in (0, -1)
    )
    return GameSet(held_out, len(groups), first, last)


def _aggregate(attempts: dict[Game, list[Attempt]], spec: EnvSpec) -> Aggregate:
    found = [_normalised(game, group) for game, group in attempts.items()]
    known = [values for values in found if values is not None]

    def estimate(statistic: Statistic) -> Estimate | None:
        return estimate_of_groups(statistic, known) if known and len(known) == len(found) else None

    everything = [attempt for group in attempts.values() for attempt in group]
    return Aggregate(estimate(mean), estimate(iqm), _success(everything, spec))


def _own(game: Game, attempt: Attempt) -> float:
    return attempt.ret / game.scale


def _normalised(game: Game, attempts: Sequence[Attempt]) -> np.ndarray | None:
    values = [game.normalised(attempt.ret) for attempt in attempts]
    known = [value for value in values if value is not None]
    return np.array(known) if len(known) == len(values) else None


def _success(attempts: Sequence[Attempt], spec: EnvSpec) -> Tally | None:
    return tally_of(succeeded(spec, attempt, 0) for attempt in attempts) if has_success(spec) else None


def _game_to_json(game: GameResult) -> dict[str, Any]:
    return asdict(game) | {
        "first": _success_to_json(game.first),
        "last": _success_to_json(game.last),
        "attempts": [asdict(row) | {"success": tally_to_json(row.success)} for row in game.attempts],
    }


def _success_to_json(part: GameAttempt | Aggregate) -> dict[str, Any]:
    return asdict(part) | {"success": tally_to_json(part.success)}
