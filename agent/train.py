"""A training run from its first step, or from its last checkpoint, to its budget."""

from __future__ import annotations

import os
import threading

import torch

from agent import checkpoint as checkpoints
from agent.checkpoint import Checkpoint
from agent.clock import Clock
from agent.config import Config
from agent.heartbeat import Heartbeat
from agent.progress import Event, Listener
from agent.trainer import Outcome, Trainer
from store.errors import AmagoError, CheckpointError, DivergedError
from store.layout import RunPaths


def train(config: Config, paths: RunPaths, *, resume: bool, notify: Listener, stop: threading.Event) -> Outcome:
    """Train until the budget is used up or `stop` is set, then write a checkpoint.

    The caller holds the run's lock. Errors leave the last checkpoint as it is and are told in status.json.
    """
    torch.set_num_threads(config.run.threads or os.cpu_count() or 1)
    saved = _load_latest(config, paths, notify) if resume else None
    heartbeat = Heartbeat(paths)
    torch.set_flush_denormal(True)  # probabilities of far value bins underflow, and denormals are slow
    try:
        with Trainer(config, paths, saved, heartbeat, notify) as trainer:
            outcome = trainer.run(stop)
    except BaseException as error:
        heartbeat.end("diverged" if isinstance(error, DivergedError) else "crashed", str(error) or repr(error))
        raise
    finally:
        torch.set_flush_denormal(False)
    heartbeat.end("stopped" if outcome.reason == "stopped" else "finished", outcome.reason)
    return outcome


def _load_latest(config: Config, paths: RunPaths, notify: Listener) -> Checkpoint | None:
    """The newest sound checkpoint of a run that goes on; None to begin it anew."""
    checkpoints.discard_partial(paths)
    path, problems = checkpoints.newest(paths)
    if path is None and problems:
        raise CheckpointError(f"run {paths.name} has no sound checkpoint to go on from: {'; '.join(problems)}")
    if path is None:
        notify(Event("warning", f"run {paths.name} has no checkpoint yet: it starts from the beginning"))
        return None
    for problem in problems:
        notify(Event("warning", f"{problem}; using an earlier one"))
    saved = checkpoints.load(path)
    used = Clock(config.run, saved.meta["elapsed"], 0, 0).finished(saved.meta["step"])
    if used:
        raise AmagoError(
            f"run {paths.name} has used up its {used}; say how long it may go on in all, for example "
            f"`--{used} {_twice(used, saved):g}` beside `--resume {paths.name}`"
        )
    notify(Event("info", f"resuming from checkpoint {path.name}: update {saved.meta['update']}"))
    return saved


def _twice(budget: str, saved: Checkpoint) -> float:
    """Twice what the run has used of a budget, in its unit."""
    return 2 * saved.meta["step"] if budget == "steps" else round(2 * saved.meta["elapsed"] / 60, 1)
