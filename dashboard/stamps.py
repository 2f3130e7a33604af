"""What files look like from outside: the key under which what was read from them is kept. Opens nothing."""

from __future__ import annotations

import os
from pathlib import Path

from store.errors import StorageError

Stamp = tuple[tuple[str, int, int], ...]
"""Name, time of change in nanoseconds and size of each file of a directory."""


def stamp(directory: Path, suffix: str = ".h5") -> Stamp:
    """What changes when a file in `directory` is added or replaced; () when there is no directory."""
    try:
        with os.scandir(directory) as entries:
            found = [(entry.name, entry.stat()) for entry in entries if entry.name.endswith(suffix)]
    except OSError:
        return ()
    return tuple(sorted((name, status.st_mtime_ns, status.st_size) for name, status in found))


def file_stamp(path: Path) -> tuple[int, int]:
    """Time of change in nanoseconds and size of a file. Raises StorageError."""
    try:
        status = path.stat()
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror or error}") from error
    return status.st_mtime_ns, status.st_size
