"""Write small files so that a reader sees the old content or the new content, never a mixture; read them with care.

A run may come from somebody else: what is opened here is a plain file, never a link that leads elsewhere nor a FIFO
that waits for ever. It knows about temporary names, fsync and strict JSON. It does not know what the files mean.
"""

from __future__ import annotations

import json
import math
import os
import stat
from pathlib import Path
from typing import Any

from store.errors import StorageError, storage_guard

TEMPORARY_SUFFIX = ".tmp"

_MAX_JSON_BYTES = 256 * 1024**2
_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
}


def write_bytes(path: Path, data: bytes | memoryview, *, durable: bool = True, run: str = "RUN") -> None:
    """Replace `path` by `data` in one step. On a full disk raises StorageError and leaves the old file.

    `durable` also survives a power failure, for the price of two fsyncs; without it a crash of the process is
    still harmless. `run` names the run in the error message.
    """
    temporary = path.with_name(path.name + TEMPORARY_SUFFIX)
    with storage_guard(path, run):
        try:
            temporary.unlink(missing_ok=True)
            with temporary.open("xb") as file:  # a new file: a link left in its place is not followed
                file.write(data)
                file.flush()
                if durable:
                    os.fsync(file.fileno())
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        if durable:
            sync_directory(path.parent)


def write_text(path: Path, text: str, *, durable: bool = True, run: str = "RUN") -> None:
    """Replace `path` by `text` in UTF-8; see write_bytes."""
    write_bytes(path, text.encode("utf-8"), durable=durable, run=run)


def write_json(path: Path, obj: Any, *, durable: bool = True, run: str = "RUN") -> None:
    """Replace `path` by `obj` as indented strict JSON: NaN and infinities become null; see write_bytes."""
    write_text(path, json.dumps(to_json(obj), indent=2, allow_nan=False) + "\n", durable=durable, run=run)


def read_json(path: Path) -> Any:
    """The content of a JSON file. Raises StorageError when it is missing, unreadable or not JSON."""
    try:
        return json.loads(read_plain(path, _MAX_JSON_BYTES))
    except (ValueError, RecursionError) as error:
        if isinstance(error, StorageError):
            raise
        raise StorageError(f"{path} is damaged, it is not valid JSON: {error}") from error


def read_plain(path: Path, max_bytes: int) -> bytes:
    """The content of a plain file of at most `max_bytes`. Raises StorageError for anything else."""
    try:
        require_plain(path)
        with path.open("rb") as file:
            data = file.read(max_bytes + 1)
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror or error}") from error
    if len(data) > max_bytes:
        raise StorageError(f"{path} is damaged: it has more than {max_bytes:,} bytes")
    return data


def require_plain(path: Path) -> None:
    """Raise StorageError unless `path` is a plain file, OSError when there is nothing to look at."""
    problem = strangeness(path.lstat().st_mode)
    if problem:
        raise StorageError(f"{path} is {problem} in place of a file; remove it if you do not know it")


def strangeness(mode: int) -> str:
    """What a file of this mode is if it is not a plain file, in words; otherwise nothing."""
    return "" if stat.S_ISREG(mode) else _KINDS.get(stat.S_IFMT(mode), "a device")


def to_json(obj: Any) -> Any:
    """`obj` in JSON types: numpy values as numbers and lists, paths as text, NaN and infinities as None."""
    if isinstance(obj, float):
        return float(obj) if math.isfinite(obj) else None
    if isinstance(obj, dict):
        return {str(key): to_json(value) for key, value in obj.items()}
    if isinstance(obj, list | tuple):
        return [to_json(value) for value in obj]
    if isinstance(obj, Path):
        return str(obj)
    if hasattr(obj, "tolist"):  # numpy scalars and arrays, without importing numpy
        return to_json(obj.tolist())
    return obj


def sync_directory(directory: Path) -> None:
    """Make a finished rename in `directory` survive a power failure."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
