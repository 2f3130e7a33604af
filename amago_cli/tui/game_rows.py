"""Return game by game over recent training rollouts, where the environment plays several. Pure: reads no file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from store.games import StoredGame
    from store.metrics import Series
    from store.rollout_index import Index

RECENT = 20  # values of a game's curve that count, each of a few rollouts; as many before them tell the trend


@dataclass(frozen=True)
class GameRow:
    """A game that is trained, and how its last attempts do."""

    name: str
    count: int  # rollouts stored
    mean_return: float | None  # in the game's own unit, None before the first
    share: float | None  # normalised return, else success, 0..1 or beyond; None where there is neither
    trend: int  # -1, 0 or 1 against the values before; 0 too where there is nothing to compare


def game_rows(games: Sequence[StoredGame], metrics: Mapping[str, Series], index: Index) -> tuple[GameRow, ...]:
    """A row per game that is trained, the best first; games without a value yet come last."""
    names, counts = np.unique(index.game, return_counts=True)
    played = dict(zip(names.tolist(), counts.tolist(), strict=True))
    rows = [_row(game, metrics, played.get(game.name, 0)) for game in games if not game.held_out]
    return tuple(sorted(rows, key=lambda row: (row.mean_return is None, -(row.share or 0.0), row.name)))


def _row(game: StoredGame, metrics: Mapping[str, Series], count: int) -> GameRow:
    returns = _finite(metrics.get(f"rollout/game/{game.name}/return"))
    successes = _finite(metrics.get(f"rollout/game/{game.name}/success"))
    now, then = returns[-RECENT:], returns[-2 * RECENT : -RECENT]
    mean = float(now.mean()) if len(now) else None
    share = None if mean is None else game.normalised(mean)
    if share is None and len(successes):
        share = float(successes[-RECENT:].mean())
    return GameRow(game.name, count, mean, share, _trend(now, then))


def _trend(now: np.ndarray, then: np.ndarray) -> int:
    """The sign of the change, where it is larger than its standard error."""
    if len(now) < 2 or len(then) < 2:
        return 0
    change = now.mean() - then.mean()
    error = np.sqrt(now.var(ddof=1) / len(now) + then.var(ddof=1) / len(then))
    return int(np.sign(change)) if abs(change) > error else 0


def _finite(series: Series | None) -> np.ndarray:
    values = np.empty(0) if series is None else series.value
    return values[np.isfinite(values)]
