"""Curves as numbers: smoothing, thinning that keeps spikes, bands over seeds. Pure; values may be NaN or infinite."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from store.metrics import Series

MAX_POINTS = 2000  # of a series on a chart
GRID_POINTS = 300  # of a band

AXES = {"environment steps": "step", "updates": "update", "hours": "time"}
"""What curves can be drawn over: the title of the axis, and the column of a Series behind it."""


@dataclass(frozen=True, eq=False)
class Curve:
    """Finite values over a rising axis."""

    x: np.ndarray  # (N,) float64
    y: np.ndarray  # (N,) float64


@dataclass(frozen=True, eq=False)
class Band:
    """Several curves as one: their mean, lowest and highest value where all of them have one."""

    x: np.ndarray  # (N,) float64
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray


def curve(series: Series, axis: str, smoothing: float = 0.0, *, positive: bool = False) -> Curve:
    """The finite (`positive`: and positive) values of a metric over the axis of that title, smoothed."""
    x = getattr(series, AXES[axis]).astype(np.float64)
    if axis == "hours":
        x = (x - x[:1]) / 3600
    y = smooth(series.value, smoothing)
    shown = np.isfinite(series.value) & np.isfinite(y) & np.isfinite(x)
    if positive:  # all that a logarithmic axis can show
        shown &= y > 0
    return Curve(x[shown], y[shown])


def smooth(values: np.ndarray, weight: float) -> np.ndarray:
    """Exponential moving average, corrected for its start at nothing; a value that is not finite changes nothing.

    `weight` in [0, 1) is the share of the past: 0 returns the values.
    """
    if weight == 0.0:
        return values
    averages = np.full(len(values), np.nan)
    average, total = 0.0, 0.0  # `total` is the weight of all values so far, which approaches 1
    for i, value in enumerate(values.tolist()):
        if value - value == 0.0:  # finite, said without a call
            average = weight * average + (1 - weight) * value
            total = weight * total + (1 - weight)
        if total:
            averages[i] = average / total
    return averages


def thin(whole: Curve, points: int = MAX_POINTS) -> Curve:
    """At most `points` of a curve: its first and last, and the lowest and the highest of every stretch."""
    count = len(whole.x)
    if count <= points:
        return whole
    edges = np.linspace(0, count, (points - 2) // 2 + 1).astype(int)
    kept = [0, count - 1]
    for start, stop in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        stretch = whole.y[start:stop]
        kept += [start + int(stretch.argmin()), start + int(stretch.argmax())]
    order = np.unique(kept)
    return Curve(whole.x[order], whole.y[order])


def band(curves: Sequence[Curve]) -> Band | None:
    """The mean and the range of several curves over the stretch that all of them cover; None where there is none."""
    curves = [each for each in curves if len(each.x)]
    if not curves:
        return None
    begin, end = max(each.x[0] for each in curves), min(each.x[-1] for each in curves)
    if begin > end:
        return None
    grid = np.linspace(begin, end, GRID_POINTS if end > begin else 1)
    values = np.stack([np.interp(grid, each.x, each.y) for each in curves])
    return Band(grid, values.mean(0), values.min(0), values.max(0))
