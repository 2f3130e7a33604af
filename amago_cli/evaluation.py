"""One evaluation from the name of a checkpoint to a report: what is evaluated, and on what.

Playing the episodes is `agent.evaluate`, the figures are `agent.reports.report`, the files `amago_cli.report_files`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amago_cli import environments
from amago_cli.displays import Display
from amago_cli.output import command_line, count
from amago_cli.report_files import Keeper
from store.errors import AmagoError
from store.layout import RunPaths

if TYPE_CHECKING:
    from agent.config import Config
    from agent.envs.base import EnvSpec
    from agent.reports.report import EvalReport, Header
    from store.trajectory import Trajectory

Instruction = tuple[int, ...]

_PACKAGES = ("amago", "crafter", "gymnasium", "numpy", "torch")  # whose versions can change a figure
_TRAINING_ROLLOUTS = 100  # of the run that are shown beside the evaluation
EPISODES, EPISODES_OF_WORLDS = 10, 50  # played unless told otherwise: per instruction or game, else in all


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
    """The instructions or games it is evaluated on, and the name of that set.

    None and no games: held-out worlds, each with its own task.
    """

    name: str
    instructions: list[Instruction] | None
    games: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """So many times the episodes are played."""
        return len(self.instructions or self.games or (None,))


@dataclass(frozen=True)
class Settings:
    """How it is evaluated."""

    episodes: int  # per instruction or game, or in all
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


def with_attempts(subject: Subject, attempts: int | None) -> Subject:
    """The subject, to play so many attempts at each task whatever it was trained on; None leaves it as it is."""
    from agent.config import override

    if attempts is None:
        return subject
    return replace(subject, config=override(subject.config, {"env.attempts": attempts, "env.horizon": None}))


def parse_goals(texts: list[str]) -> list[Instruction]:
    """The instructions meant; GoalError for the first that cannot be understood."""
    from agent.goals.grammar import parse_instruction

    return _distinct([parse_instruction(text) for text in texts])


def choose_games(spec: EnvSpec, wanted: str | None) -> tuple[str, ...]:
    """The games named, separated by commas, or with None or "all" every one that the environment plays, those held out
    too; () of one game. AmagoError for a name that is none of them.
    """
    from agent.env_config import listed
    from agent.envs.games import chosen_games

    known = [game.name for game in spec.games]
    if wanted is None:
        return tuple(known)
    if not known:
        raise AmagoError(f"--games needs an environment that plays several games, {spec.name} does not")
    names = listed(wanted)
    if not names:
        raise AmagoError("--games names no game; without it all are played")
    return chosen_games(spec.name, () if names == ("all",) else names, known)


def choose_tasks(
    config: Config, goals: list[Instruction], suite: str | None, games: tuple[str, ...], count: int, seed: int
) -> Tasks:
    """The goals given, else the suite, else what the run was trained for, else fresh draws.

    Where instructions are not in words, `games` or the environment's own tasks; AmagoError for goals or a suite.
    """
    import numpy as np

    from agent.goals.grammar import wanted_instruction
    from agent.goals.suites import SUITES

    if goals or suite:
        environments.require_words(config, "--goals" if goals else "--suite")
    if not environments.takes_words(config.env):
        return Tasks("games" if games else "worlds", None, games)
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
    subject: Subject, tasks: Tasks, settings: Settings, display: Display, stop: threading.Event, keeper: Keeper
) -> tuple[EvalReport, list[Trajectory]]:
    """Play the agent, then the random policy in the same worlds; the report and the agent's trajectories.

    What the agent has played is kept on the way, with a report of it.
    """
    start = time.monotonic()

    def report(played: list[Trajectory], beside: list[Trajectory], *, interrupted: bool) -> EvalReport:
        header = _header(subject, tasks, settings, played, time.monotonic() - start, interrupted)
        return _report(subject, tasks, header, played, beside)

    def finished(trajectory: Trajectory) -> None:
        if keeper.take(trajectory):
            keeper.interim(report(keeper.stored, [], interrupted=True))

    trajectories = keeper.numbered(_play(subject, subject.path, tasks, settings, display, stop, finished))
    beside = []
    if settings.beside_random and not stop.is_set():
        if keeper.stored:
            keeper.interim(report(trajectories, [], interrupted=True))
        beside = _play(subject, None, tasks, settings, display, stop, lambda trajectory: None)
    return report(trajectories, beside, interrupted=stop.is_set()), trajectories


def _report(
    subject: Subject, tasks: Tasks, header: Header, played: list[Trajectory], beside: list[Trajectory]
) -> EvalReport:
    from agent.reports.report import EvalReport, summarise

    agent, random = (summarise(each, tasks.instructions, subject.spec) for each in (played, beside))
    training = summarise(_training_rollouts(subject, tasks), None, subject.spec)
    return EvalReport(header, agent, random if beside else None, training if training.episodes else None)


def _training_rollouts(subject: Subject, tasks: Tasks) -> Iterator[Trajectory]:
    """The run's last rollouts up to this checkpoint that carried one of the instructions, without observations."""
    from store.rollouts import RolloutReader

    if subject.run is None:
        return
    reader = RolloutReader(subject.run.rollouts("train"))
    index = reader.index()
    asked = None if tasks.instructions is None else set(tasks.instructions)
    found = [
        i
        for i in range(len(index))
        if index.step[i] <= subject.meta["step"] and (asked is None or index.instruction(i) in asked)
    ]
    for i in found[-_TRAINING_ROLLOUTS:]:
        yield replace(reader.load(i), observations={})


def _play(
    subject: Subject,
    checkpoint: Path | None,
    tasks: Tasks,
    settings: Settings,
    display: Display,
    stop: threading.Event,
    finished: Callable[[Trajectory], None],
) -> list[Trajectory]:
    from agent.evaluate import evaluate

    who = "the agent" if checkpoint else "the random policy"
    episodes = count(settings.episodes, "episode")
    kind = "instruction" if tasks.instructions is not None else "game" if tasks.games else ""
    display.note(f"{who}: {count(tasks.count, kind)} x {episodes}" if kind else f"{who}: {episodes}")
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
        games=tasks.games,
        finished=finished,
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

    from agent.reports.report import Header

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


def _rule(text: str, path: Path) -> str:
    name, at, pick = text.rpartition("@")
    if at and name:
        return pick if pick in ("best", "latest") else "step"
    return "path" if Path(text).resolve() == path.resolve() else "latest"


def _distinct(instructions: list[Instruction]) -> list[Instruction]:
    return list(dict.fromkeys(instructions))
