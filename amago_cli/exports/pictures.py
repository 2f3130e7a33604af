"""One trajectory as pictures: what the player saw, drawn from the stored observations.

A film has one frame per state: one more than the trajectory has steps.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING

from amago_cli.exports.request import ExportRequest

if TYPE_CHECKING:
    import numpy as np

    from store.trajectory import Trajectory

UNIT = 16  # pixels along the side of a cell, at scale 1


def to_png(request: ExportRequest) -> None:
    """The state `request.step`."""
    from PIL import Image

    from store.atomic import write_bytes
    from store.errors import AmagoError

    trajectory = _trajectory(request)
    if not 0 <= request.step <= trajectory.length:
        number = trajectory.info.number
        raise AmagoError(f"trajectory {number} has states 0 to {trajectory.length}, not {request.step}")
    buffer = io.BytesIO()
    Image.fromarray(_frame(trajectory, request.step, request.scale)).save(buffer, "PNG")
    write_bytes(request.output, buffer.getbuffer(), run="")


def to_gif(request: ExportRequest) -> None:
    """An endless film for any viewer; a state that looks like the one before lengthens its frame."""
    from agent.video import gif_bytes
    from store.atomic import write_bytes

    write_bytes(request.output, gif_bytes(_frames(request), request.fps), run="")


def to_mp4(request: ExportRequest) -> None:
    """H.264 that any browser plays."""
    from agent.video import mp4_bytes
    from store.atomic import write_bytes

    write_bytes(request.output, mp4_bytes(_frames(request), request.fps), run="")


def _frames(request: ExportRequest) -> Iterator[np.ndarray]:
    """(H, W, 3) uint8 for every state."""
    trajectory = _trajectory(request)
    for t in range(trajectory.length + 1):
        yield _frame(trajectory, t, request.scale)


def _frame(trajectory: Trajectory, t: int, scale: int) -> np.ndarray:
    from agent.envs.picture import picture
    from store.errors import AmagoError

    frame = picture(trajectory.info.environment, trajectory.observations, t, UNIT * scale)
    if frame is None:
        raise AmagoError(f"the observations of {trajectory.info.environment} cannot be drawn")
    return frame


def _trajectory(request: ExportRequest) -> Trajectory:
    import numpy as np

    from store.errors import AmagoError
    from store.rollouts import RolloutReader

    reader = RolloutReader(request.paths.rollouts(request.split))
    index = reader.index()
    if not len(index):
        raise AmagoError(f"run {request.paths.name} has no {request.split} trajectory")
    if request.number is None:
        return reader.load(len(index) - 1)
    found = np.flatnonzero(index.number == request.number)
    if not len(found):
        numbers = f"{index.number[0]} to {index.number[-1]}"
        raise AmagoError(f"there is no {request.split} trajectory {request.number}; there are {numbers}")
    return reader.load(int(found[-1]))
