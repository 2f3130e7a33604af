"""Frames of an episode as sprite sheets: many frames in one PNG, from which the browser plays without asking again.

Pure functions of a trajectory's observations. Knows no Streamlit and keeps nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from math import ceil, isqrt

import numpy as np
from PIL import Image

from agent.envs.picture import picture
from store.trajectory import Trajectory

MAX_FRAMES = 500  # of a sheet
MAX_PIXELS = 2_100_000  # of a sheet: 500 frames of 64 x 64, 100 of 144 x 144
_SHARP = 16  # pixels along a cell of Crafter's textures
_NATIVE = 1  # the unit at which images come in their own size; the browser enlarges them


@dataclass(frozen=True)
class Sheet:
    """How the frames of an episode lie in its sheets: frame t is in sheet t // frames, in rows from left to right."""

    frames: int  # of a full sheet
    columns: int
    width: int  # pixels of a frame
    height: int
    unit: int  # for `agent.envs.picture`


def sheet_of(trajectory: Trajectory) -> Sheet | None:
    """The layout of the sheets of `trajectory`; None when its observations cannot be drawn."""
    unit = _NATIVE if _has_images(trajectory) else _SHARP
    first = _picture(trajectory, 0, unit)
    if first is None:
        return None
    height, width = first.shape[:2]
    frames = min(max(MAX_PIXELS // (height * width), 1), MAX_FRAMES)
    return Sheet(frames, isqrt(frames - 1) + 1, width, height, unit)


def sheet_png(trajectory: Trajectory, sheet: Sheet, number: int) -> bytes:
    """Sheet `number` as a PNG; the last one is only as high as it has to be."""
    start = number * sheet.frames
    stop = min(start + sheet.frames, trajectory.length + 1)
    rows = ceil((stop - start) / sheet.columns)
    canvas = np.zeros((rows, sheet.height, sheet.columns, sheet.width, 3), np.uint8)
    for i, frame in enumerate(frames_between(trajectory, start, stop, sheet.unit)):
        row, column = divmod(i, sheet.columns)
        canvas[row, :, column] = frame
    return png(canvas.reshape(rows * sheet.height, sheet.columns * sheet.width, 3))


def frame_png(trajectory: Trajectory, t: int, unit: int) -> bytes:
    """One frame as a PNG."""
    return png(next(frames_between(trajectory, t, t + 1, unit)))


def frames_between(trajectory: Trajectory, start: int, stop: int, unit: int) -> Iterator[np.ndarray]:
    """The frames [start, stop) of a trajectory that can be drawn, (H, W, 3) uint8 each."""
    for t in range(start, stop):
        frame = _picture(trajectory, t, unit)
        assert frame is not None, "a trajectory is drawn as a whole or not at all"
        yield frame


def png(image: np.ndarray) -> bytes:
    """(H, W, 3) uint8 as a PNG, packed quickly rather than tightly."""
    file = BytesIO()
    Image.fromarray(image).save(file, "PNG", compress_level=1)
    return file.getvalue()


def _picture(trajectory: Trajectory, t: int, unit: int) -> np.ndarray | None:
    return picture(trajectory.info.environment, trajectory.observations, t, unit)


def _has_images(trajectory: Trajectory) -> bool:
    arrays = trajectory.observations.values()
    return any(array.dtype == np.uint8 and array.ndim == 4 and array.shape[-1] == 3 for array in arrays)
