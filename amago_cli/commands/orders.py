"""`amago stop`, `amago pause` and `amago continue`: orders to a trainer, wherever it runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from amago_cli.options import DEFAULT_RUNS_DIR, RunName, RunsDir, elsewhere
from store.errors import AmagoError

if TYPE_CHECKING:
    from store.status import Status


def stop(run: RunName, runs_dir: RunsDir = DEFAULT_RUNS_DIR) -> None:
    """Stop a run: it writes a checkpoint first, and can be resumed."""
    _give(runs_dir, run, "stop", "stops after writing a checkpoint; it goes on with: amago train --resume {run}")


def pause(run: RunName, runs_dir: RunsDir = DEFAULT_RUNS_DIR) -> None:
    """Pause a run: it stays in memory and holds still."""
    _give(runs_dir, run, "pause", "pauses after the present updates; it goes on with: amago continue {run}")


def go_on(run: RunName, runs_dir: RunsDir = DEFAULT_RUNS_DIR) -> None:
    """Let a paused run go on."""
    _give(runs_dir, run, "resume", "goes on")


def _give(runs_dir: Path, run: str, order: str, consequence: str) -> None:
    from store.control import give_order
    from store.runs import open_run
    from store.status import read_status

    paths = open_run(runs_dir, run)
    where = elsewhere(paths.root.parent)
    _require_sense(paths.name, where, order, read_status(paths))
    give_order(paths, order)
    print(f"run {paths.name} {consequence.format(run=paths.name + where)}")


def _require_sense(name: str, where: str, order: str, status: Status | None) -> None:
    """AmagoError for an order that the run, as its status says, cannot carry out."""
    from store.status import describe_state

    state = describe_state(status)
    if status is None or state != "running":
        told = "has not been started" if status is None else f"is not running: it is {state}"
        raise AmagoError(f"run {name} {told}; `amago train --resume {name}{where}` trains it")
    if order == "pause" and status.phase == "paused":
        raise AmagoError(f"run {name} is paused already; `amago continue {name}{where}` lets it go on")
    if order == "resume" and status.phase != "paused":
        raise AmagoError(f"run {name} is not paused: it is {status.phase}")
