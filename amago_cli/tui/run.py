"""From a run to its live screen and back to the shell, whatever happens: the entry point and the signals.

Importing this is cheap; Textual comes with the first screen.
"""

from __future__ import annotations

import os
import signal
import sys
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, TextIO

from amago_cli.exit_codes import ExitCode
from amago_cli.options import elsewhere
from amago_cli.tui.orders import ACTIVE

if TYPE_CHECKING:
    from amago_cli.tui.app import Leaving, WatchApp
    from store.layout import RunPaths

GRACE = 2.0  # seconds that a screen has to close after a signal

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_DUMB = ("", "dumb", "unknown")
_CODES = {"diverged": ExitCode.DIVERGED, "crashed": ExitCode.PROCESS_LOST}
_RESET = (
    "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1015l"  # no mouse reports
    "\x1b[?2004l\x1b[?1004l\x1b[<u\x1b[?7h"  # no pasting marks, no focus reports, usual keys, lines wrap
    "\x1b[?1049l\x1b[0m\x1b[?25h\r\n"  # the usual screen, with a cursor
)


def capable(stream: TextIO) -> bool:
    """Whether a screen can be drawn there and keys read: a terminal that can move its cursor, on all three streams."""
    streams = (stream, sys.__stdin__, sys.__stderr__)  # Textual draws on stderr
    if not all(each is not None and not each.closed and each.isatty() for each in streams):
        return False
    kind = os.environ.get("TERM", "")
    return kind not in _DUMB and _addresses_its_cursor(kind)


def watch(runs_dir: Path, paths: RunPaths | None, *, owns_trainer: bool) -> int:
    """Show the run (None: the list to choose from) until the person leaves; the exit code.

    `owns_trainer` when this command started the run's trainer: then leaving asks what becomes of it, and the exit code
    is the run's. The terminal is as before afterwards, also after SIGTERM, SIGHUP or an error of ours, which is raised.
    """
    from amago_cli.tui.app import Leaving, WatchApp

    app = WatchApp(runs_dir, paths, owns_trainer=owns_trainer, plain=_is_plain())
    with _terminal_restored(), _left_on_signals(app):
        leaving = app.run() or Leaving(paths)
        if app.failure is not None:
            raise app.failure
    if leaving.signal:
        return 128 + leaving.signal
    if leaving.paths is not None:
        print(farewell(leaving, elsewhere(runs_dir)))
    return _CODES.get(leaving.state, ExitCode.OK) if owns_trainer else ExitCode.OK


def farewell(leaving: Leaving, where: str) -> str:
    """What became of the run, and the next command."""
    assert leaving.paths is not None
    name = leaving.paths.name
    if leaving.is_stopping:
        return f"run {name} was asked to stop and writes a checkpoint first; next: amago show {name}{where}"
    if leaving.state in ACTIVE:
        return f"run {name} is {leaving.state} on; next: amago watch {name}{where}, amago stop {name}{where}"
    if leaving.state in _CODES:
        return f"run {name} {leaving.state}; next: amago train --resume {name}{where}"
    return f"run {name}: {leaving.state}; next: amago eval --checkpoint {name}{where}"


def _is_plain() -> bool:
    """The Linux console and streams without Unicode show neither Braille nor eighths of blocks."""
    encoding = getattr(sys.__stderr__, "encoding", "") or ""
    return os.environ.get("TERM") == "linux" or "utf" not in encoding.lower()


def _addresses_its_cursor(kind: str) -> bool:
    """What terminfo says; a terminal that it does not know is believed to be a usual one."""
    import curses

    try:
        curses.setupterm(kind, sys.__stderr__.fileno() if sys.__stderr__ else -1)
    except curses.error:
        return True
    return bool(curses.tigetstr("cup"))


@contextmanager
def _left_on_signals(app: WatchApp) -> Iterator[None]:
    """Within the block a signal closes the screen; one that hangs is ended by force, its terminal restored."""

    def received(number: int, _: FrameType | None) -> None:
        timer = threading.Timer(GRACE, _end_by_force, (number,))
        timer.daemon = True
        timer.start()
        app.leave_by_signal(number)

    previous = {number: signal.signal(number, received) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


@contextmanager
def _terminal_restored() -> Iterator[None]:
    """Line discipline as before the block; after an exception the screen's modes too, which it may not have undone."""
    before = _line_discipline()
    try:
        yield
    except BaseException:
        _write_reset()
        raise
    finally:
        if before is not None:
            with suppress(termios.error, OSError, ValueError):
                termios.tcsetattr(sys.__stdin__, termios.TCSANOW, before)  # type: ignore[arg-type]


def _line_discipline() -> list | None:
    try:
        return termios.tcgetattr(sys.__stdin__)  # type: ignore[arg-type]
    except (termios.error, OSError, ValueError, TypeError):  # no terminal
        return None


def _end_by_force(number: int) -> None:
    _write_reset()
    os._exit(128 + number)


def _write_reset() -> None:
    with suppress(OSError, ValueError, AttributeError):  # the terminal is gone
        os.write(sys.__stderr__.fileno(), _RESET.encode())  # type: ignore[union-attr]
