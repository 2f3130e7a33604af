"""Careful use of HDF5: how our files are written, and how files of unknown origin are read.

A file that somebody sent may be damaged or hostile. What is read here never leaves the file (no soft,
external or virtual data), never asks for absurd amounts of memory, and fails with a StorageError that names
the file. Text has a fixed length: damaged text of variable length makes HDF5 loop for ever. This module does
not know what the datasets mean.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from store.errors import StorageError
from store.trajectory import STORABLE_KINDS

_FILE_VERSIONS = ("v110", "v110")  # checksummed metadata, readable by every HDF5 since 1.10

_CHUNK_BYTES = 96 * 1024  # eight frames of 64x64x3: a random frame costs one small chunk
_MAX_CHUNK_ROWS = 16 * 1024
_MAX_DATASET_BYTES = 4 * 1024**3
_MAX_STORED_CHUNK_BYTES = 256 * 1024**2
_DAMAGE = (OSError, RuntimeError, KeyError, ValueError, TypeError, OverflowError, MemoryError)


def encode_file(attributes: Mapping[str, int | str], arrays: Mapping[str, np.ndarray]) -> bytes:
    """A file as bytes, made in memory: HDF5 does not recover from a full disk, so it never gets to see one."""
    with h5py.File("image", "w", driver="core", backing_store=False, libver=_FILE_VERSIONS) as file:
        for name, value in attributes.items():
            file.attrs[name] = np.bytes_(value.encode("ascii")) if isinstance(value, str) else value
        for name, array in arrays.items():
            _write_array(file, name, array)
        file.flush()
        return file.id.get_file_image()


@contextmanager
def reading(path: Path) -> Iterator[h5py.File]:
    """Open `path` without ever locking out its writer. Raises StorageError when it is damaged."""
    try:
        with h5py.File(path, "r", locking=False) as file:
            yield file
    except StorageError:
        raise
    except FileNotFoundError as error:
        raise StorageError(f"{path} does not exist any more") from error
    except _DAMAGE as error:
        raise StorageError(f"{path} is damaged: {_first_line(error)}") from error


def get_group(parent: h5py.Group, name: str) -> h5py.Group:
    """The group `name` inside the same file. Raises ValueError."""
    item = _get(parent, name)
    if not isinstance(item, h5py.Group):
        raise ValueError(f"{name} is not a group")
    return item


def get_dataset(parent: h5py.Group, name: str) -> h5py.Dataset:
    """The dataset `name`, stored inside the same file and of a credible size. Raises ValueError."""
    item = _get(parent, name)
    if not isinstance(item, h5py.Dataset) or item.shape is None:
        raise ValueError(f"{name} is not a dataset")
    if item.dtype.hasobject:
        raise ValueError(f"{name} has entries of variable length")
    if item.is_virtual or item.external:
        raise ValueError(f"{name} keeps its data in another file")
    chunk_bytes = math.prod(item.chunks or (0,)) * item.dtype.itemsize
    if item.nbytes > _MAX_DATASET_BYTES or chunk_bytes > _MAX_STORED_CHUNK_BYTES:
        raise ValueError(f"{name} claims {item.nbytes:,} bytes in chunks of {chunk_bytes:,}")
    return item


def get_table(parent: h5py.Group, name: str, dtype: np.dtype) -> np.ndarray:
    """The content of a one-dimensional dataset of exactly this type. Raises ValueError."""
    item = get_dataset(parent, name)
    if item.dtype != dtype or item.ndim != 1:
        raise ValueError(f"{name} has other columns than expected")
    return item[()]


def get_rows(parent: h5py.Group, name: str, rows: int) -> h5py.Dataset:
    """A dataset as get_dataset, of `rows` rows of plain numbers. Raises ValueError."""
    item = get_dataset(parent, name)
    if item.dtype.kind not in STORABLE_KINDS or item.ndim == 0 or len(item) != rows:
        found = f"type {item.dtype} and shape {item.shape}"
        raise ValueError(f"{name} has {found}, expected {rows} rows of numbers")
    return item


def get_attribute(file: h5py.File, name: str) -> int | str:
    """A number or short ASCII text. Raises ValueError, KeyError when it is missing."""
    attribute = file.attrs.get_id(name)
    if attribute.shape != () or attribute.dtype.kind not in "iS" or attribute.dtype.itemsize > 1024:
        raise ValueError(f"attribute {name} is neither a number nor short text")
    value: Any = file.attrs[name]
    return value.decode("ascii") if isinstance(value, bytes) else int(value)


def check_attribute(file: h5py.File, name: str, *allowed: int | str) -> None:
    """Raise ValueError unless the attribute `name` of the file is one of `allowed`."""
    found = get_attribute(file, name)
    if found not in allowed:
        raise ValueError(f"{name} is {found!r}, expected {' or '.join(map(repr, allowed))}")


def _write_array(file: h5py.File, name: str, array: np.ndarray) -> None:
    """Store `array` compressed, in chunks of whole rows: few frames, many scalars."""
    if array.size == 0:
        file.create_dataset(name, data=array)
        return
    row_bytes = array.nbytes // len(array)
    rows = min(max(_CHUNK_BYTES // row_bytes, 1), _MAX_CHUNK_ROWS, len(array))
    chunks = (rows, *array.shape[1:])
    file.create_dataset(name, data=array, chunks=chunks, compression="gzip", compression_opts=1)


def _get(parent: h5py.Group, name: str) -> h5py.Group | h5py.Dataset | h5py.Datatype:
    link = parent.get(name, getlink=True)
    if not isinstance(link, h5py.HardLink):
        raise ValueError(f"{name} is missing" if link is None else f"{name} leads out of its place")
    return parent[name]


def _first_line(error: BaseException) -> str:
    lines = str(error).strip("'\"").splitlines()
    return lines[0] if lines else type(error).__name__
