"""Orders on the command line: given where they make sense, refused in one line where they do not."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from store.control import take_orders
from store.layout import RunPaths
from store.runs import create_run
from store.status import State, Status, write_status

Amago = Callable[..., Any]


@pytest.fixture
def paths(tmp_path: Path) -> RunPaths:
    return create_run(tmp_path / "runs", "a", {})


def report(paths: RunPaths, state: State, phase: str) -> None:
    """A status as a living process writes it."""
    now = time.time()
    write_status(
        paths,
        Status(state=state, pid=os.getpid(), host=socket.gethostname(), started=now, heartbeat=now, phase=phase),
    )


@pytest.mark.parametrize(
    ("verb", "phase", "order", "said"),
    [
        ("stop", "learning", "stop", "amago train --resume a"),
        ("stop", "paused", "stop", "amago train --resume a"),
        ("stop", "starting", "stop", "amago train --resume a"),
        ("pause", "warm-up", "pause", "amago continue a"),
        ("continue", "paused", "resume", "run a goes on"),
    ],
)
@pytest.mark.parametrize("name", ["a", "latest"])
def test_an_order_is_given(
    amago: Amago, paths: RunPaths, verb: str, phase: str, order: str, said: str, name: str
) -> None:
    report(paths, "running", phase)
    result = amago(verb, name)
    assert (result.code, result.err) == (0, "")
    assert said in result.out
    assert take_orders(paths) == [order]


@pytest.mark.parametrize(
    ("verb", "state", "phase", "message"),
    [
        ("stop", "stopped", "learning", "is not running: it is stopped; `amago train --resume a` trains it"),
        ("pause", "finished", "learning", "is not running: it is finished"),
        ("continue", "diverged", "paused", "is not running: it is diverged"),
        ("pause", "running", "paused", "is paused already; `amago continue a`"),
        ("continue", "running", "evaluating", "is not paused: it is evaluating"),
    ],
)
def test_an_order_without_sense_is_refused(
    amago: Amago, paths: RunPaths, verb: str, state: State, phase: str, message: str
) -> None:
    report(paths, state, phase)
    result = amago(verb, "a")
    assert (result.code, result.out) == (2, "")
    (line,) = result.err.splitlines()
    assert line.startswith("amago: run a ") and message in line
    assert take_orders(paths) == []


def test_a_run_without_a_status_and_no_run(amago: Amago, paths: RunPaths) -> None:
    assert "run a has not been started" in amago("stop", "a").err
    assert "there is no run 'b'" in amago("pause", "b").err
