"""Pictures as characters: two pixels, one above the other, in each cell. Knows no environment and no screen."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from rich.color import Color
from rich.segment import Segment
from rich.style import Style

_UPPER_HALF = "▀"
_COARSE = 0xF8  # colours differ in steps of eight, so that more neighbours are equal and fewer bytes are sent
_COLOUR_BITS = 24
_ONE_COLOUR = (1 << _COLOUR_BITS) - 1


def fitted(picture: np.ndarray, columns: int, rows: int) -> np.ndarray:
    """`picture` (H, W, 3) uint8 shrunk by averaging or enlarged by whole pixels to fit, with an even height.

    The result has at most `2 * rows` by `columns` pixels, at least 2 x 1.
    """
    height, width = picture.shape[:2]
    scale = min(columns / width, 2 * rows / height)
    if scale >= 1:
        picture = picture.repeat(int(scale), 0).repeat(int(scale), 1)
    else:
        picture = _averaged(picture, max(int(height * scale), 1), max(int(width * scale), 1))
    return np.concatenate([picture, picture[-1:]]) if len(picture) % 2 else picture


def block_cells(picture: np.ndarray) -> np.ndarray:
    """(H / 2, W) int64: one number for the two colours of each cell of `picture` (even H, W, 3)."""
    coarse = (picture & _COARSE).astype(np.int64)
    colours = coarse[..., 0] << 16 | coarse[..., 1] << 8 | coarse[..., 2]
    return colours[0::2] << _COLOUR_BITS | colours[1::2]


def block_segments(cells: np.ndarray) -> list[Segment]:
    """A row (W,) of `block_cells` as segments; equal neighbours share one."""
    starts = np.flatnonzero(np.diff(cells, prepend=-1))
    counts = np.diff(starts, append=len(cells))
    return [_segment(cell, count) for cell, count in zip(cells[starts].tolist(), counts.tolist(), strict=True)]


@lru_cache(maxsize=8192)
def _segment(cell: int, count: int) -> Segment:
    above, below = cell >> _COLOUR_BITS, cell & _ONE_COLOUR
    if above == below:  # a space: half the bytes
        return Segment(" " * count, Style(bgcolor=_colour(below)))
    return Segment(_UPPER_HALF * count, Style(color=_colour(above), bgcolor=_colour(below)))


def _colour(number: int) -> Color:
    return Color.from_rgb(number >> 16, number >> 8 & 0xFF, number & 0xFF)


def _averaged(picture: np.ndarray, height: int, width: int) -> np.ndarray:
    """`picture` in `height` x `width` pixels, each the mean of those it covers."""
    rows = np.arange(height) * len(picture) // height
    columns = np.arange(width) * picture.shape[1] // width
    sums = np.add.reduceat(np.add.reduceat(picture.astype(np.int64), rows, 0), columns, 1)
    counts = np.diff(rows, append=len(picture))[:, None] * np.diff(columns, append=picture.shape[1])
    return (sums // counts[..., None]).astype(np.uint8)
