"""What the screen does to a real terminal, and what becomes of it when the screen dies."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable

import pytest

from amago_cli.tui.run import capable
from store.layout import RunPaths

PROGRAM = "from amago_cli.app import main; main()"
BROKEN = "from amago_cli.tui.widgets.header import RunHeader; RunHeader.tick = lambda self: 1 / 0; " + PROGRAM
RESTORED = ("\x1b[?1049l", "\x1b[?1000l", "\x1b[?25h")  # usual screen, no mouse reports, a cursor


class Terminal:
    """A pseudo terminal with `amago watch` on it."""

    def __init__(self, run: RunPaths, program: str = PROGRAM, **environment: str) -> None:
        self._leader, follower = pty.openpty()
        termios.tcsetwinsize(follower, (24, 80))
        self.discipline = termios.tcgetattr(follower)
        self._follower = follower
        command = [sys.executable, "-c", program, "watch", run.name, "--runs-dir", str(run.root.parent)]
        self.process = subprocess.Popen(
            command,
            stdin=follower,
            stdout=follower,
            stderr=follower,
            start_new_session=True,
            env={**os.environ, "TERM": "xterm-256color", **environment},
        )
        self.written = ""

    def read_until(self, holds: Callable[[], bool], seconds: float = 60.0) -> None:
        """Read what is written until `holds`, or fail."""
        end = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < end, self.written[-2000:]
            if select.select([self._leader], [], [], 0.1)[0]:
                self.written += os.read(self._leader, 65536).decode("utf-8", "replace")

    def press(self, keys: str) -> None:
        os.write(self._leader, keys.encode())

    def wait(self) -> int:
        """The exit code; what is still written is read."""
        self.read_until(lambda: self.process.poll() is not None)
        while select.select([self._leader], [], [], 0.2)[0]:
            self.written += os.read(self._leader, 65536).decode("utf-8", "replace")
        assert termios.tcgetattr(self._follower)[:4] == self.discipline[:4]
        for descriptor in (self._leader, self._follower):
            os.close(descriptor)
        return self.process.returncode


def assert_restored(written: str) -> None:
    for code in RESTORED:
        assert code in written
    assert written.rindex("\x1b[?25h") > written.rindex("\x1b[?25l")
    assert written.rindex("\x1b[?1049l") > written.rindex("\x1b[?1049h")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_restores_the_terminal(run: RunPaths, number: signal.Signals) -> None:
    terminal = Terminal(run)
    terminal.read_until(lambda: "calm-otter-7" in terminal.written)
    terminal.process.send_signal(number)
    assert terminal.wait() == 128 + number
    assert_restored(terminal.written)


def test_an_error_of_ours_restores_the_terminal_and_is_one_line(run: RunPaths) -> None:
    terminal = Terminal(run, BROKEN)
    assert terminal.wait() == 1
    assert_restored(terminal.written)
    assert "amago: internal error: ZeroDivisionError" in terminal.written
    assert "Traceback" not in terminal.written


def test_leaving_says_that_the_run_goes_on(run: RunPaths) -> None:
    terminal = Terminal(run)
    terminal.read_until(lambda: "calm-otter-7" in terminal.written)
    terminal.press("q")
    assert terminal.wait() == 0
    assert_restored(terminal.written)
    assert "run calm-otter-7 is running on; next: amago watch" in terminal.written.rpartition("\x1b[?1049l")[2]


def test_a_dumb_terminal_is_not_capable(monkeypatch: pytest.MonkeyPatch) -> None:
    leader, follower = pty.openpty()
    with os.fdopen(leader), os.fdopen(follower, "w") as stream:
        for name in ("__stdin__", "__stderr__"):
            monkeypatch.setattr(sys, name, stream)
        answers = {}
        for kind in ("dumb", "", "xterm-256color"):
            monkeypatch.setenv("TERM", kind)
            answers[kind] = capable(stream)
    assert answers == {"dumb": False, "": False, "xterm-256color": True}


def test_a_pipe_is_not_capable() -> None:
    read, write = os.pipe()
    with os.fdopen(read), os.fdopen(write, "w") as stream:
        assert not capable(stream)
