"""Careful use of HDF5: how our files are written, and how files of unknown origin are read.

A file that somebody sent may be damaged or hostile. What is read here never leaves the file (no soft,
external or virtual data, no plug-in filters), never asks for absurd amounts of memory, and fails with a
StorageError that names the file. Text has a fixed length: damaged text of variable length makes HDF5 loop for
ever. This module does not know what the datasets mean.

Every chunk carries HDF5's own checksum beside that of deflate, which is weak where a chunk is short: of 658,000 bits
that were flipped in streams of up to 400 bytes, 4 gave other data without an error. It costs a thousandth in size
(benchmarks/store_speed.py).
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from h5py import h5s

from store.atomic import require_plain
from store.errors import StorageError
from store.trajectory import STORABLE_KINDS

FILE_VERSIONS = ("v110", "v110")  # checksummed metadata, readable by every HDF5 since 1.10

_FRAME_BYTES = 1024  # rows from this size on are frames: a higher level saves a sixth and costs half again the time
_FRAME_CHUNK_BYTES = 96 * 1024  # eight frames of 64x64x3: a random frame costs one small chunk
# Smaller rows: a window of a hundred takes less than half the time of that with chunks of 96 kB and 16,384 rows, and
# files grow by a tenth.
_CHUNK_BYTES = 32 * 1024
_MAX_CHUNK_ROWS = 4096
_FILTERS = {1, 2, 3, 32000}  # deflate, shuffle, fletcher32, lzf

_MAX_DATASET_BYTES = 4 * 1024**3
_MAX_TABLE_BYTES = 64 * 1024**2  # what is read whole, without a look at a single trajectory
_MAX_TEXT_BYTES = 16 * 1024**2
_MAX_STORED_CHUNK_BYTES = 64 * 1024**2
_HARMLESS_BYTES = 16 * 1024**2  # whatever the file's own size
_MAX_EXPANSION = 1100  # of deflate, which reaches 1032
_MAX_MEMBERS = 1000  # of a group

_LOCK_ERRNOS = (11, 37, 524)  # the lock is held, no locks there, no locks on this network file system
_DAMAGE = (OSError, RuntimeError, KeyError, IndexError, ValueError, TypeError, OverflowError, MemoryError)


def encode_file(attributes: Mapping[str, int | str], arrays: Mapping[str, np.ndarray]) -> bytes:
    """A file as bytes, made in memory: HDF5 does not recover from a full disk, so it never gets to see one."""
    with h5py.File("image", "w", driver="core", backing_store=False, libver=FILE_VERSIONS) as file:
        for name, value in attributes.items():
            file.attrs[name] = np.bytes_(value.encode("ascii")) if isinstance(value, str) else value
        for name, array in arrays.items():
            write_array(file, name, array)
        file.flush()
        return file.id.get_file_image()


@contextmanager
def reading(path: Path) -> Iterator[h5py.File]:
    """Open `path` without ever locking out its writer. Raises StorageError when it is damaged."""
    with damage_guard(path), opened(path) as file:
        yield file


@contextmanager
def damage_guard(path: Path) -> Iterator[None]:
    """Turn failures of reading `path` into a StorageError that names it."""
    try:
        yield
    except StorageError:
        raise
    except FileNotFoundError as error:
        raise StorageError(f"{path} does not exist any more") from error
    except PermissionError as error:
        raise StorageError(f"no permission to read {path}; check its owner and mode") from error
    except _DAMAGE as error:
        raise StorageError(f"{path} is damaged: {_first_line(error)}") from error


def get_group(parent: h5py.Group, name: str) -> h5py.Group:
    """The group `name` inside the same file. Raises ValueError."""
    item = _get(parent, name)
    if not isinstance(item, h5py.Group):
        raise ValueError(f"{name} is not a group")
    if len(item) > _MAX_MEMBERS:
        raise ValueError(f"{name} has {len(item):,} members")
    return item


def get_dataset(parent: h5py.Group, name: str) -> h5py.Dataset:
    """The dataset `name`, stored inside the same file and of a credible size. Raises ValueError."""
    item = _get_stored(parent, name)
    if item.dtype.hasobject:
        raise ValueError(f"{name} has entries of variable length")
    return item


def get_ragged_bytes(parent: h5py.Group, name: str, rows: int) -> h5py.Dataset:
    """A dataset of `rows` byte strings, each of its own length. Raises ValueError.

    Reading a damaged one may never end: only in a process that can be killed.
    """
    item = _get_stored(parent, name)
    if h5py.check_vlen_dtype(item.dtype) != np.uint8 or item.shape != (rows,):
        raise ValueError(f"{name} has type {item.dtype} and shape {item.shape}, expected {rows} byte strings")
    return item


def _get_stored(parent: h5py.Group, name: str) -> h5py.Dataset:
    """The dataset `name`, whatever its type, if its data lie in the same file."""
    item = _get(parent, name)
    if not isinstance(item, h5py.Dataset) or item.shape is None:
        raise ValueError(f"{name} is not a dataset")
    if item.is_virtual or item.external:
        raise ValueError(f"{name} keeps its data in another file")
    _check_size(item, name)
    _check_filters(item, name)
    return item


def get_table(parent: h5py.Group, name: str, dtype: np.dtype, last: int | None = None) -> np.ndarray:
    """The content, or the `last` rows, of a one-dimensional dataset of exactly this type. Raises ValueError."""
    item = get_dataset(parent, name)
    if item.dtype != dtype or item.ndim != 1:
        raise ValueError(f"{name} has other columns than expected")
    if item.nbytes > _MAX_TABLE_BYTES:
        raise ValueError(f"{name} claims {item.nbytes:,} bytes")
    return item[()] if last is None else item[max(len(item) - last, 0) :]


def get_text(parent: h5py.Group, name: str) -> bytes:
    """The one text of fixed length that a dataset holds. Raises ValueError."""
    item = get_dataset(parent, name)
    if item.dtype.kind != "S" or item.shape != (1,) or item.dtype.itemsize > _MAX_TEXT_BYTES:
        raise ValueError(f"{name} is not one text of credible length")
    return item[()][0]


def get_rows(parent: h5py.Group, name: str, rows: int) -> h5py.Dataset:
    """A dataset as get_dataset, of `rows` rows of plain numbers. Raises ValueError."""
    item = get_dataset(parent, name)
    if item.dtype.kind not in STORABLE_KINDS or item.ndim == 0 or len(item) != rows:
        found = f"type {item.dtype} and shape {item.shape}"
        raise ValueError(f"{name} has {found}, expected {rows} rows of numbers")
    return item


def read_rows(data: h5py.Dataset, start: int, stop: int) -> np.ndarray:
    """Rows [start, stop) of a dataset. Raises what HDF5 raises, ValueError for truth values that are none.

    Those lie in files as bytes with names, which HDF5 translates one by one: reading the bytes takes half the time.
    """
    if data.dtype != np.bool_ or data.ndim != 1:
        return data[start:stop]
    stored = data.id.get_type()
    if stored.get_size() != 1:
        raise ValueError(f"{data.name} has truth values of {stored.get_size()} bytes")
    found = np.empty(stop - start, np.uint8)
    rows = data.id.get_space()
    rows.select_hyperslab((start,), found.shape)
    data.id.read(h5s.create_simple(found.shape), rows, found, stored)
    if found.max(initial=0) > 1:
        raise ValueError(f"{data.name} holds bytes that are neither true nor false")
    return found.view(np.bool_)


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


def write_array(file: h5py.Group, name: str, array: np.ndarray) -> None:
    """Store `array` compressed and with checksums, in chunks of whole rows: few frames, many scalars."""
    if array.size == 0:
        file.create_dataset(name, data=array)
        return
    row_bytes = array.nbytes // len(array)
    is_frame = row_bytes >= _FRAME_BYTES
    chunk_bytes = _FRAME_CHUNK_BYTES if is_frame else _CHUNK_BYTES
    rows = min(max(chunk_bytes // row_bytes, 1), _MAX_CHUNK_ROWS, len(array))
    file.create_dataset(
        name,
        data=array,
        chunks=(rows, *array.shape[1:]),
        shuffle=array.dtype.itemsize > 1,
        compression="gzip",
        compression_opts=1 if is_frame else 4,
        fletcher32=True,
    )


@contextmanager
def opened(path: Path, chunk_cache: int | None = None) -> Iterator[h5py.File]:
    """As `reading`, but errors come as they are. `chunk_cache`: bytes that each dataset may keep unpacked."""
    require_plain(path)
    try:
        file = h5py.File(path, "r", locking=False, rdcc_nbytes=chunk_cache)
    except OSError as error:
        if error.errno not in _LOCK_ERRNOS:  # the environment variable HDF5_USE_FILE_LOCKING can insist on locks
            raise
        _remark_on_locks(path.parent, str(error.strerror or error))
        with path.open("rb") as plain, h5py.File(plain, "r", rdcc_nbytes=chunk_cache) as file:
            yield file
    else:
        with file:
            yield file


@cache
def _remark_on_locks(directory: Path, why: str) -> None:
    logging.getLogger(__name__).warning(
        "files in %s cannot be locked (%s): they are read without locks", directory, why
    )


def _check_size(item: h5py.Dataset, name: str) -> None:
    """No large dataset is larger than what deflate can make of the whole file."""
    chunk_bytes = math.prod(item.chunks or (0,)) * item.dtype.itemsize
    if max(item.nbytes, chunk_bytes) <= _HARMLESS_BYTES:
        return
    credible = min(_MAX_DATASET_BYTES, _MAX_EXPANSION * item.file.id.get_filesize())
    if item.nbytes > credible or chunk_bytes > min(credible, _MAX_STORED_CHUNK_BYTES):
        raise ValueError(f"{name} claims {item.nbytes:,} bytes in chunks of {chunk_bytes:,}")


def _check_filters(item: h5py.Dataset, name: str) -> None:
    """Only what comes with HDF5 and h5py, and each once: deflate over deflate would multiply what comes out."""
    properties = item.id.get_create_plist()
    filters = [properties.get_filter(i)[0] for i in range(properties.get_nfilters())]
    if not _FILTERS.issuperset(filters) or len(set(filters)) < len(filters):
        raise ValueError(f"{name} is packed with filters that amago does not know")


def _get(parent: h5py.Group, name: str) -> h5py.Group | h5py.Dataset | h5py.Datatype:
    link = parent.get(name, getlink=True)
    if not isinstance(link, h5py.HardLink):
        raise ValueError(f"{name} is missing" if link is None else f"{name} leads out of its place")
    return parent[name]


def _first_line(error: BaseException) -> str:
    lines = str(error).strip("'\"").splitlines()
    return lines[0] if lines else type(error).__name__
