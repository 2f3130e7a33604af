"""One file or folder of a run that is read again when it changed, and not more often than is cheap."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

Value = TypeVar("Value")
Stamp = tuple[int, int] | None

_REST = 100.0  # times as long as a read took, nothing is read: at most a hundredth of a core per source


class Source(Generic[Value]):
    """The newest content behind `path`, as `read` makes it. The same object as long as nothing changed."""

    def __init__(self, path: Path, read: Callable[[], Value], initial: Value, *, pause: float = 0.0) -> None:
        """`pause`: at least so many seconds from one read to the next."""
        self._path, self._read, self._pause = path, read, pause
        self._value = initial
        self._stamp: Stamp = None
        self._not_before = 0.0  # monotonic seconds

    def get(self) -> Value:
        """Read if it is time to. Passes on what reading raises, and then tries again at the next call."""
        begun = time.monotonic()
        stamp = stamp_of(self._path)
        if stamp != self._stamp and begun >= self._not_before:
            self._value = self._read()
            self._stamp = stamp
            now = time.monotonic()
            self._not_before = now + max(_REST * (now - begun), self._pause)
        return self._value


def stamp_of(path: Path) -> Stamp:
    """What changes when a file is written, or a file of a folder is added or replaced; None if there is nothing."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
