"""`amago runs`: one line per run, newest first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amago_cli.options import DEFAULT_RUNS_DIR, AsJson, RunsDir, elsewhere
from amago_cli.output import print_json, table

if TYPE_CHECKING:
    from store.runs import RunSummary


def runs(as_json: AsJson = False, runs_dir: RunsDir = DEFAULT_RUNS_DIR) -> None:
    """List the runs."""
    from store.runs import list_runs

    summaries = list_runs(runs_dir)
    if as_json:
        print_json([_record(summary) for summary in summaries])
    elif not summaries:
        print(f'no run in {runs_dir} yet; next: amago train crafter --goals "collect sapling, place plant"')
    else:
        print(table(["run", "state", "steps", "updates", "created", "goals"], [_row(s) for s in summaries]))
        print(f"\nnext: amago show {summaries[0].name}{elsewhere(runs_dir)}")


def _record(summary: RunSummary) -> dict[str, Any]:
    status = summary.status
    return {
        "name": summary.name,
        "path": summary.paths.root,
        "state": summary.state,
        "created": summary.created,
        "step": status.step if status else None,
        "update": status.update if status else None,
        "goals": _goals(summary),
        "problem": summary.problem or None,
    }


def _row(summary: RunSummary) -> list[str]:
    status = summary.status
    steps, updates = (f"{status.step:,}", f"{status.update:,}") if status else ("no data", "no data")
    created = summary.created[:16].replace("T", " ")
    return [summary.name, summary.state, steps, updates, created, summary.problem or _goals(summary)]


def _goals(summary: RunSummary) -> str:
    """The instruction wanted. A record of another version may hold anything."""
    task = summary.record.get("config", {}).get("task")
    return str(task.get("goals", "")) if isinstance(task, dict) else ""
