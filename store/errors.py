"""Errors a user can act on, each with the exit code that the command line returns for it.

A message is one clear line: what is wrong and what to do next. Broken invariants of our own are assertions.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_FULL_ERRNOS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_DENIED_ERRNOS = (errno.EACCES, errno.EPERM, errno.EROFS)


class AmagoError(ValueError):
    """Something the user asked for cannot be done; the message says why and what to do."""

    exit_code = 2


class RunBusyError(AmagoError):
    """Another process is training this run."""

    exit_code = 3


class CheckpointError(AmagoError):
    """A checkpoint is missing, damaged or made for something else."""

    exit_code = 4


class StorageError(AmagoError):
    """A file cannot be written or read: disk full, no permission, damaged content."""

    exit_code = 5


class DivergedError(AmagoError):
    """Training produced a value that is not finite."""

    exit_code = 6


@contextmanager
def storage_guard(path: Path, run: str = "RUN") -> Iterator[None]:
    """Turn failures of writing `path` into a StorageError; `run` completes the command it proposes, if it names one.

    HDF5 reports a full disk as an OSError without errno or, while flushing and closing, as a RuntimeError:
    both are recognised by their text. A RuntimeError that is not about the disk passes unchanged.
    """
    try:
        yield
    except (OSError, RuntimeError) as error:
        if _has_errno(error, _FULL_ERRNOS):
            advice = f"free space, then `amago train --resume {run}`" if run else "free space and try again"
            raise StorageError(f"disk full while writing {path}; {advice}") from error
        if _has_errno(error, _DENIED_ERRNOS):
            raise StorageError(f"no permission to write {path}; check its owner and mode") from error
        if isinstance(error, OSError):
            raise StorageError(f"cannot write {path}: {error.strerror or error}") from error
        raise


def _has_errno(error: BaseException, numbers: tuple[int, ...]) -> bool:
    if isinstance(error, OSError) and error.errno in numbers:
        return True
    text = str(error)
    return any(f"errno = {number}," in text for number in numbers)
