"""`amago watch`: the live screen of a run; lines where no screen can be drawn."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from amago_cli.options import DEFAULT_RUNS_DIR, AsJson, RunsDir, complete_run

Run = Annotated[
    str,
    typer.Argument(metavar="[RUN]", help="Name or path of a run; without one the newest.", autocompletion=complete_run),
]
Plain = Annotated[bool, typer.Option("--plain", help="A line every ten seconds instead of the screen.")]


def watch(run: Run = "latest", plain: Plain = False, as_json: AsJson = False, runs_dir: RunsDir = DEFAULT_RUNS_DIR):
    """Watch a run, live: success by goal, curves, the agent's world. Leaving does not stop it."""
    from amago_cli.tui import run as screen
    from store.runs import LATEST, list_runs, open_run

    is_screen = not plain and not as_json and screen.capable(sys.stdout)
    if is_screen and run == LATEST and not list_runs(runs_dir):
        raise typer.Exit(screen.watch(runs_dir, None, owns_trainer=False))
    paths = open_run(runs_dir, run)
    if is_screen:
        raise typer.Exit(screen.watch(runs_dir, paths, owns_trainer=False))
    from amago_cli.tui.plain import follow

    raise typer.Exit(follow(paths, as_json=as_json))
