"""Queries about runs as a whole: the list, configuration, metrics, events, notes. A part of `dashboard.queries`."""

from __future__ import annotations

import os
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import streamlit as st

from dashboard.stamps import Stamp, stamp
from store.atomic import write_text
from store.errors import AmagoError, StorageError
from store.events import RunEvent, read_events
from store.layout import RunPaths
from store.metrics import Series, read_metrics, read_newest
from store.runs import RunSummary, list_runs, read_config

RUNS_DIR_VARIABLE = "AMAGO_RUNS_DIR"
MAX_NOTES_BYTES = 256 * 1024

_LIST_SECONDS = 2  # age up to which a list of runs is good enough


def runs_dir() -> Path:
    """The directory of the runs that this dashboard shows."""
    return Path(os.environ.get(RUNS_DIR_VARIABLE, "runs")).resolve()


def run_list() -> list[RunSummary]:
    """Every run, newest first. Raises AmagoError when the directory cannot be read."""
    return list(_runs(runs_dir()).values())


@st.cache_resource(ttl=_LIST_SECONDS, max_entries=4, show_spinner=False)
def _runs(directory: Path) -> dict[str, RunSummary]:
    return {each.name: each for each in list_runs(directory)}


def summary(name: str) -> RunSummary:
    """The run of that name. Raises AmagoError with near matches when the list has none."""
    known = _runs(runs_dir())
    if name not in known:
        near = get_close_matches(name, known, n=2, cutoff=0.5)
        advice = f"; did you mean {' or '.join(near)}?" if near else ""
        raise AmagoError(f"there is no run {name!r} in {runs_dir()}{advice}")
    return known[name]


def open_named(name: str) -> RunPaths:
    """The paths of the run of that name; only what the list of runs shows can be opened. Raises AmagoError."""
    return summary(name).paths


def config(name: str) -> dict[str, Any]:
    """The configuration of a run. Raises StorageError when it is damaged or from another version."""
    return read_config(open_named(name))["config"]


def metrics(name: str) -> dict[str, Series]:
    """Every metric of a run by key; empty before the first."""
    paths = open_named(name)
    return _metrics(paths, stamp(paths.metrics_dir))


@st.cache_resource(max_entries=16, show_spinner=False)
def _metrics(paths: RunPaths, seen: Stamp) -> dict[str, Series]:
    return read_metrics(paths)


def newest_metrics(name: str) -> dict[str, float]:
    """The newest value of each metric of a run, without reading all that came before."""
    paths = open_named(name)
    return _newest_metrics(paths, stamp(paths.metrics_dir))


@st.cache_resource(max_entries=1024, show_spinner=False)
def _newest_metrics(paths: RunPaths, seen: Stamp) -> dict[str, float]:
    return read_newest(paths)


def events(name: str, last: int = 200) -> list[RunEvent]:
    """What happened in a run, oldest first."""
    return read_events(open_named(name), last)


def notes(name: str) -> str:
    """What somebody wrote about a run, "" before anybody did. Raises StorageError."""
    path = _notes_path(name)
    try:
        with path.open("rb") as file:
            return file.read(MAX_NOTES_BYTES).decode("utf-8", "replace")
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror or error}") from error


def save_notes(name: str, text: str) -> None:
    """Replace the notes of a run. Raises StorageError when the disk refuses, AmagoError when they are too long."""
    if len(text.encode()) > MAX_NOTES_BYTES:
        raise AmagoError(f"notes can be {MAX_NOTES_BYTES // 1024} kB long at most; keep the rest in a file of your own")
    write_text(_notes_path(name), text, run=name)


def _notes_path(name: str) -> Path:
    return open_named(name).root / "notes.md"
