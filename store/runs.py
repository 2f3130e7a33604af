"""Create, find and list runs.

It knows that a run is a directory with a config.json. It does not know what the configuration means.
"""

from __future__ import annotations

import difflib
import platform
import random
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from store.atomic import read_json, write_json
from store.errors import AmagoError, StorageError, storage_guard
from store.layout import RunPaths
from store.schema import SCHEMA_VERSION, check_schema
from store.shipped import shipped_names, unpack
from store.status import Status, describe_state, read_status

LATEST = "latest"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_PACKAGES = ("amago", "crafter", "gymnasium", "h5py", "numpy", "torch")
_ADJECTIVES = "amber bold brisk calm clever eager gentle keen lucky mellow nimble proud quiet swift warm witty"
_ANIMALS = "badger crane falcon finch fox hare heron ibex lynx marten otter owl raven seal stork tapir"


@dataclass(frozen=True)
class RunSummary:
    """One line of the list of runs. `problem` is empty unless the run cannot be read."""

    name: str
    paths: RunPaths
    created: str  # UTC, ISO 8601
    record: dict[str, Any]  # the content of config.json
    status: Status | None
    state: str  # see status.describe_state
    problem: str


def create_run(
    runs_dir: Path, name: str | None, config: dict[str, Any], extra: dict[str, Any] | None = None
) -> RunPaths:
    """Make the directory of a new run and its config.json; a readable random name when `name` is None.

    The record holds schema_version, name, created, versions, config and what `extra` adds (command, seeds).
    Raises AmagoError for a bad name or an existing run, StorageError when the disk refuses.
    """
    if name is not None:
        check_run_name(name)
    paths = _claim_directory(runs_dir, name)
    record = {
        "schema_version": SCHEMA_VERSION,
        "name": paths.name,
        "created": datetime.now(UTC).isoformat(timespec="microseconds"),
        "versions": _versions(),
        "config": config,
        **(extra or {}),
    }
    write_json(paths.config, record, run=paths.name)
    return paths


def open_run(runs_dir: Path, name_or_path: str | Path) -> RunPaths:
    """The run with that name in `runs_dir`, at that path, or the newest one for "latest".

    A run that comes with the package is copied to `runs_dir` when it is first asked for. Raises AmagoError with near
    matches when there is none, StorageError when it may not be looked at.
    """
    text = str(name_or_path)
    if text == LATEST:
        return _newest(runs_dir)
    candidates = [Path(text)] if _looks_like_path(text) else [runs_dir / text, Path(text)]
    for root in candidates:
        paths = RunPaths(root.resolve())
        if _has_config(paths):
            return paths
    if text in shipped_names():
        return unpack(runs_dir, text)
    raise AmagoError(_not_found(runs_dir, text))


def list_runs(runs_dir: Path) -> list[RunSummary]:
    """Every run of `runs_dir`, newest first; a broken one is listed with its problem, never an exception.

    Raises AmagoError when `runs_dir` is no directory, StorageError when it cannot be read.
    """
    summaries = [_summary(RunPaths(path.resolve())) for path in _run_directories(runs_dir)]
    return sorted(summaries, key=lambda summary: (summary.created, summary.name), reverse=True)


def read_config(paths: RunPaths) -> dict[str, Any]:
    """The content of config.json. Raises StorageError when it is damaged or from a newer amago."""
    record = read_json(paths.config)
    if not isinstance(record, dict) or not isinstance(record.get("config"), dict):
        raise StorageError(f"{paths.config} is damaged: it holds no configuration")
    check_schema(record.get("schema_version"), paths.config)
    return record


def check_run_name(name: str) -> None:
    """Raise AmagoError unless `name` is safe as a directory name."""
    if name == LATEST or not _NAME.fullmatch(name):
        allowed = "use up to 64 letters, digits, '.', '_' and '-', beginning with a letter or digit"
        raise AmagoError(f"{name!r} cannot be the name of a run: {allowed} (and not {LATEST!r})")


def check_new_run(runs_dir: Path, name: str) -> None:
    """Raise AmagoError unless a run of that name can be created now; `create_run` alone can promise it."""
    check_run_name(name)
    if (runs_dir / name).exists():
        raise _already_exists(name)


def _already_exists(name: str) -> AmagoError:
    advice = f"continue it with `amago train --resume {name}` or choose another name"
    return AmagoError(f"run {name} already exists; {advice}")


def _claim_directory(runs_dir: Path, name: str | None) -> RunPaths:
    """Making the directory is the claim: of two processes that want one name, only one succeeds."""
    while True:
        paths = RunPaths(runs_dir.resolve() / (name or _random_name()))
        try:
            with storage_guard(paths.root, paths.name):
                paths.root.mkdir(parents=True)
            return paths
        except StorageError as error:
            if not isinstance(error.__cause__, FileExistsError):
                raise
            if name is not None:
                raise _already_exists(name) from error


def _random_name() -> str:
    """Like calm-otter-7; drawn from the system, so that seeding Python's generator does not repeat names."""
    draw = random.SystemRandom()
    return f"{draw.choice(_ADJECTIVES.split())}-{draw.choice(_ANIMALS.split())}-{draw.randrange(1, 1000)}"


def _versions() -> dict[str, str]:
    versions = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions


def _run_directories(runs_dir: Path) -> list[Path]:
    try:
        return [path for path in runs_dir.iterdir() if _is_run(path)]
    except FileNotFoundError:
        return []
    except NotADirectoryError:
        raise AmagoError(f"{runs_dir} is not a directory; give the directory of the runs") from None
    except OSError as error:
        raise StorageError(f"cannot read {runs_dir}: {error.strerror or error}") from error


def _is_run(path: Path) -> bool:
    if path.name.startswith("."):
        return False
    try:
        return RunPaths(path).config.is_file()
    except PermissionError:
        return True  # listed, with the problem that reading it then reports


def _has_config(paths: RunPaths) -> bool:
    try:
        return paths.config.is_file()
    except OSError as error:
        raise StorageError(f"cannot read {paths.root}: {error.strerror or error}") from error


def _newest(runs_dir: Path) -> RunPaths:
    summaries = [summary for summary in list_runs(runs_dir) if not summary.problem]
    if not summaries:
        raise AmagoError(f"there is no run in {runs_dir} yet; start one with `amago train`")
    return summaries[0].paths


def _looks_like_path(text: str) -> bool:
    return "/" in text or text in (".", "..")


def _not_found(runs_dir: Path, text: str) -> str:
    names = [*(path.name for path in _run_directories(runs_dir)), *shipped_names()]
    near = difflib.get_close_matches(text, names, n=3)
    if near:
        return f"there is no run {text!r} in {runs_dir}; did you mean {' or '.join(near)}?"
    return f"there is no run {text!r} in {runs_dir}; `amago runs` lists the runs"


def _summary(paths: RunPaths) -> RunSummary:
    record: dict[str, Any] = {}
    problem = ""
    try:
        record = read_config(paths)
    except StorageError as error:
        problem = str(error)
    status = read_status(paths)
    state = "broken" if problem else describe_state(status)
    created = str(record.get("created", ""))
    return RunSummary(paths.name, paths, created, record, status, state, problem)
