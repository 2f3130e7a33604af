"""A training run from its first step, or from its last checkpoint, to its budget."""

from __future__ import annotations

import threading

import torch

from agent import checkpoint as checkpoints
from agent.checkpoint import Checkpoint
from agent.clock import Clock
from agent.config import Config
from agent.logbook import Logbook
from agent.progress import REASONS, Listener
from agent.resources import spare_cores
from agent.trainer import Outcome, Trainer
from store.errors import AmagoError, CheckpointError, DivergedError
from store.layout import RunPaths
from store.status import State


class BudgetError(AmagoError):
    """A run that is to go on has used up its budget."""


def train(config: Config, paths: RunPaths, *, resume: bool, notify: Listener, stop: threading.Event) -> Outcome:
    """Train until the budget is used up or `stop` is set, then write a checkpoint.

    An order to stop sets `stop`, too. The caller holds the run's lock. Errors leave the last checkpoint as it is and
    are told in status.json.
    """
    torch.set_num_threads(config.run.threads or spare_cores())
    torch.set_flush_denormal(True)  # probabilities of far value bins underflow, and denormals are slow
    logbook = Logbook(paths, notify)
    try:
        saved = _load_latest(config, paths, logbook) if resume else None
        if saved is None:
            logbook.stands_at(0, 0)
            logbook.record("start", f"training on {config.env.name}")
        with Trainer(config, paths, saved, logbook, stop) as trainer:
            outcome = trainer.run()
    except BaseException as error:
        told = str(error) or repr(error)
        logbook.end(_state_after(error), told, told)
        raise
    finally:
        logbook.close()
        torch.set_flush_denormal(False)
    logbook.end("stopped" if outcome.reason == "stopped" else "finished", outcome.reason, REASONS[outcome.reason])
    return outcome


def _state_after(error: BaseException) -> State:
    if isinstance(error, BudgetError):
        return "finished"
    return "diverged" if isinstance(error, DivergedError) else "crashed"


def _load_latest(config: Config, paths: RunPaths, logbook: Logbook) -> Checkpoint | None:
    """The newest sound checkpoint of a run that goes on; None to begin it anew."""
    checkpoints.discard_partial(paths)
    path, problems = checkpoints.newest(paths)
    if path is None and problems:
        raise CheckpointError(f"run {paths.name} has no sound checkpoint to go on from: {'; '.join(problems)}")
    if path is None:
        logbook.stands_at(0, 0)
        logbook.event("warning", f"run {paths.name} has no checkpoint yet: it starts from the beginning")
        return None
    saved = checkpoints.load(path)
    logbook.stands_at(saved.meta["step"], saved.meta["update"])
    for problem in problems:
        logbook.event("warning", f"{problem}; using an earlier one")
    used = Clock(config.run, saved.meta["elapsed"], 0, 0).finished(saved.meta["step"], saved.meta["update"])
    if used:
        raise BudgetError(
            f"run {paths.name} has used up its {used}; say how long it may go on in all, for example "
            f"`--{used} {_twice(used, saved):.12g}` beside `--resume {paths.name}`"
        )
    logbook.event("resume", f"resuming from checkpoint {path.name}: update {saved.meta['update']}")
    return saved


def _twice(budget: str, saved: Checkpoint) -> float:
    """Twice what the run has used of a budget, in its unit."""
    used = {"steps": saved.meta["step"], "updates": saved.meta["update"], "minutes": saved.meta["elapsed"] / 60}
    return round(2 * used[budget], 1)
