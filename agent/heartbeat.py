"""Keeps a run's status.json up to date while it trains."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from store.errors import StorageError
from store.layout import RunPaths
from store.status import State, announce, write_status


class Heartbeat:
    """Says that the run is alive, where it is, and how it ended."""

    def __init__(self, paths: RunPaths) -> None:
        program, *arguments = sys.argv
        self._paths = paths
        self.status = announce(paths, os.getpid(), " ".join([Path(program).name, *arguments]))

    def beat(self, **changes: Any) -> None:
        """The run is alive; `changes` are fields of its status that have other values now."""
        self.status = replace(self.status, heartbeat=time.time(), **changes)
        write_status(self._paths, self.status)

    def end(self, state: State, message: str) -> None:
        """The run has ended; nothing is said if the disk does not let us."""
        with suppress(StorageError):
            write_status(self._paths, replace(self.status, heartbeat=time.time(), state=state, message=message))
