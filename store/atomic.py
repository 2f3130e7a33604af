"""Write small files so that a reader sees the old content or the new content, never a mixture.

It knows about temporary names, fsync and strict JSON. It does not know what the files mean.
"""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

from store.errors import StorageError, storage_guard

TEMPORARY_SUFFIX = ".tmp"


def write_bytes(path: Path, data: bytes | memoryview, *, durable: bool = True, run: str = "RUN") -> None:
    """Replace `path` by `data` in one step. On a full disk raises StorageError and leaves the old file.

    `durable` also survives a power failure, for the price of two fsyncs; without it a crash of the process is
    still harmless. `run` names the run in the error message.
    """
    temporary = path.with_name(path.name + TEMPORARY_SUFFIX)
    with storage_guard(path, run):
        try:
            with temporary.open("wb") as file:
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
        return json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise StorageError(f"{path} is damaged, it is not valid JSON: {error}") from error


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
