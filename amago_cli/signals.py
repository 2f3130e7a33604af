"""The first Ctrl-C or SIGTERM asks for a clean stop, the second ends the process at once."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from amago_cli.exit_codes import ExitCode

_EXIT_CODES = {signal.SIGINT: ExitCode.INTERRUPTED, signal.SIGTERM: ExitCode.TERMINATED}


class Stop:
    """Whether, and by which signal, a clean stop was asked for."""

    def __init__(self, say: Callable[[str], None], doing: str) -> None:
        self.event = threading.Event()
        self.exit_code = ExitCode.OK
        self._say = say
        self._notice = f"{doing}; press Ctrl-C again to leave at once"

    def receive(self, number: int, frame: FrameType | None) -> None:
        """The signal handler, run by Python between two instructions of the main thread."""
        exit_code = _EXIT_CODES[signal.Signals(number)]
        if self.exit_code is not ExitCode.OK:  # the event alone may have been set by `amago stop`
            os._exit(exit_code)
        self.exit_code = exit_code
        self.event.set()
        try:
            self._say(self._notice)
        except RuntimeError:  # the signal came in the middle of a write to the same stream
            os.write(2, f"{self._notice}\n".encode())


@contextmanager
def stop_on_signals(say: Callable[[str], None], doing: str) -> Iterator[Stop]:
    """Within the block both signals set the event; `say` then tells the person what is being done."""
    stop = Stop(say, doing)
    previous = {number: signal.signal(number, stop.receive) for number in _EXIT_CODES}
    try:
        yield stop
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
