"""A run watched without a screen: one line, or one JSON object, now and then until the run ends."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict
from typing import Any, TextIO

from amago_cli.exit_codes import ExitCode
from amago_cli.output import duration
from amago_cli.tui.orders import ACTIVE
from amago_cli.tui.text import clean
from store.atomic import to_json
from store.layout import RunPaths
from store.status import STALE_AFTER, Status, describe_state, read_status

EVERY = 10.0  # seconds between lines while nothing but the numbers change
_LOOK_EVERY = 0.5

_CODES = {"diverged": ExitCode.DIVERGED, "crashed": ExitCode.PROCESS_LOST, "unknown": ExitCode.PROCESS_LOST}


def follow(paths: RunPaths, *, as_json: bool, stream: TextIO | None = None, every: float = EVERY) -> int:
    """Write to `stream` (stdout) until the run has ended; the exit code says how: 0, 6 diverged, 8 its trainer is gone.

    A run without any status is waited for as long as a heartbeat may take.
    """
    out = stream or sys.stdout
    begun = time.monotonic()
    told, told_at = "", -every
    while True:
        status = read_status(paths)
        state = describe_state(status)
        ended = state not in (*ACTIVE, "unknown") or (state == "unknown" and time.monotonic() - begun > STALE_AFTER)
        phase = f"{state} {status.phase if status else ''}"
        if phase != told or time.monotonic() - told_at >= every:
            text = json.dumps(record(paths, state, status), allow_nan=False) if as_json else line(paths, state, status)
            out.write(text + "\n")
            out.flush()
            told, told_at = phase, time.monotonic()
        if ended:
            return _CODES.get(state, ExitCode.OK)
        time.sleep(_LOOK_EVERY)


def record(paths: RunPaths, state: str, status: Status | None) -> dict[str, Any]:
    """The line for programs: the run's name, its state as it is, and what its trainer wrote last."""
    return to_json({"type": "status", "run": paths.name, **(asdict(status) if status else {}), "state": state})


def line(paths: RunPaths, state: str, status: Status | None) -> str:
    """The line for people."""
    if status is None:
        return f"{paths.name} | no status yet"
    parts = [paths.name, state, *([status.phase] if state == "running" and status.phase else [])]
    if status.fraction >= 0:
        parts.append(f"{status.fraction:.0%}")
    parts.append(f"{status.step:,} steps")
    if state in ACTIVE:
        parts += [f"{status.steps_per_second:,.0f} steps/s", f"{status.updates_per_second:.1f} updates/s"]
        parts += [f"{duration(status.remaining)} left"] if status.remaining >= 0 else []
    return clean(" | ".join([*parts, *([status.message] if status.message else [])]))
