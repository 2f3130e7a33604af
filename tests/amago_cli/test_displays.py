"""What a person and a program see while a run goes on."""

from __future__ import annotations

import errno
import io
import json
import os
from dataclasses import replace
from typing import Any

import pytest

from agent.progress import EvalProgress, Event, Progress
from amago_cli.displays import JsonDisplay, LiveDisplay, PlainDisplay, choose_display
from amago_cli.output import count, duration, size, table
from amago_cli.progress_text import training_success


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_plain_output_is_one_line_per_report_without_escape_codes(progress: Progress) -> None:
    stream = io.StringIO()
    display = PlainDisplay(stream)
    display(progress)
    display(Event("checkpoint", "checkpoint at step 41216"))
    display(Event("warning", "disk nearly full"))
    lines = stream.getvalue().splitlines()
    assert lines == [
        "learning 34% | 41,216 steps | 812 steps/s | 6.3 updates/s | 1:02 elapsed | 2:01 left"
        " | success: wanted 15% (3/20) | collect sapling 60% (12/20) | place plant no data"
        " | all instructions 8% (3/40)",
        "checkpoint at step 41216",
        "warning: disk nearly full",
    ]


def test_without_a_budget_there_is_no_time_left(progress: Progress) -> None:
    stream = io.StringIO()
    PlainDisplay(stream)(replace(progress, remaining=None, fraction=None, wanted=None, subgoals=()))
    assert stream.getvalue() == (
        "learning | 41,216 steps | 812 steps/s | 6.3 updates/s | 1:02 elapsed | return no data | success 8% (3/40)\n"
    )


@pytest.mark.parametrize(
    ("figures", "text"),
    [
        ({"mean_return": 0.931}, "return 0.931 | success 8% (3/40)"),
        ({"mean_return": 1234.5, "success": None}, "return 1,234"),
        ({"attempts": (0.31, 0.92)}, "return no data | success 8% (3/40) | first attempt 0.31 -> last 0.92"),
    ],
)
def test_without_goals_the_return_is_told(progress: Progress, figures: dict[str, Any], text: str) -> None:
    assert training_success(replace(progress, **{"wanted": None, "subgoals": (), **figures})) == text


def test_attempts_are_told_beside_goals(progress: Progress) -> None:
    assert training_success(replace(progress, attempts=(1.0, 2.0))).endswith(
        " | all instructions 8% (3/40) | first attempt 1 -> last 2"
    )


def test_evaluation_shows_an_estimate_of_the_time_left() -> None:
    stream = io.StringIO()
    display = PlainDisplay(stream)
    for finished, elapsed in ((0, 0.5), (1, 9.5), (2, 10.0), (3, 10.5), (8, 16.0)):
        display(EvalProgress(finished, 8, elapsed))
    assert stream.getvalue().splitlines() == [
        "2/8 episodes, 10s elapsed, about 30s left",
        "8/8 episodes, 16s elapsed",
    ]


def screen(written: str) -> list[str]:
    """What a terminal shows, knowing only newline, cursor up and erase line."""
    lines, row = [""], 0
    for part in written.replace("\x1b[1A", "\0U").replace("\x1b[2K", "\0E").split("\0"):
        if part.startswith("U"):
            row, part = row - 1, part[1:]
        elif part.startswith("E"):
            lines[row], part = "", part[1:]
        for index, text in enumerate(part.split("\n")):
            row += index > 0
            lines += [""] * (row + 1 - len(lines))
            lines[row] += text
    return [line for line in lines if line]


def test_live_block_is_rewritten_and_events_scroll_above(progress: Progress, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    stream = Terminal()
    display = LiveDisplay(stream)
    display(progress)
    display(Event("info", "first"))
    display(replace(progress, step=50_000))
    display.close()
    display.note("next: amago eval")
    shown = screen(stream.getvalue())
    assert shown[0] == "first"
    assert shown[1].startswith("learning 34% | 50,000 steps")
    assert shown[2].startswith("success: wanted")
    assert shown[3] == "next: amago eval"


def test_live_block_fits_a_narrow_terminal(progress: Progress, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    stream = Terminal()
    display = LiveDisplay(stream)
    display(progress)
    assert max(len(line) for line in stream.getvalue().splitlines()) < 40
    rows = len(stream.getvalue().splitlines())
    display.note("x")
    assert stream.getvalue().count("\x1b[1A") == rows


def test_json_lines_are_strict(progress: Progress, capsys: pytest.CaptureFixture[str]) -> None:
    stream = io.StringIO()
    display = JsonDisplay(stream)
    display(progress)
    display(Event("info", "text"))
    display.record("end", reason="steps")
    display.note("for people")
    report, event, end = (json.loads(line) for line in stream.getvalue().splitlines())
    assert report["type"] == "progress"
    assert report["losses"] == {"critic": None}
    assert report["subgoals"][0] == {"goal": "collect sapling", "successes": 12, "trials": 20}
    assert event == {"type": "event", "kind": "info", "text": "text"}
    assert end == {"type": "end", "reason": "steps"}
    assert capsys.readouterr() == ("", "for people\n")


def test_a_lost_pipe_does_not_stop_the_run(progress: Progress) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as stream:
        display = PlainDisplay(stream)
        display(progress)
        display(progress)
        os.dup2(os.open(os.devnull, os.O_WRONLY), writing)  # so that closing can flush what never went out


@pytest.mark.parametrize(
    ("stream", "term", "as_json", "kind"),
    [
        (Terminal(), "xterm", False, LiveDisplay),
        (Terminal(), "dumb", False, PlainDisplay),
        (io.StringIO(), "xterm", False, PlainDisplay),
        (Terminal(), "xterm", True, JsonDisplay),
    ],
)
def test_the_display_suits_the_stream(
    monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, term: str, as_json: bool, kind: type
) -> None:
    monkeypatch.setenv("TERM", term)
    assert type(choose_display(stream, as_json=as_json)) is kind


def test_small_texts() -> None:
    assert [duration(s) for s in (0.4, 41, 60, 3723)] == ["0s", "41s", "1:00", "1:02:03"]
    assert [size(b) for b in (512, 1500, 2_000_000, 24e9)] == ["512 B", "1.5 kB", "2.0 MB", "24.0 GB"]
    assert [count(1, "run"), count(1200, "run")] == ["1 run", "1,200 runs"]
    assert table(["a", "name"], [["10", "x"], ["2", ""]]) == "a   name\n10  x\n2"


class FullDisk(io.StringIO):
    def flush(self) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_is_told_once_and_stops_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    display = choose_display(FullDisk())
    display.note("one")
    display.note("two")
    assert capsys.readouterr().err == "amago: cannot write further reports: No space left on device\n"
