"""Queries about evaluation reports. A part of `dashboard.queries`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from dashboard.run_queries import open_named
from dashboard.stamps import Stamp, stamp
from store.atomic import read_json
from store.errors import StorageError

MAX_REPORT_BYTES = 64 * 1024**2


def reports(name: str) -> list[dict[str, Any]]:
    """The evaluation reports of a run, the newest last, each with its file name under "file"."""
    return _reports(*_reports_key(name))[0]


def _reports_key(name: str) -> tuple[Path, Stamp]:
    directory = open_named(name).reports
    return directory, stamp(directory, ".json")


@st.cache_resource(max_entries=32, show_spinner=False)
def _reports(directory: Path, seen: Stamp) -> tuple[list[dict[str, Any]], list[str]]:
    """The sound reports, and a line for each of the others."""
    found, damaged = [], []
    for file, _, size in sorted(seen, key=lambda each: (each[1], each[0])):  # names begin with the step
        try:
            found.append(_read_report(directory / file, size) | {"file": file})
        except StorageError as error:
            damaged.append(str(error))
    return found, damaged


def _read_report(path: Path, size: int) -> dict[str, Any]:
    if size > MAX_REPORT_BYTES:
        raise StorageError(f"{path} is too large for a report ({size:,} bytes)")
    report = read_json(path)
    if not isinstance(report, dict) or not isinstance(report.get("agent"), dict):
        raise StorageError(f"{path} is no evaluation report")
    return report


def report_file(name: str, file: str) -> bytes | None:
    """The content of a file beside the reports of a run, None where there is none. Raises StorageError."""
    path = open_named(name).reports / file
    if Path(file).name != file or path.is_symlink() or not path.is_file():
        return None
    try:
        return path.read_bytes()
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror or error}") from error


def report_problems(name: str) -> list[str]:
    """One line for each report of a run that cannot be read."""
    return _reports(*_reports_key(name))[1]
