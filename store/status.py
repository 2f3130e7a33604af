"""The heartbeat of a run: what its trainer is doing now, or how it ended.

The trainer replaces status.json every few seconds; viewers read it. What a phase is, the trainer decides.
"""

from __future__ import annotations

import socket
import time
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, get_args

import psutil

from store.atomic import read_json, write_json
from store.errors import StorageError
from store.layout import RunPaths

State = Literal["running", "stopped", "finished", "crashed", "diverged"]

STALE_AFTER = 120.0  # seconds without a heartbeat after which a trainer is taken for dead

_CONVERSIONS = {"int": int, "float": float}  # of what JSON holds, by annotation; anything else is text


@dataclass(frozen=True, kw_only=True)
class Status:
    """One heartbeat. Times are seconds since 1970, durations seconds."""

    state: State
    pid: int
    host: str
    started: float
    heartbeat: float
    step: int = 0
    update: int = 0
    phase: str = ""  # "starting", "warm-up", "learning", "paused" or "evaluating"
    command: str = ""
    message: str = ""  # how it ended
    elapsed: float = 0.0  # of training, all lifetimes together
    remaining: float = -1.0  # -1: unknown
    fraction: float = -1.0  # of the budget, -1 without one
    steps_per_second: float = 0.0
    updates_per_second: float = 0.0
    device: str = ""
    memory_bytes: int = 0  # of the trainer and its children
    gpu_bytes: int = 0  # of the trainer
    rollouts: int = 0  # finished so far


def announce(paths: RunPaths, pid: int, command: str) -> Status:
    """Write that the process `pid` of this host begins to train the run, by whatever command it was started.

    The run stands where its last trainer left it. Who starts the trainer may announce it first, and its command stays.
    """
    now = time.time()
    earlier = read_status(paths) or Status(state="running", pid=-1, host="", started=now, heartbeat=now)
    if earlier.pid == pid and earlier.state == "running":
        command = earlier.command
    status = replace(
        earlier,
        state="running",
        pid=pid,
        host=socket.gethostname(),
        started=now,
        heartbeat=now,
        phase="starting",
        message="",
        command=command,
    )
    write_status(paths, status)
    return status


def write_status(paths: RunPaths, status: Status) -> None:
    """Replace status.json. A final state survives a power failure, a heartbeat is not worth an fsync."""
    write_json(paths.status, asdict(status), durable=status.state != "running")


def read_status(paths: RunPaths) -> Status | None:
    """The last heartbeat, or None when there is none or it is damaged: a viewer must not fail on either."""
    try:
        return _status_from_json(read_json(paths.status))
    except (StorageError, TypeError, ValueError, OverflowError):
        return None


def describe_state(status: Status | None, now: float | None = None) -> State | Literal["unknown"]:
    """The state of a run as it is, not as its trainer last claimed: a dead "running" trainer has crashed.

    A trainer is dead when its process is gone from this host, or its heartbeat is older than STALE_AFTER.
    """
    if status is None:
        return "unknown"
    if status.state != "running":
        return status.state
    age = (time.time() if now is None else now) - status.heartbeat
    gone = status.host == socket.gethostname() and not _process_lives(status.pid)
    return "crashed" if gone or age > STALE_AFTER else "running"


def _status_from_json(record: Any) -> Status:
    if not isinstance(record, dict) or record.get("state") not in get_args(State):
        raise ValueError("not a status")
    values = {
        field.name: _CONVERSIONS.get(str(field.type), str)(record[field.name])
        for field in fields(Status)
        if field.name in record
    }
    return Status(**values)


def _process_lives(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except (psutil.NoSuchProcess, ValueError, OverflowError):
        return False
    except psutil.AccessDenied:  # it lives and belongs to somebody else
        return True
