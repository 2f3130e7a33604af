"""Put a damaged run in order: what is sound stays or is recovered, what is damaged moves to damaged/, nothing is lost.

Works on all files but checkpoints, whose format the agent owns. The caller holds the run's lock.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from store.atomic import TEMPORARY_SUFFIX, sync_directory, write_bytes
from store.errors import StorageError, storage_guard
from store.events import parse_event
from store.layout import SPLITS, RunPaths, Split
from store.rollouts import alone_in
from store.salvage import salvage
from store.shard import encode_shard
from store.shard_reader import read_spec
from store.trajectory import Trajectory
from store.verify import damaged_metrics, damaged_records, damaged_shards


@dataclass(frozen=True)
class Mending:
    """One thing to put in order."""

    text: str  # what is wrong and what becomes of it
    apply: Callable[[], object]


def plan_repair(paths: RunPaths) -> Iterator[Mending]:
    """What is to be mended, in order; each may be applied before the next is looked for. Changes nothing itself."""
    require_inside(paths)
    yield from _leftovers(paths)
    for damage in damaged_records(paths):
        if damage.path == paths.events:
            yield Mending(f"{damage.problem}; its other lines are kept", partial(_mend_events, paths))
        elif damage.path != paths.config:  # nothing can replace it
            yield _moving(paths, damage.path, damage.problem)
    for damage in damaged_metrics(paths):
        yield _moving(paths, damage.path, damage.problem)
    for split in SPLITS:
        for damage in damaged_shards(paths, split):
            found = len(_sound(damage.path, split))
            text = f"{damage.problem}; {found} recovered"
            yield Mending(text, partial(_mend_shard, paths, split, damage.path))


def require_inside(paths: RunPaths) -> None:
    """StorageError if a directory of the run is a link: what it leads to is not ours to change."""
    rollouts = [paths.rollouts(split) for split in SPLITS]
    for directory in (
        *rollouts,
        rollouts[0].parent,
        paths.metrics_dir,
        paths.checkpoints,
        paths.reports,
        paths.damaged,
    ):
        if directory.is_symlink():
            raise StorageError(f"{directory} is a link that leads out of the run; put the directory itself there")


def set_aside(paths: RunPaths, path: Path) -> Path:
    """Move a file or directory of the run into damaged/, under the same path there; returns where it is now."""
    target = _free_place(paths, path)
    with storage_guard(target, paths.name):
        target.parent.mkdir(parents=True, exist_ok=True)
        path.rename(target)
        sync_directory(target.parent)
    return target


def _moving(paths: RunPaths, path: Path, problem: str) -> Mending:
    return Mending(f"{problem}; moved to {paths.damaged.name}/", partial(set_aside, paths, path))


def _leftovers(paths: RunPaths) -> Iterator[Mending]:
    """Files that a killed writer had not published."""
    for path in sorted(paths.root.rglob(f"*{TEMPORARY_SUFFIX}")):
        if not path.is_relative_to(paths.damaged) and not path.is_dir():
            yield Mending(f"{path} was left by a killed process; removed", path.unlink)


def _mend_events(paths: RunPaths) -> None:
    """Keep the lines that are events."""
    aside = set_aside(paths, paths.events)
    if aside.is_symlink() or not aside.is_file():
        return
    lines = [line for line in aside.read_bytes().split(b"\n") if parse_event(line) is not None]
    write_bytes(paths.events, b"".join(line + b"\n" for line in lines), run=paths.name)


def _mend_shard(paths: RunPaths, split: Split, path: Path) -> None:
    """Publish what is sound under the same number, and keep the damaged file.

    It is in both places before the new one takes over, so a kill leaves the damaged shard to be mended again.
    """
    found = _sound(path, split)
    if not found:
        set_aside(paths, path)
        return
    target = _free_place(paths, path)
    data = encode_shard(found, split, read_spec(path))
    with storage_guard(target, paths.name):
        target.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(target, path.read_bytes(), run=paths.name)
    with alone_in(path.parent):
        write_bytes(path, data, run=paths.name)


def _sound(path: Path, split: Split) -> list[Trajectory]:
    try:
        return [found for found in salvage(path, split) if isinstance(found, Trajectory)]
    except StorageError:
        return []


def _free_place(paths: RunPaths, path: Path) -> Path:
    place = paths.damaged / path.relative_to(paths.root)
    number = 1
    while os.path.lexists(place):
        number += 1
        place = place.with_name(f"{path.name}.{number}")
    return place
