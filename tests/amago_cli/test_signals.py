"""Signals to real processes."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

STUBBORN = """
import sys, time
from amago_cli.signals import stop_on_signals

def say(text):
    print(text, flush=True)

with stop_on_signals(say, "stopping") as stop:
    say("ready")
    while True:
        time.sleep(0.01)
"""

OBEDIENT = """
import sys
from amago_cli.signals import stop_on_signals

with stop_on_signals(lambda text: print(text, flush=True), "stopping") as stop:
    print("ready", flush=True)
    stop.event.wait()
sys.exit(stop.exit_code)
"""


@contextmanager
def running(script: str) -> Iterator[subprocess.Popen[str]]:
    """A process that has said it is ready."""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_the_first_signal_asks_for_a_stop(number: int, code: int) -> None:
    with running(OBEDIENT) as process:
        process.send_signal(number)
        assert process.wait(30) == code


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_the_second_signal_ends_the_process_at_once(number: int, code: int) -> None:
    with running(STUBBORN) as process:
        assert process.stdout is not None
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "stopping; press Ctrl-C again to leave at once\n"
        process.send_signal(number)
        assert process.wait(30) == code
