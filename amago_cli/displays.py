"""Where reports of training and evaluation go: a live block on a terminal, plain lines, or JSON lines.

A display is a listener (see `agent.progress`) with `note` for other lines and `close`. Losing the terminal or
the pipe never stops a run: what cannot be written is dropped.
"""

from __future__ import annotations

import json
import os
import shutil
import textwrap
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TextIO

from amago_cli import progress_text
from amago_cli.output import remark

if TYPE_CHECKING:
    from agent.progress import EvalProgress, Event, Progress

    Report = Progress | Event | EvalProgress

EVALUATION_LINE_EVERY = 10.0  # seconds

_UP_AND_ERASE = "\x1b[1A\x1b[2K"


class Display(Protocol):
    """What every display can do."""

    def __call__(self, report: Report) -> None: ...
    def note(self, text: str) -> None: ...
    def record(self, record: str, /, **fields: Any) -> None: ...
    def close(self) -> None: ...


def choose_display(stream: TextIO, *, as_json: bool = False) -> Display:
    """JSON lines when asked for, a live block on a capable terminal, else lines without escape codes."""
    if as_json:
        return JsonDisplay(stream)
    if stream.isatty() and os.environ.get("TERM", "dumb") != "dumb":
        return LiveDisplay(stream)
    return PlainDisplay(stream)


class PlainDisplay:
    """One line per report."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._told = 0.0  # seconds of the evaluation at its last line

    def __call__(self, report: Report) -> None:
        from agent.progress import EvalProgress, Event

        if isinstance(report, Event):
            self.note(event_line(report))
        elif not isinstance(report, EvalProgress) or self._is_due(report):
            self._show(report_lines(report))

    def note(self, text: str) -> None:
        """A line for people."""
        self._write(text + "\n")

    def record(self, record: str, /, **fields: Any) -> None:
        """A record for programs, which people do not see."""

    def close(self) -> None:
        """The reports that follow are of something else."""
        self._told = 0.0

    def _show(self, lines: list[str]) -> None:
        self._write(" | ".join(lines) + "\n")

    def _is_due(self, report: EvalProgress) -> bool:
        """Evaluations report twice a second, which is for screens and too much for a file."""
        due = report.finished == report.total or report.elapsed - self._told >= EVALUATION_LINE_EVERY
        self._told = report.elapsed if due else self._told
        return due

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError as error:  # the terminal or the pipe is gone, the run is not
            self._stream = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
            with suppress(OSError):  # stderr may be gone with it
                remark(f"amago: cannot write further reports: {error.strerror or error}")


class LiveDisplay(PlainDisplay):
    """A small block at the bottom of the terminal, rewritten by each report; other lines scroll above it.

    It hides no cursor and takes no screen over, so a killed process leaves the terminal as it was.
    """

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self._block: list[str] = []

    def note(self, text: str) -> None:
        """A line above the block."""
        self._redraw(text + "\n", self._block)

    def close(self) -> None:
        """Leave the last block where it stands; what follows comes below."""
        self._block = []

    def _show(self, lines: list[str]) -> None:
        width = max(shutil.get_terminal_size().columns - 1, 20)  # a full last column would wrap
        wrapped = [textwrap.wrap(line, width, subsequent_indent="  ") for line in lines]
        self._redraw("", [line for part in wrapped for line in part])

    def _is_due(self, report: EvalProgress) -> bool:
        return True

    def _redraw(self, above: str, block: list[str]) -> None:
        erase = _UP_AND_ERASE * len(self._block)
        self._block = block
        self._write(erase + above + "".join(line + "\n" for line in block))


class JsonDisplay(PlainDisplay):
    """One JSON object per line, with its kind in "type"."""

    def __call__(self, report: Report) -> None:
        from agent.progress import Event

        if isinstance(report, Event):
            self.record("event", **asdict(report))
        else:
            self.record("progress", **_with_rates(asdict(report)))

    def note(self, text: str) -> None:
        """Remarks for people go to stderr."""
        remark(text)

    def record(self, record: str, /, **fields: Any) -> None:
        """One line."""
        from store.atomic import to_json

        self._write(json.dumps(to_json({"type": record, **fields}), allow_nan=False) + "\n")


def report_lines(report: Progress | EvalProgress) -> list[str]:
    """The lines a person sees of a report."""
    from agent.progress import EvalProgress

    if isinstance(report, EvalProgress):
        return [progress_text.evaluation(report)]
    return [progress_text.training_speed(report), progress_text.training_success(report)]


def event_line(event: Event) -> str:
    """The line a person sees of an event; only warnings are marked."""
    return f"warning: {event.text}" if event.kind == "warning" else event.text


def _with_rates(report: dict[str, Any]) -> dict[str, Any]:
    """Name the subgoals' tallies, so that a program need not count positions."""
    if "subgoals" in report:
        report["subgoals"] = [{"goal": goal, **tally} for goal, tally in report["subgoals"]]
    return report
