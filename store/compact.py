"""Make few large shards of many small ones, and drop old training trajectories if asked to.

Never is there a moment at which a reader misses a trajectory or sees it twice: the merged shard takes the place of
the first of those it is made of, and only then the others go. Between the two, and after a kill there, readers take a
trajectory that lies in two shards once (`store.rollout_index`). The caller holds the run's lock. It does not know
which trajectories are worth keeping.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from store.atomic import write_bytes
from store.errors import StorageError, storage_guard
from store.layout import RunPaths, Split
from store.rollout_index import Index
from store.rollouts import RolloutReader, alone_in
from store.shard import encode_shard
from store.shard_reader import read_spec, read_trajectories
from store.trajectory import Trajectory

MERGED_BYTES = 64 * 1024**2  # of arrays in memory: what has to be held at once

_Kind = tuple[Any, ...]


@dataclass
class Group:
    """Shards that become one, and the trajectories that stay of them, in order."""

    paths: list[Path] = field(default_factory=list)
    trajectories: list[Trajectory] = field(default_factory=list)
    dropped: int = 0  # trajectories
    num_bytes: int = 0
    old_size: int = 0  # bytes on disk

    @property
    def changes(self) -> bool:
        return len(self.paths) > 1 or self.dropped > 0


def plan_groups(directory: Path, keep: np.ndarray | None = None, limit: int = MERGED_BYTES) -> Iterator[Group]:
    """The shards of a split in groups that stay within `limit`, those of one environment in a row.

    `keep` (N,) bool says of each trajectory of the index whether it stays. Damaged shards are left where they are.
    """
    index = RolloutReader(directory).index()
    kept = _kept_rows(index, keep)
    group, kind = Group(), None
    for shard, path in enumerate(index.paths):
        try:
            staying = read_trajectories(path, [row for row, stays in kept[shard] if stays])
            spec = read_spec(path)
        except StorageError:
            continue
        size = sum(trajectory.num_bytes for trajectory in staying)
        this = (spec, _arrays_of(staying[0])) if staying else kind
        if group.paths and (group.num_bytes + size > limit or (kind is not None and this != kind)):
            yield group
            group, kind = Group(), None
        kind = kind or this
        _add(group, path, staying, sum(not stays for _, stays in kept[shard]), size)
    if group.paths:
        yield group


def merge(paths: RunPaths, split: Split, group: Group) -> int:
    """Publish a group as one shard in the place of its first; returns the bytes that this freed."""
    first, *others = group.paths
    directory = paths.rollouts(split)
    with storage_guard(directory, paths.name), alone_in(directory):
        new_size = 0
        if group.trajectories:
            data = encode_shard(group.trajectories, split, read_spec(first))
            write_bytes(first, data, run=paths.name)
            new_size = len(data)
        else:
            first.unlink()
        for path in others:
            path.unlink()
    return group.old_size - new_size


def _kept_rows(index: Index, keep: np.ndarray | None) -> list[list[tuple[int, bool]]]:
    """For each shard the rows that the index takes from it, in order, and whether they stay.

    Rows that the index takes from another shard, copies after a kill, are in no list: so they go.
    """
    rows: list[list[tuple[int, bool]]] = [[] for _ in index.paths]
    for i in range(len(index)):
        rows[index.shard[i]].append((int(index.row[i]), keep is None or bool(keep[i])))
    return [sorted(found) for found in rows]


def _add(group: Group, path: Path, staying: list[Trajectory], dropped: int, size: int) -> None:
    group.paths.append(path)
    group.trajectories += staying
    group.dropped += dropped
    group.num_bytes += size
    group.old_size += path.stat().st_size


def _arrays_of(trajectory: Trajectory) -> _Kind:
    """Type and shape of a row of every array that differs between environments."""
    arrays = {**trajectory.observations, "actions": trajectory.actions}
    return tuple((name, array.dtype, array.shape[1:]) for name, array in sorted(arrays.items()))
