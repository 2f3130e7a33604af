"""What happened in a run, one line each: events.jsonl, which only grows.

It knows lines. Which events there are, the trainer decides.
"""

from __future__ import annotations

import json
import math
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO, Literal, get_args

from store.errors import storage_guard
from store.layout import RunPaths

EventKind = Literal[
    "start",
    "resume",
    "checkpoint",
    "evaluation",
    "achievement",  # a goal was reached for the first time in the run
    "warning",
    "paused",
    "resumed",
    "end",
]
KINDS: tuple[EventKind, ...] = get_args(EventKind)

_MAX_TEXT = 1000  # characters
_BYTES_PER_EVENT = 4096  # read from the end for each event asked for; no line is longer but by escapes


@dataclass(frozen=True)
class RunEvent:
    """One event, where the run stood when it happened."""

    time: float  # seconds since 1970
    step: int
    update: int
    kind: str  # one of KINDS, or what a later version adds
    text: str


class EventLog:
    """Appends events; the holder of the run's lock has one."""

    def __init__(self, paths: RunPaths) -> None:
        self._paths = paths

    def append(self, kind: EventKind, text: str, step: int, update: int) -> None:
        """Write one line, at once visible to readers. Raises StorageError."""
        event = RunEvent(time.time(), step, update, kind, text[:_MAX_TEXT])
        line = json.dumps(asdict(event), ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"
        with storage_guard(self._paths.events, self._paths.name), self._paths.events.open("ab+") as file:
            file.write(line if _ends_with_a_line(file) else b"\n" + line)


def read_events(paths: RunPaths, last: int = 200) -> list[RunEvent]:
    """The `last` events, oldest first. A torn or foreign line is passed over, a file that cannot be read is empty."""
    if last <= 0:
        return []
    events = [event for line in _tail(paths.events, last * _BYTES_PER_EVENT) if (event := parse_event(line))]
    return events[-last:]


def _ends_with_a_line(file: BinaryIO) -> bool:
    """False after a writer that was killed, or a disk that was full, in the middle of a line."""
    return _last_bytes(file, 1) in (b"", b"\n")


def _tail(path: Path, num_bytes: int) -> list[bytes]:
    """The lines in the last `num_bytes` of a file, the first of which may be torn."""
    try:
        if not path.is_file():  # a pipe would keep us waiting
            return []
        with path.open("rb") as file:
            return _last_bytes(file, num_bytes).split(b"\n")
    except OSError:
        return []


def _last_bytes(file: BinaryIO, count: int) -> bytes:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(size - count, 0))
    return file.read(count)


def parse_event(line: bytes) -> RunEvent | None:
    """The event in a line of the file; None for a torn or foreign line."""
    try:
        record = json.loads(line)
        moment = float(record["time"])
        if not math.isfinite(moment):
            return None
        return RunEvent(
            time=moment,
            step=int(record["step"]),
            update=int(record["update"]),
            kind=str(record["kind"]),
            text=str(record["text"]),
        )
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return None
