"""Line charts and sparklines made of characters. Pure arithmetic: knows no terminal, metric or run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_BRAILLE = 0x2800
_DOTS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])  # bit of each dot in its 4 x 2 cell
_SPARKS = "▁▂▃▄▅▆▇█"
_PLAIN_SPARKS = "_.-=+*%#"


@dataclass(frozen=True)
class Chart:
    """A drawn line, and the values at its edges."""

    rows: tuple[str, ...]
    low: float
    high: float
    left: float
    right: float


@dataclass(frozen=True, eq=False)
class Columns:
    """A line as columns of dots: only what the eye can tell apart, but every spike."""

    place: np.ndarray  # (C,) int: occupied columns, rising
    low: np.ndarray  # (C,) smallest value in each
    high: np.ndarray  # (C,) largest
    first: np.ndarray  # (C,)
    last: np.ndarray  # (C,)


def downsample(x: np.ndarray, y: np.ndarray, width: int) -> Columns:
    """Smallest, largest, first and last value of y (N,) per column; x (N,) must not fall, N >= 1."""
    span = x[-1] - x[0]
    column = np.zeros(len(x), np.int64) if span <= 0 else ((x - x[0]) / span * (width - 1)).round().astype(np.int64)
    place, start = np.unique(column, return_index=True)
    stop = np.append(start[1:], len(x))
    return Columns(place, np.minimum.reduceat(y, start), np.maximum.reduceat(y, start), y[start], y[stop - 1])


def line_chart(x: np.ndarray, y: np.ndarray, width: int, height: int, *, plain: bool = False) -> Chart | None:
    """y (N,) over x (N,) in `height` rows of `width` characters; None without a finite value or without room.

    Values that are not finite are left out. `plain` draws one asterisk per cell instead of 2 x 4 Braille dots.
    """
    finite = np.isfinite(x) & np.isfinite(y)
    if width < 1 or height < 1 or not finite.any():
        return None
    order = np.argsort(x[finite], kind="stable")
    x, y = x[finite][order].astype(np.float64), y[finite][order].astype(np.float64)
    across, down = (1, 1) if plain else (2, 4)
    low, high = float(y.min()), float(y.max())
    grid = _dots(downsample(x, y, across * width), low, high, across * width, down * height)
    rows = _plain_rows(grid) if plain else _braille_rows(grid)
    return Chart(rows, low, high, float(x[0]), float(x[-1]))


def sparkline(values: np.ndarray, width: int, *, plain: bool = False) -> str:
    """The finite of `values` (N,) as at most `width` characters, each a mean of its share of them."""
    finite = values[np.isfinite(values)].astype(np.float64)
    if not len(finite) or width < 1:
        return ""
    parts = np.array_split(finite, min(width, len(finite)))
    means = np.array([part.mean() for part in parts])
    span = means.max() - means.min()
    levels = np.zeros(len(means)) if span <= 0 or not np.isfinite(span) else (means - means.min()) / span
    marks = _PLAIN_SPARKS if plain else _SPARKS
    return "".join(marks[round(level * (len(marks) - 1))] for level in levels)


def _dots(columns: Columns, low: float, high: float, width: int, height: int) -> np.ndarray:
    """(height, width) bool: the spread of each column, and lines between neighbours; a flat line in the middle."""

    def row(value: np.ndarray) -> np.ndarray:
        share = (value / 2 - low / 2) / (high / 2 - low / 2) if high > low else np.full(value.shape, 0.5)  # no overflow
        return ((1 - share) * (height - 1)).round().astype(np.int64)

    grid = np.zeros((height, width), bool)
    for place, top, bottom in zip(columns.place, row(columns.high), row(columns.low), strict=True):
        grid[top : bottom + 1, place] = True
    begins, ends = row(columns.first), row(columns.last)
    for i in range(len(columns.place) - 1):
        start, stop = columns.place[i], columns.place[i + 1]
        count = max(stop - start, abs(begins[i + 1] - ends[i])) + 1
        along = np.linspace(start, stop, count).round().astype(np.int64)
        grid[np.linspace(ends[i], begins[i + 1], count).round().astype(np.int64), along] = True
    return grid


def _braille_rows(grid: np.ndarray) -> tuple[str, ...]:
    height, width = grid.shape
    cells = grid.reshape(height // 4, 4, width // 2, 2)
    codes = _BRAILLE + (cells * _DOTS[None, :, None, :]).sum((1, 3))
    return tuple("".join(map(chr, row)) for row in codes.tolist())


def _plain_rows(grid: np.ndarray) -> tuple[str, ...]:
    return tuple("".join("*" if dot else " " for dot in row) for row in grid.tolist())
