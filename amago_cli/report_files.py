"""Where an evaluation is written: the report as JSON, Markdown and HTML, the trajectories into their run."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from itertools import count as numbers
from pathlib import Path
from typing import TYPE_CHECKING

from amago_cli.output import remark
from store.errors import StorageError, storage_guard

if TYPE_CHECKING:
    from agent.reports.report import EvalReport
    from amago_cli.evaluation import Subject
    from store.layout import RunPaths
    from store.trajectory import Trajectory

FIRST_PAUSE, LONGEST_PAUSE = 2.0, 30.0  # seconds between two times at which what was played is stored


class Keeper:
    """Keeps what an evaluation has played, now and then already while it goes on.

    Killed with -9 it leaves the episodes in their run and a report of them in JSON, marked as interrupted, which the
    last one replaces. The pauses grow, so that little is lost of a short evaluation and few shards come of a long one.
    Beside a checkpoint of no run there is only the last report.
    """

    def __init__(self, subject: Subject, suite: str) -> None:
        self.subject = subject
        self._suite = suite
        self._base: Path | None = None  # of the report's files, without their suffix, once there are any
        self._stored: dict[int, Trajectory] = {}  # with its number, by the id of what was played
        self._waiting: list[Trajectory] = []
        self._pause = FIRST_PAUSE
        self._due = time.monotonic() + self._pause
        self._problem: StorageError | None = None

    @property
    def stored(self) -> list[Trajectory]:
        """What lies in the run by now."""
        return list(self._stored.values())

    def take(self, trajectory: Trajectory) -> bool:
        """Keep a finished episode; whether it is time to write a report of those `stored`."""
        self._waiting.append(trajectory)
        if self.subject.run is None or time.monotonic() < self._due:
            return False
        self._pause = min(2 * self._pause, LONGEST_PAUSE)
        self._due = time.monotonic() + self._pause
        return self._store()

    def numbered(self, trajectories: list[Trajectory]) -> list[Trajectory]:
        """All that was played, as it is stored; `finish` tells if that was not possible."""
        if self.subject.run is None or not self._store():
            return trajectories
        return [self._stored[id(each)] for each in trajectories]

    def interim(self, report: EvalReport) -> None:
        """Write the report of an evaluation that goes on; a disk that refuses is `finish`'s to tell of."""
        from agent.reports.report import to_json
        from store.atomic import write_json

        with suppress(StorageError):
            write_json(self._place(report).with_suffix(".json"), to_json(report))

    def finish(self, report: EvalReport, trajectories: list[Trajectory]) -> list[Path]:
        """Write the report as JSON, Markdown and HTML; what was written.

        A place that cannot be written is an error inside a run, and a remark beside a checkpoint of no run.
        """
        if self._problem:
            raise self._problem
        if self.subject.run:
            return [*self._write(report, trajectories), self.subject.run.rollouts("eval")]
        try:
            return self._write(report, trajectories)
        except StorageError as error:
            remark(f"no report written: {error}")
            return []

    def _store(self) -> bool:
        """Whether all that was played lies in the run now."""
        assert self.subject.run is not None
        try:
            found = _save_rollouts(self.subject, self.subject.run, self._waiting)
        except StorageError as error:
            self._problem = error
            return False
        self._stored |= {id(each): kept for each, kept in zip(self._waiting, found, strict=True)}
        self._waiting, self._problem = [], None
        return True

    def _write(self, report: EvalReport, trajectories: list[Trajectory]) -> list[Path]:
        from agent.reports.filmstrips import filmstrips
        from agent.reports.html import to_html
        from agent.reports.report import to_json
        from agent.reports.text import to_markdown
        from store.atomic import write_json, write_text

        base = self._place(report)
        files = [base.with_suffix(suffix) for suffix in (".json", ".md", ".html")]
        write_json(files[0], to_json(report))
        write_text(files[1], to_markdown(report))
        write_text(files[2], to_html(report, filmstrips(trajectories, self.subject.spec)))
        return files

    def _place(self, report: EvalReport) -> Path:
        if self._base is None:
            folder = self.subject.reports
            with storage_guard(folder):
                folder.mkdir(exist_ok=True)
            stamp = time.strftime("%Y%m%d-%H%M%S")
            self._base = unused(folder, f"eval-{report.header.step}-{self._suite}-{stamp}")
        return self._base


def unused(folder: Path, name: str) -> Path:
    """`name`, or with -2, -3 ... behind it where reports of the same second are."""
    names = chain([name], (f"{name}-{number}" for number in numbers(2)))
    return next(folder / each for each in names if not (folder / f"{each}.json").exists())


def _save_rollouts(subject: Subject, run: RunPaths, trajectories: list[Trajectory]) -> list[Trajectory]:
    """The trajectories with the numbers under which they are stored, in shards of their own."""
    from store.rollouts import RolloutWriter

    writer = RolloutWriter(run, "eval", spec=subject.meta["environment"])
    given = [writer.append(trajectory) for trajectory in trajectories]
    writer.close()
    return [
        replace(trajectory, info=replace(trajectory.info, number=number))
        for trajectory, number in zip(trajectories, given, strict=True)
    ]
