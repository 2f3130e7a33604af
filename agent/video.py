"""Frames as a GIF or an MP4 that any browser plays. Knows pixels only: not what they show, and no torch.

Frames may be a generator: they are encoded as they come, so a long episode never lies in memory as a whole.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from io import BytesIO
from itertools import chain
from pathlib import Path

import numpy as np
from imageio_ffmpeg import write_frames
from PIL import Image

MAX_GIF_RATE = 50  # frames per second: browsers slow down GIFs that ask for less than 20 ms a frame


def gif_bytes(frames: Iterable[np.ndarray], fps: int) -> bytes:
    """An endless GIF of frames (H, W, 3) uint8, all of one size; a frame like the one before lengthens that one.

    ValueError without a frame, or if `fps` is not positive.
    """
    first, rest = _first_and_rest(frames, fps)
    duration = round(1000 / min(fps, MAX_GIF_RATE))
    file = BytesIO()
    Image.fromarray(first).save(
        file, "GIF", save_all=True, append_images=map(Image.fromarray, rest), duration=duration, loop=0
    )
    return file.getvalue()


def mp4_bytes(frames: Iterable[np.ndarray], fps: int) -> bytes:
    """An MP4 (H.264, yuv420p, playable while it loads) of frames (H, W, 3) uint8, all of one size.

    Sizes that are odd, which the format cannot hold, grow by one repeated row or column. ValueError without a frame, or
    if `fps` is not positive; OSError when the encoder fails.
    """
    first, rest = _first_and_rest(frames, fps)
    height, width = (side + side % 2 for side in first.shape[:2])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "episode.mp4")
        encoder = write_frames(
            path,
            (width, height),
            fps=fps,
            codec="libx264",
            pix_fmt_in="rgb24",
            pix_fmt_out="yuv420p",
            macro_block_size=1,  # sizes are even already; its own rounding would scale the picture
            quality=7,
            output_params=["-movflags", "+faststart"],
            ffmpeg_log_level="error",
        )
        encoder.send(None)
        for frame in chain([first], rest):
            encoder.send(_even(frame))
        encoder.close()
        return path.read_bytes()


def _first_and_rest(frames: Iterable[np.ndarray], fps: int) -> tuple[np.ndarray, Iterator[np.ndarray]]:
    if not fps > 0:
        raise ValueError(f"a video needs a positive number of frames per second, not {fps}")
    rest = iter(frames)
    first = next(rest, None)
    if first is None:
        raise ValueError("a video needs at least one frame")
    return first, rest


def _even(frame: np.ndarray) -> np.ndarray:
    """`frame` with its last row and column repeated where their number is odd, in one block of memory."""
    height, width = frame.shape[:2]
    return np.ascontiguousarray(np.pad(frame, ((0, height % 2), (0, width % 2), (0, 0)), "edge"))
