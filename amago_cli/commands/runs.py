"""`amago runs`: one line per run, newest first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amago_cli.options import DEFAULT_RUNS_DIR, AsJson, RunsDir, elsewhere
from amago_cli.output import print_json, table

if TYPE_CHECKING:
    from store.runs import RunSummary


HEADER = ["run", "state", "steps", "updates", "created", "environment", "goals"]


def runs(as_json: AsJson = False, runs_dir: RunsDir = DEFAULT_RUNS_DIR) -> None:
    """List the runs."""
    from store.runs import list_runs

    summaries = list_runs(runs_dir)
    if as_json:
        print_json([_record(summary) for summary in summaries])
    elif not summaries:
        print(f'no run in {runs_dir} yet; next: amago train crafter --goals "collect sapling, place plant"')
    else:
        print(table(HEADER, [_row(summary) for summary in summaries]))
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
        "environment": _setting(summary, "env", "name"),
        "goals": _setting(summary, "task", "goals"),
        "problem": summary.problem or None,
    }


def _row(summary: RunSummary) -> list[str]:
    status = summary.status
    steps, updates = (f"{status.step:,}", f"{status.update:,}") if status else ("no data", "no data")
    created = summary.created[:16].replace("T", " ")
    environment = next(filter(None, (_setting(summary, "env", key) for key in ("id", "target", "name"))), "")
    about = summary.problem or _setting(summary, "task", "goals")
    return [summary.name, summary.state, steps, updates, created, environment, about]


def _setting(summary: RunSummary, section: str, key: str) -> str:
    """A text of its configuration. A record of another version may hold anything."""
    content = summary.record.get("config", {}).get(section)
    return str(content.get(key, "")) if isinstance(content, dict) else ""
