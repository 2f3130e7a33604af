"""`amago background`, which people do not type: the trainer that `amago train` starts in the background."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Annotated

import typer

from amago_cli import train_options, training
from amago_cli.background import CappedLog
from amago_cli.configure import parse_assignments
from amago_cli.displays import PlainDisplay


def trainer(
    run: Annotated[Path, typer.Argument(metavar="RUN_PATH", help="Directory of the run.")],
    resume: Annotated[bool, typer.Option("--resume", help="Go on from its last checkpoint.")] = False,
    assignments: train_options.Assignments = None,
) -> None:
    """Train a run that exists, saying all there is to say in its trainer.log."""
    from store.runs import open_run

    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # a terminal that goes away is none of its business
    paths = open_run(run.parent, run.resolve())
    config = training.resumed_config(paths, parse_assignments(assignments or []))
    training.train_here(paths, config, PlainDisplay(CappedLog(paths.trainer_log)), resume=resume)
