"""Keeps a run's status.json up to date while it trains."""

from __future__ import annotations

import os
import platform
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from store.errors import StorageError
from store.layout import RunPaths
from store.status import State, Status, write_status


class Heartbeat:
    """Says that the run is alive, where it is, and how it ended."""

    def __init__(self, paths: RunPaths) -> None:
        now = time.time()
        program, *arguments = sys.argv
        self._paths = paths
        self._status = Status(
            state="running",
            pid=os.getpid(),
            host=platform.node(),
            started=now,
            heartbeat=now,
            command=" ".join([Path(program).name, *arguments]),
        )
        write_status(paths, self._status)

    def beat(self, step: int, update: int, phase: str) -> None:
        """The run is alive."""
        self._status = replace(self._status, heartbeat=time.time(), step=step, update=update, phase=phase)
        write_status(self._paths, self._status)

    def end(self, state: State, message: str) -> None:
        """The run has ended; nothing is said if the disk does not let us."""
        with suppress(StorageError):
            write_status(self._paths, replace(self._status, heartbeat=time.time(), state=state, message=message))
