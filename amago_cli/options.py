"""Options that several commands share, and the completion of names.

The literals repeat those of `agent.config`, whose import costs a third of a second; a test compares them.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Annotated, Literal

import typer

DEFAULT_RUNS_DIR = Path("runs")

Device = Literal["auto", "cpu", "cuda"]
Observation = Literal["symbolic", "crop", "pixels"]
Engine = Literal["fast", "package"]
Reward = Literal["instructions", "crafter"]
Relabel = Literal["none", "some", "all", "all_or_nothing"]
Crossing = Literal["dep", "ind"]


def complete_run(ctx: typer.Context, incomplete: str) -> list[str]:
    """Names of runs that begin with what was typed so far."""
    runs_dir = Path(ctx.params.get("runs_dir") or DEFAULT_RUNS_DIR)
    if not runs_dir.is_dir():
        return []
    with os.scandir(runs_dir) as entries:
        names = sorted(entry.name for entry in entries if entry.is_dir())
    return [name for name in names if name.startswith(incomplete)]


RunsDir = Annotated[Path, typer.Option("--runs-dir", help="Directory of the runs.", metavar="DIR")]
AsJson = Annotated[bool, typer.Option("--json", help="JSON on stdout, everything else on stderr.")]
RunName = Annotated[
    str,
    typer.Argument(metavar="RUN", help="Name or path of a run, or 'latest'.", autocompletion=complete_run),
]


def elsewhere(runs_dir: Path) -> str:
    """What a command that is proposed has to add to find the runs of this directory."""
    return "" if runs_dir.resolve() == DEFAULT_RUNS_DIR.resolve() else f" --runs-dir {shlex.quote(str(runs_dir))}"
