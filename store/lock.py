"""Only one process trains a run: an exclusive lock that the kernel releases when its holder dies.

The lock is a POSIX flock on `run.lock`, so a killed trainer leaves none behind. The content of the file only
serves the message to the one who comes second. It does not know what training is.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from types import TracebackType

from store.errors import RunBusyError, storage_guard
from store.layout import RunPaths


class RunLock:
    """Holds the run of `paths` from construction until release(); a context manager.

    Raises RunBusyError naming the holder when the run is held already, also by this very process. Child
    processes started by exec do not inherit it; a bare os.fork would.
    """

    def __init__(self, paths: RunPaths) -> None:
        with storage_guard(paths.lock, paths.name):
            self._descriptor = os.open(paths.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _write_holder(self._descriptor, paths)
        except BlockingIOError as error:
            holder = _describe_holder(self._descriptor)
            os.close(self._descriptor)
            advice = "stop it first, or choose another run"
            raise RunBusyError(f"run {paths.name} is being trained by {holder}; {advice}") from error
        except BaseException:
            os.close(self._descriptor)
            raise

    def release(self) -> None:
        """Give the run free; the file stays, unlocked."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> RunLock:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def _write_holder(descriptor: int, paths: RunPaths) -> None:
    """Write into the locked file itself: replacing it would lock a file that is no longer there."""
    holder = {"pid": os.getpid(), "host": socket.gethostname(), "started": time.time()}
    with storage_guard(paths.lock, paths.name):
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps(holder).encode(), 0)


def _describe_holder(descriptor: int) -> str:
    try:
        holder = json.loads(os.pread(descriptor, 4096, 0))
        return f"process {holder['pid']} on {holder['host']}"
    except (ValueError, KeyError, TypeError):  # the holder is between locking and writing
        return "another process"
