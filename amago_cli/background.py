"""Trainers that outlive the command that starts them, and the log that holds what they say."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amago_cli.output import command_line
from store.errors import AmagoError, storage_guard

if TYPE_CHECKING:
    from store.layout import RunPaths

MAX_LOG_BYTES = 1_000_000

_PROGRAM = "from amago_cli.app import main; main()"
_ERROR = "amago: "  # begins the line in which a command says why it failed
_LOOK_EVERY = 0.1  # seconds
_TAIL_BYTES = 16_384


def spawn_trainer(paths: RunPaths, *, resume: bool, changes: Mapping[str, Any] | None = None) -> int:
    """Start a trainer of the run in a session of its own, and return its process id; it says all it says in its log.

    `changes` are those of `amago train --resume`. RunBusyError if the run is being trained, StorageError if its files
    cannot be written; whatever goes wrong later is told by status.json and `last_words`.
    """
    process = _start(paths, resume, changes or {})
    threading.Thread(target=process.wait, daemon=True).start()  # or it stays a zombie as long as we live
    return process.pid


def start_detached(paths: RunPaths, *, resume: bool, changes: Mapping[str, Any] | None = None) -> int:
    """As `spawn_trainer`, but returns only when the run is being trained; raises what kept it from that."""
    from store.status import read_status

    process = _start(paths, resume, changes or {})
    while process.poll() is None:
        status = read_status(paths)
        if status and status.pid == process.pid and status.phase != "starting":
            return process.pid
        time.sleep(_LOOK_EVERY)
    if process.returncode:
        raise _failure(paths, process.returncode)
    return process.pid


def last_words(paths: RunPaths, lines: int = 15) -> list[str]:
    """The last lines of the log of the run's trainer; empty without a log."""
    try:
        with paths.trainer_log.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - _TAIL_BYTES, 0))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return []
    return text.splitlines()[-lines:]


class CappedLog(io.TextIOWrapper):
    """Appends text to a file; of one that has grown beyond MAX_LOG_BYTES the newer half stays."""

    def __init__(self, path: Path) -> None:
        super().__init__(path.open("ab"), encoding="utf-8", errors="backslashreplace")
        self._path = path

    def flush(self) -> None:
        super().flush()
        if not self.closed and os.fstat(self.fileno()).st_size > MAX_LOG_BYTES:
            self._shorten()

    def _shorten(self) -> None:
        """In place: the file is also what the process, and its children, have as stderr."""
        newer = self._path.read_bytes()[-MAX_LOG_BYTES // 2 :]
        os.truncate(self._path, 0)
        self.buffer.write(newer.partition(b"\n")[2])
        self.buffer.flush()


def _start(paths: RunPaths, resume: bool, changes: Mapping[str, Any]) -> subprocess.Popen[bytes]:
    from amago_cli.toml_text import literal
    from store.lock import RunLock
    from store.status import announce

    options = [word for key, value in changes.items() for word in ("--set", f"{key}={literal(value)}")]
    command = [
        sys.executable,
        "-c",
        _PROGRAM,
        "background",
        str(paths.root),
        *(["--resume"] if resume else []),
        *options,
    ]
    with RunLock(paths), storage_guard(paths.trainer_log, paths.name):
        paths.trainer_log.write_bytes(b"")  # nobody else writes into it now
    with paths.trainer_log.open("ab") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )
    announce(paths, process.pid, command_line())
    return process


def _failure(paths: RunPaths, exit_code: int) -> AmagoError:
    """Why a trainer ended before it trained, with its exit code."""
    reasons = [line.removeprefix(_ERROR) for line in last_words(paths) if line.startswith(_ERROR)]
    error = AmagoError(reasons[-1] if reasons else f"the trainer ended with exit code {exit_code}: {paths.trainer_log}")
    error.exit_code = max(exit_code, 1)
    return error
