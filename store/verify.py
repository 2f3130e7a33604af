"""Open every file of a run fully, and name those that are damaged.

It knows what each file must hold to be read, but for checkpoints, whose format the agent owns. It changes nothing,
so it works on a medium that cannot be written.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from store.atomic import read_json, read_plain, strangeness
from store.errors import StorageError
from store.events import parse_event
from store.layout import SPLITS, RunPaths, Split, numbered_files
from store.metrics import read_segment
from store.runs import read_config
from store.salvage import Loss, salvage
from store.status import read_status

_MAX_EVENTS_BYTES = 1024**3


@dataclass(frozen=True)
class Damage:
    """A file that is not as it should be."""

    path: Path
    problem: str  # one line, names the file


def verify(paths: RunPaths) -> Iterator[Damage]:
    """Every damaged file of the run outside of its checkpoints."""
    yield from strange_entries(paths)
    yield from damaged_records(paths)
    yield from damaged_metrics(paths)
    for split in SPLITS:
        yield from damaged_shards(paths, split)


def strange_entries(paths: RunPaths) -> Iterator[Damage]:
    """What is neither a plain file nor a directory: a run holds nothing else, and no link leads out of it."""
    for directory, names, files in os.walk(paths.root):
        if Path(directory) == paths.root:
            names[:] = [name for name in names if name != paths.damaged.name]
        for path in (Path(directory) / name for name in sorted(names + files)):
            mode = path.lstat().st_mode
            if not path.is_dir() or path.is_symlink():
                problem = strangeness(mode)
                if problem:
                    yield Damage(path, f"{path} is {problem}; a run consists of plain files and directories")


def damaged_records(paths: RunPaths) -> Iterator[Damage]:
    """Damage to configuration, status, events and the reports' figures."""
    yield from _try(paths.config, lambda path: read_config(paths))
    for path, check in ((paths.status, _check_status), (paths.events, _check_events)):
        if os.path.lexists(path):
            yield from _try(path, check)
    for path in sorted(paths.reports.glob("*.json")):
        yield from _try(path, read_json)


def damaged_metrics(paths: RunPaths) -> Iterator[Damage]:
    """Damaged files of metrics."""
    for _, path in numbered_files(paths.metrics_dir):
        yield from _try(path, read_segment)


def damaged_shards(paths: RunPaths, split: Split) -> Iterator[Damage]:
    """Damaged shards of one split, one entry each; what is lost of them is counted."""
    for _, path in numbered_files(paths.rollouts(split)):
        yield from _try(path, lambda shard: _check_shard(shard, split))


def _try(path: Path, check: Callable[[Path], object]) -> Iterator[Damage]:
    try:
        check(path)
    except StorageError as error:
        yield Damage(path, str(error))


def _check_status(path: Path) -> None:
    read_json(path)
    if read_status(RunPaths(path.parent)) is None:
        raise StorageError(f"{path} is damaged: it is not the status of a run")


def _check_events(path: Path) -> None:
    lines = read_plain(path, _MAX_EVENTS_BYTES).split(b"\n")
    for number, line in enumerate(lines, 1):
        if line and parse_event(line) is None:
            raise StorageError(f"{path} is damaged: line {number} is not an event")


def _check_shard(path: Path, split: Split) -> None:
    problems = [found.problem if isinstance(found, Loss) else "" for found in salvage(path, split)]
    lost = [problem for problem in problems if problem]
    if lost:
        raise StorageError(f"{lost[0]}; {len(lost)} of its {len(problems)} trajectories cannot be read")
