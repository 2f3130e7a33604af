"""One evaluation from the name of a checkpoint to files: what is evaluated, on what, and where it is written.

Playing the episodes is `agent.evaluate`, the figures are `agent.report`.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from itertools import chain
from itertools import count as numbers
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amago_cli import environments
from amago_cli.displays import Display
from amago_cli.output import command_line, count, remark
from store.errors import AmagoError, StorageError
from store.layout import RunPaths

if TYPE_CHECKING:
    from agent.config import Config
    from agent.envs.base import EnvSpec
    from agent.report import EvalReport, Header
    from store.trajectory import Trajectory

Instruction = tuple[int, ...]

_PACKAGES = ("amago", "crafter", "gymnasium", "numpy", "torch")  # whose versions can change a figure
EPISODES, EPISODES_OF_WORLDS = 10, 50  # played unless told otherwise: per instruction, and in all where there is none


@dataclass(frozen=True)
class Subject:
    """The checkpoint that is evaluated."""

    path: Path
    rule: str  # how it was picked: "latest", "best", "step" or "path"
    meta: dict[str, Any]
    config: Config
    run: RunPaths | None  # None for a checkpoint outside a run

    @property
    def spec(self) -> EnvSpec:
        """What its environment said of itself."""
        from agent.envs.base import EnvSpec

        return EnvSpec.from_json(self.meta["environment"])

    @property
    def reports(self) -> Path:
        """Where its reports go."""
        return self.run.reports if self.run else self.path.parent


@dataclass(frozen=True)
class Tasks:
    """The instructions it is evaluated on, and the name of that set. None: held-out worlds, each with its own task."""

    name: str
    instructions: list[Instruction] | None


@dataclass(frozen=True)
class Settings:
    """How it is evaluated."""

    episodes: int  # per instruction, or in all
    seed: int
    device: str
    greedy: bool
    beside_random: bool  # play the random policy too


def find_subject(runs_dir: Path, text: str) -> Subject:
    """The checkpoint that `text` names; CheckpointError or AmagoError when there is none."""
    from agent.checkpoint import read_meta, resolve
    from agent.config import from_mapping

    path = resolve(runs_dir, text)
    meta = read_meta(path)
    run = RunPaths(path.parent.parent)
    inside = path.parent == run.checkpoints and run.config.is_file()
    return Subject(path, _rule(text, path), meta, from_mapping(meta["config"]), run if inside else None)


def parse_goals(texts: list[str]) -> list[Instruction]:
    """The instructions meant; GoalError for the first that cannot be understood."""
    from agent.goals.grammar import parse_instruction

    return _distinct([parse_instruction(text) for text in texts])


def choose_tasks(config: Config, goals: list[Instruction], suite: str | None, count: int, seed: int) -> Tasks:
    """The goals given, else the suite, else what the run was trained for, else fresh draws.

    Where instructions are not in words, the environment's own tasks; AmagoError for goals or a suite.
    """
    import numpy as np

    from agent.goals.grammar import wanted_instruction
    from agent.goals.suites import SUITES

    if goals or suite:
        environments.require_words(config, "--goals" if goals else "--suite")
    if config.env.name != environments.WORDED:
        return Tasks("worlds", None)
    if goals:
        return Tasks("goals", goals)
    wanted = wanted_instruction(config.task.goals)
    if suite is None and wanted:
        return Tasks("wanted", _distinct([wanted, *((goal,) for goal in wanted)]))
    name = suite or "instructions"
    return Tasks(name, _distinct(SUITES[name](np.random.default_rng(seed), count)))


def require_success(subject: Subject) -> None:
    """AmagoError if the environment does not tell success from failure."""
    from agent.tallies import has_success

    if not has_success(subject.spec):
        raise AmagoError(f"--fail-under needs an environment that knows success, {subject.spec.name} does not")


def run(
    subject: Subject, tasks: Tasks, settings: Settings, display: Display, stop: threading.Event
) -> tuple[EvalReport, list[Trajectory]]:
    """Play the agent, then the random policy in the same worlds; the report and the agent's trajectories."""
    from agent.report import EvalReport, summarise

    start = time.monotonic()
    trajectories = _play(subject, subject.path, tasks, settings, display, stop)
    beside = []
    if settings.beside_random and not stop.is_set():
        beside = _play(subject, None, tasks, settings, display, stop)
    header = _header(subject, tasks, settings, trajectories, time.monotonic() - start, stop.is_set())
    agent, random = (summarise(played, tasks.instructions, subject.spec) for played in (trajectories, beside))
    return EvalReport(header, agent, random if beside else None), trajectories


