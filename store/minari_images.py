"""Images that Minari stored as JPEG, decoded with Pillow.

Their bytes are of variable length in the file, the one case in which we read such data: HDF5 may hang on damaged ones,
so that happens in a process that is ended when it does not answer.
"""

from __future__ import annotations

import io
import signal
from collections.abc import Callable, Iterator
from math import prod
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

import h5py
import numpy as np

from store.errors import StorageError
from store.hdf5 import get_ragged_bytes, get_rows

_MIN_SIDE = 32  # Minari takes smaller arrays for grids, not for images
_MAX_BYTES = 4 * 1024**3  # of the decoded images of one episode
_PATIENCE = 60.0  # seconds for one episode


def is_image(space: dict[str, Any]) -> bool:
    """Whether Minari stores elements of this space, in its JSON, as JPEG."""
    shape = space.get("shape") or ()
    if space.get("type") != "Box" or space.get("dtype") != "uint8" or len(shape) not in (2, 3):
        return False
    bounds = [np.asarray(space[key]) for key in ("low", "high")]
    return min(shape[:2]) >= _MIN_SIDE and bool((bounds[0] == 0).all() and (bounds[1] == 255).all())


def has_images(space: dict[str, Any]) -> bool:
    """Whether there are images in a space, however nested."""
    parts = space.get("subspaces", ())
    parts = parts.values() if isinstance(parts, dict) else parts
    return is_image(space) or any(has_images(part) for part in parts)


def read_images(parent: h5py.Group, name: str, space: dict[str, Any], rows: int) -> np.ndarray:
    """The images (rows, *shape) uint8 of a dataset of JPEG files. Raises ValueError."""
    shape = tuple(space["shape"])
    if rows * prod(shape) > _MAX_BYTES:
        raise ValueError(f"{name} claims {rows:,} images of shape {shape}")
    stored = parent.get(name)
    ragged = isinstance(stored, h5py.Dataset) and stored.dtype.hasobject
    files = (get_ragged_bytes if ragged else get_rows)(parent, name, rows)
    images = np.empty((rows, *shape), np.uint8)
    for row in range(rows):
        images[row] = _decode(np.asarray(files[row], np.uint8).tobytes(), name, shape)
    return images


def _decode(data: bytes, name: str, shape: tuple[int, ...]) -> np.ndarray:
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(data), formats=["JPEG"]) as image:
            size = (image.height, image.width)
            if size != shape[:2]:  # known before a pixel is decoded, however large it claims to be
                raise ValueError(
                    f"{name} has an image of {size[0]} x {size[1]} pixels, expected {shape[0]} x {shape[1]}"
                )
            pixels = np.asarray(image)
    except (UnidentifiedImageError, OSError, SyntaxError, Image.DecompressionBombError) as error:
        raise ValueError(f"{name} has an image that is no JPEG: {type(error).__name__}") from None
    if pixels.shape != shape:
        raise ValueError(f"{name} has an image of shape {pixels.shape}, expected {shape}")
    return pixels


def read_elsewhere(read: Callable[[Any], Iterator[Any]], dataset: Any) -> Iterator[Any]:
    """What `read(dataset)` yields, made in another process. StorageError when that hangs or dies."""
    context = get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(read, dataset, theirs), daemon=True)
    process.start()
    theirs.close()
    try:
        while True:
            if not ours.poll(_PATIENCE):
                raise StorageError(f"{dataset.folder} is damaged: reading an episode takes over {_PATIENCE:g} s")
            kind, content = ours.recv()
            if kind == "error":
                raise StorageError(content)
            if kind == "end":
                return
            yield content
    except EOFError:
        raise StorageError(f"{dataset.folder} is damaged: reading it killed the reader") from None
    finally:
        process.kill()
        process.join()
        ours.close()


def _send(read: Callable[[Any], Iterator[Any]], dataset: Any, connection: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends with its parent
    try:
        for item in read(dataset):
            connection.send(("item", item))
        connection.send(("end", None))
    except StorageError as error:
        connection.send(("error", str(error)))
    except BrokenPipeError:
        pass  # nobody listens any more
