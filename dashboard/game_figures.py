"""How games do in training, from the curves of a run: now, and stretch by stretch. Pure: series in, tables out.

A level is what can be compared across games: the normalised return, else the success. NaN where there is neither.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from store.games import StoredGame
from store.metrics import Series

BINS = 16  # of training, in heat maps and learning curves
RECENT = 20  # values of a curve that tell how a game does now, each of a few rollouts

_NOW = ("game", "return", "normalised", "success", "level")
_STRETCHES = ("game", "begin", "end", "step", "return", "level", "values")


def trained(games: Sequence[StoredGame]) -> list[StoredGame]:
    """Those that are not kept for evaluations."""
    return [game for game in games if not game.held_out]


def now(metrics: Mapping[str, Series], games: Sequence[StoredGame]) -> pd.DataFrame:
    """A row per trained game with a value: the mean of its newest values, returns in the game's own unit."""
    rows = []
    for game in trained(games):
        _, returns = _curve(metrics, game, "return")
        _, successes = _curve(metrics, game, "success")
        if len(returns):
            value, success = _mean(returns[-RECENT:]), _mean(successes[-RECENT:])
            normalised = game.normalised(value)
            rows.append((game.name, value, normalised, success, success if normalised is None else normalised))
    return pd.DataFrame(rows, columns=_NOW).astype(dict.fromkeys(_NOW[1:], float))


def over_training(metrics: Mapping[str, Series], games: Sequence[StoredGame], bins: int = BINS) -> pd.DataFrame:
    """A row per trained game and equal stretch of training in which it has a value; `begin`, `end` and `step` (the
    middle) in environment steps."""
    curves = {game: (_curve(metrics, game, "return"), _curve(metrics, game, "success")) for game in trained(games)}
    last = max((int(steps[-1]) for (steps, _), _ in curves.values() if len(steps)), default=1)
    edges = np.linspace(0, max(last, 1), bins + 1)
    rows = []
    for game, ((steps, returns), (success_steps, successes)) in curves.items():
        place, success_place = _places(steps, edges), _places(success_steps, edges)
        for bin in np.unique(place).tolist():
            begin, end = float(edges[bin]), float(edges[bin + 1])
            values = returns[place == bin]
            level = game.normalised(_mean(values))
            level = _mean(successes[success_place == bin]) if level is None else level
            rows.append((game.name, begin, end, (begin + end) / 2, _mean(values), level, len(values)))
    return pd.DataFrame(rows, columns=_STRETCHES)


def within_own_range(stretches: pd.DataFrame) -> pd.DataFrame:
    """The table with levels from 0, the lowest return of a game in training, to 1, its highest: for games that can be
    compared in no other way."""
    parts = []
    for _, mine in stretches.groupby("game", sort=False):
        values = mine["return"].to_numpy(np.float64)
        span = values.max() - values.min()
        parts.append(mine.assign(level=(values - values.min()) / span if span > 0 else 0.5))
    return pd.concat(parts)


def _curve(metrics: Mapping[str, Series], game: StoredGame, figure: str) -> tuple[np.ndarray, np.ndarray]:
    """The steps and the finite values of a game's metric."""
    series = metrics.get(f"rollout/game/{game.name}/{figure}")
    if series is None:
        return np.empty(0, np.int64), np.empty(0)
    finite = np.isfinite(series.value)
    return series.step[finite], series.value[finite]


def _places(steps: np.ndarray, edges: np.ndarray) -> np.ndarray:
    return np.clip(np.searchsorted(edges, steps, side="left") - 1, 0, len(edges) - 2)


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if len(values) else float("nan")