def save(subject: Subject, report: EvalReport, trajectories: list[Trajectory]) -> list[Path]:
    """Write the report as JSON and Markdown, and the trajectories into the run; the files written.

    A place that cannot be written is an error inside a run, and a remark beside a checkpoint of no run.
    """
    if subject.run:
        return [*_save_report(subject, report), *_save_rollouts(subject, subject.run, trajectories)]
    try:
        return _save_report(subject, report)
    except StorageError as error:
        remark(f"no report written: {error}")
        return []


def _play(
    subject: Subject,
    checkpoint: Path | None,
    tasks: Tasks,
    settings: Settings,
    display: Display,
    stop: threading.Event,
) -> list[Trajectory]:
    from agent.evaluate import evaluate

    who = "the agent" if checkpoint else "the random policy"
    episodes = count(settings.episodes, "episode")
    each = episodes if tasks.instructions is None else f"{count(len(tasks.instructions), 'instruction')} x {episodes}"
    display.note(f"{who}: {each}")
    trajectories = evaluate(
        checkpoint,
        subject.config,
        tasks.instructions,
        episodes=settings.episodes,
        seed=settings.seed,
        device=settings.device,
        greedy=settings.greedy,
        notify=display,
        stop=stop,
    )
    display.close()
    return trajectories


def _header(
    subject: Subject,
    tasks: Tasks,
    settings: Settings,
    trajectories: list[Trajectory],
    seconds: float,
    interrupted: bool,
) -> Header:
    from importlib.metadata import version

    from agent.report import Header

    return Header(
        checkpoint=str(subject.path),
        sha256=subject.meta["sha256"],
        step=subject.meta["step"],
        rule=subject.rule,
        policy="greedy" if settings.greedy else "sampled",
        suite=tasks.name,
        episodes=settings.episodes,
        seed=settings.seed,
        worlds=_describe_worlds(trajectories),
        device=settings.device,
        command=command_line(),
        environment=subject.config.env.name,
        settings=subject.config.env.model_dump(mode="json", exclude={"name"}),
        versions={name: version(name) for name in _PACKAGES},
        seconds=seconds,
        interrupted=interrupted,
    )


def _describe_worlds(trajectories: list[Trajectory]) -> str:
    seeds = [trajectory.info.seed for trajectory in trajectories]
    span = f"{min(seeds)} to {max(seeds)}" if seeds else "none played"
    return f"held-out worlds (odd seeds, {span}; training worlds have even seeds)"


def _save_report(subject: Subject, report: EvalReport) -> list[Path]:
    from agent.report import to_json
    from agent.report_text import to_markdown
    from store.atomic import write_json, write_text
    from store.errors import storage_guard

    stamp = time.strftime("%Y%m%d-%H%M%S")
    base = _unused(subject.reports, f"eval-{report.header.step}-{report.header.suite}-{stamp}")
    files = [base.with_suffix(".json"), base.with_suffix(".md")]
    with storage_guard(subject.reports):
        subject.reports.mkdir(exist_ok=True)
    write_json(files[0], to_json(report))
    write_text(files[1], to_markdown(report))
    return files


def _unused(folder: Path, name: str) -> Path:
    """`name`, or with -2, -3 ... behind it where reports of the same second are."""
    names = chain([name], (f"{name}-{number}" for number in numbers(2)))
    return next(folder / each for each in names if not (folder / f"{each}.json").exists())


def _save_rollouts(subject: Subject, run: RunPaths, trajectories: list[Trajectory]) -> list[Path]:
    """Written at the end and in one go, so that two evaluations of a run hardly ever meet in its folder."""
    from store.rollouts import RolloutWriter

    writer = RolloutWriter(run, "eval", spec=subject.meta["environment"])
    for trajectory in trajectories:
        writer.append(trajectory)
    writer.close()
    return [run.rollouts("eval")] if trajectories else []


def _rule(text: str, path: Path) -> str:
    name, at, pick = text.rpartition("@")
    if at and name:
        return pick if pick in ("best", "latest") else "step"
    return "path" if Path(text).resolve() == path.resolve() else "latest"


def _distinct(instructions: list[Instruction]) -> list[Instruction]:
    return list(dict.fromkeys(instructions))
