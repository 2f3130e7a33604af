"""Pictures as characters: two pixels, one above the other, in each cell. Knows no environment and no screen."""

from __future__ import annotations

from functools import lru_cache
from itertools import groupby

import numpy as np
from rich.color import Color
from rich.segment import Segment
from rich.style import Style

Colour = tuple[int, int, int]

_UPPER_HALF = "▀"
_COARSE = 0xF8  # colours differ in steps of eight, so that more neighbours are equal and fewer bytes are sent


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


def block_rows(picture: np.ndarray) -> list[list[Segment]]:
    """A row of segments for every two rows of `picture` (even H, W, 3); equal neighbours share a segment."""
    coarse = (picture & _COARSE).tolist()
    return [_row(coarse[top], coarse[top + 1]) for top in range(0, len(coarse), 2)]


def _row(upper: list[list[int]], lower: list[list[int]]) -> list[Segment]:
    cells = [(_colour(above), _colour(below)) for above, below in zip(upper, lower, strict=True)]
    return [_segment(above, below, len(list(run))) for (above, below), run in groupby(cells)]


def _colour(pixel: list[int]) -> Colour:
    red, green, blue = pixel
    return red, green, blue


def _segment(above: Colour, below: Colour, count: int) -> Segment:
    return Segment(_UPPER_HALF * count, _style(above, below))


@lru_cache(maxsize=4096)
def _style(above: Colour, below: Colour) -> Style:
    return Style(color=Color.from_rgb(*above), bgcolor=Color.from_rgb(*below))


def _averaged(picture: np.ndarray, height: int, width: int) -> np.ndarray:
    """`picture` in `height` x `width` pixels, each the mean of those it covers."""
    rows = np.arange(height) * len(picture) // height
    columns = np.arange(width) * picture.shape[1] // width
    sums = np.add.reduceat(np.add.reduceat(picture.astype(np.int64), rows, 0), columns, 1)
    counts = np.diff(rows, append=len(picture))[:, None] * np.diff(columns, append=picture.shape[1])
    return (sums // counts[..., None]).astype(np.uint8)
