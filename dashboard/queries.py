"""What the pages ask of the runs directory: the only readers of the store, and the keepers of its caches.

A run is named as in the list of runs; names that lead elsewhere are refused. Everything is cached by what the files
look like from outside (path, time of change, size), so a page shows a running run's newest data and reads nothing
twice. Results are shared between sessions: callers must not change them. No query knows widgets or charts.
"""

from __future__ import annotations

from dashboard.place_queries import PLACES_FROM, place_table
from dashboard.report_queries import report_file, report_problems, reports
from dashboard.rollout_queries import (
    games,
    goal_table,
    rollout_table,
    shard_problems,
    spec,
    trajectories,
    trajectory,
    vocabulary_name,
)
from dashboard.run_queries import (
    config,
    events,
    metrics,
    newest_metrics,
    notes,
    open_named,
    run_list,
    runs_dir,
    save_notes,
    summary,
)

__all__ = [
    "PLACES_FROM",
    "config",
    "events",
    "games",
    "goal_table",
    "metrics",
    "newest_metrics",
    "notes",
    "open_named",
    "place_table",
    "problems",
    "report_file",
    "reports",
    "rollout_table",
    "run_list",
    "runs_dir",
    "save_notes",
    "spec",
    "summary",
    "trajectories",
    "trajectory",
    "vocabulary_name",
]


def problems(name: str) -> list[str]:
    """One line for each damaged shard and report of a run; what they held is missing from every page."""
    return shard_problems(name) + report_problems(name)
