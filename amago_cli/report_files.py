"""Where an evaluation is written: the report as JSON, Markdown and HTML, the trajectories into their run."""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import chain
from itertools import count as numbers
from pathlib import Path
from typing import TYPE_CHECKING

from amago_cli.output import remark
from store.errors import StorageError

if TYPE_CHECKING:
    from agent.reports.report import EvalReport
    from amago_cli.evaluation import Subject
    from store.layout import RunPaths
    from store.trajectory import Trajectory


def save(subject: Subject, report: EvalReport, trajectories: list[Trajectory]) -> tuple[EvalReport, list[Path]]:
    """Write the trajectories into the run, and the report, which then knows where they are, as JSON, Markdown and HTML;
    the report and what was written.

    A place that cannot be written is an error inside a run, and a remark beside a checkpoint of no run.
    """
    from agent.reports.report import with_numbers

    if subject.run:
        stored = _save_rollouts(subject, subject.run, trajectories)
        report = with_numbers(report, [trajectory.info.number for trajectory in stored])
        return report, [*_save_report(subject, report, stored), subject.run.rollouts("eval")]
    try:
        return report, _save_report(subject, report, trajectories)
    except StorageError as error:
        remark(f"no report written: {error}")
        return report, []


def _save_report(subject: Subject, report: EvalReport, trajectories: list[Trajectory]) -> list[Path]:
    from agent.reports.filmstrips import filmstrips
    from agent.reports.html import to_html
    from agent.reports.report import to_json
    from agent.reports.text import to_markdown
    from store.atomic import write_json, write_text
    from store.errors import storage_guard

    stamp = time.strftime("%Y%m%d-%H%M%S")
    base = unused(subject.reports, f"eval-{report.header.step}-{report.header.suite}-{stamp}")
    files = [base.with_suffix(suffix) for suffix in (".json", ".md", ".html")]
    with storage_guard(subject.reports):
        subject.reports.mkdir(exist_ok=True)
    write_json(files[0], to_json(report))
    write_text(files[1], to_markdown(report))
    write_text(files[2], to_html(report, filmstrips(trajectories, subject.spec)))
    return files


def unused(folder: Path, name: str) -> Path:
    """`name`, or with -2, -3 ... behind it where reports of the same second are."""
    names = chain([name], (f"{name}-{number}" for number in numbers(2)))
    return next(folder / each for each in names if not (folder / f"{each}.json").exists())


def _save_rollouts(subject: Subject, run: RunPaths, trajectories: list[Trajectory]) -> list[Trajectory]:
    """The trajectories with the numbers under which they are stored.

    Written at the end and in one go, so that two evaluations of a run hardly ever meet in its folder.
    """
    from store.rollouts import RolloutWriter

    writer = RolloutWriter(run, "eval", spec=subject.meta["environment"])
    given = [writer.append(trajectory) for trajectory in trajectories]
    writer.close()
    return [
        replace(trajectory, info=replace(trajectory.info, number=number))
        for trajectory, number in zip(trajectories, given, strict=True)
    ]
