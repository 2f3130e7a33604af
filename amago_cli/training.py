"""Start a new training run or resume one, here or in the background: lock, signals, display, last words.

The training itself is `agent.train`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TextIO

import typer

from amago_cli import environments
from amago_cli.background import spawn_trainer, start_detached
from amago_cli.displays import Display
from amago_cli.options import elsewhere
from amago_cli.output import command_line, count, duration
from amago_cli.signals import Stop, stop_on_signals
from store.errors import AmagoError

if TYPE_CHECKING:
    from agent.config import Config
    from agent.progress import EvalProgress, Event, Listener, Progress
    from agent.train import Outcome
    from store.layout import RunPaths

Place = Literal["here", "screen", "background"]

_CHANGEABLE = ("optimizer.learning_rate",)  # what a run that diverged needs, beside run.*


def choose_place(stream: TextIO, *, as_json: bool, plain: bool, detach: bool) -> Place:
    """Where a run is trained: behind the live screen where one can be shown, unless an option asks for something else.

    "here" is this very process, with lines or a small block of text on `stream`.
    """
    from amago_cli.tui.run import capable

    if detach:
        return "background"
    return "screen" if not as_json and not plain and capable(stream) else "here"


def prepare(config: Config, preset: str, runs_dir: Path, name: str | None) -> RunPaths:
    """Check what can be checked, then create the run: a missing device or environment leaves none behind."""
    from store.runs import create_run

    if config.run.device == "cuda":
        from agent.device import resolve_device

        resolve_device(config.run.device)
    environments.look_at(config)
    return create_run(runs_dir, name, config.model_dump(mode="json"), {"command": command_line(), "preset": preset})


def train_at(
    place: Place, paths: RunPaths, config: Config, changes: Mapping[str, Any], display: Display, *, resume: bool
) -> None:
    """Train a run that exists; `changes` distinguish `config` from its own. May raise typer.Exit with the code."""
    if place == "here":
        train_here(paths, config, display, resume=resume)
    elif place == "screen":
        from amago_cli.tui.run import watch

        spawn_trainer(paths, resume=resume, changes=changes)
        raise typer.Exit(watch(paths.root.parent, paths, owns_trainer=True))
    else:
        display.note("starting the trainer ...")
        pid = start_detached(paths, resume=resume, changes=changes)
        _say_detached(paths, pid, display, resume)


def train_here(paths: RunPaths, config: Config, display: Display, *, resume: bool) -> None:
    """Train in this process. Raises typer.Exit(130 or 143) after a stop by signal."""
    with stop_on_signals(display.note, "stopping: writing a checkpoint") as stop:
        display.note("loading torch ...")
        _train(config, paths, display, stop, resume=resume)


def describe_task(config: Config) -> str:
    """What will be trained, as understood. AmagoError for a goal that is unknown, or in the wrong environment."""
    from agent.goals.grammar import wanted_instruction
    from agent.goals.vocabulary import GOALS

    if config.task.goals.strip():
        environments.require_words(config, "--goals")
    if not environments.takes_words(config.env):
        return environments.describe(config.env)
    attempts = environments.describe_attempts(config.env)
    what = config.env.name if attempts == "1" else f"{config.env.name}, attempts per rollout: {attempts}"
    instruction = wanted_instruction(config.task.goals)
    if not instruction:
        return f"{what}, no goals given: instructions are drawn from all goals"
    names = [GOALS[goal].name for goal in instruction]
    wanted = ", ".join(f"{number}. {name}" for number, name in enumerate(names, 1))
    share = f"{config.task.wanted_share:.0%}"
    return f"{what}, goals in this order: {wanted} (in {share} of the rollouts)"


def resumed_config(paths: RunPaths, changes: Mapping[str, Any]) -> Config:
    """The run's own configuration with the few changes that a resumed run takes; AmagoError for any other change."""
    from agent.config import from_mapping, override
    from store.runs import read_config

    fixed = [key for key in changes if not key.startswith("run.") and key not in _CHANGEABLE]
    if fixed:
        also = " and ".join(("run.*", *_CHANGEABLE))
        raise AmagoError(f"a resumed run keeps its {', '.join(fixed)}; only {also} can change with --resume")
    return override(from_mapping(read_config(paths)["config"]), dict(changes))


def _train(config: Config, paths: RunPaths, display: Display, stop: Stop, *, resume: bool) -> None:
    from agent.train import train
    from store.file_system import network_warning
    from store.lock import RunLock

    with RunLock(paths):
        if warning := network_warning(paths.root):
            display.note(warning)
        display.record("start", run=paths.name, path=paths.root, resume=resume, config=config.model_dump(mode="json"))
        display.note(f"{'resuming' if resume else 'training'} run {paths.name} in {paths.root}")
        notify = _recording_budget(display, paths, config) if resume else display
        try:
            outcome = train(config, paths, resume=resume, notify=notify, stop=stop.event)
        finally:
            display.close()
    _say_outcome(outcome, paths, config, display)
    if stop.event.is_set():
        raise typer.Exit(stop.exit_code)


def _recording_budget(display: Display, paths: RunPaths, config: Config) -> Listener:
    """`display`, recording the budget at the first progress: a resume that is refused reports none."""
    from agent.progress import Progress

    begun = False

    def notify(report: Progress | Event | EvalProgress) -> None:
        nonlocal begun
        if isinstance(report, Progress) and not begun:
            begun = True
            _record_budget(paths, config)
        display(report)

    return notify


def _record_budget(paths: RunPaths, config: Config) -> None:
    """The budget of the last resume becomes the run's, so that the next resume need not repeat it."""
    from store.atomic import write_json
    from store.runs import read_config

    record = read_config(paths)
    mapping = config.model_dump(mode="json")
    if record["config"] != mapping:
        write_json(paths.config, {**record, "config": mapping}, run=paths.name)


def _say_detached(paths: RunPaths, pid: int, display: Display, resume: bool) -> None:
    where = elsewhere(paths.root.parent)
    display.record("start", run=paths.name, path=paths.root, resume=resume, pid=pid)
    display.note(f"run {paths.name} is trained by process {pid}; what it says is in {paths.trainer_log}")
    display.note("next:")
    for verb in ("watch", "stop"):
        display.note(f"  amago {verb} {paths.name}{where}")


def _say_outcome(outcome: Outcome, paths: RunPaths, config: Config, display: Display) -> None:
    from agent.progress import REASONS

    display.record(
        "end",
        run=paths.name,
        reason=outcome.reason,
        step=outcome.step,
        update=outcome.update,
        elapsed=outcome.elapsed,
        checkpoint=outcome.checkpoint,
    )
    updates = count(outcome.update, "update")
    reached = updates if config.replay.offline else f"{count(outcome.step, 'step')} and {updates}"
    display.note(f"run {paths.name}: {REASONS[outcome.reason]}: {reached} in {duration(outcome.elapsed)}")
    display.note(f"checkpoint: {outcome.checkpoint}")
    display.note("next:")
    for command in _next_commands(outcome, paths, config):
        display.note(f"  {command}")


def _next_commands(outcome: Outcome, paths: RunPaths, config: Config) -> list[str]:
    where = elsewhere(paths.root.parent)
    more = ""
    if outcome.reason in ("steps", "updates", "minutes"):
        budget = getattr(config.run, outcome.reason)
        more = f" --{outcome.reason} {2 * budget:.12g}"
    evaluation = [f"amago eval --checkpoint {paths.name}{where}"] if environments.can_play(config) else []
    return [*evaluation, f"amago train --resume {paths.name}{more}{where}"]
