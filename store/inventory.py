"""What a run has on disk, in figures: trajectories, metrics, checkpoints, and the room they take.

It reads indexes and sizes, no step, and changes nothing. What it cannot read counts as bytes and as a problem.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from store.errors import StorageError
from store.hdf5 import get_attribute, reading
from store.layout import RunPaths, Split, numbered_files
from store.metrics import read_segment
from store.rollouts import RolloutReader


@dataclass(frozen=True)
class SplitInventory:
    """The trajectories of one split. Times are seconds since 1970, when the shard was sealed; None without a shard."""

    shards: int
    bytes: int
    trajectories: int
    steps: int
    bytes_per_step: float | None
    oldest: float | None
    newest: float | None
    first_number: int | None
    last_number: int | None
    schema_versions: dict[int, int]  # version -> shards
    problems: list[str]


@dataclass(frozen=True)
class MetricsInventory:
    """The metrics of a run."""

    files: int
    bytes: int
    rows: int
    keys: int
    problems: list[str]


def split_inventory(paths: RunPaths, split: Split) -> SplitInventory:
    """What the shards of one split hold."""
    reader = RolloutReader(paths.rollouts(split))
    index = reader.index()
    files = [path for _, path in numbered_files(reader.directory)]
    stats = [path.lstat() for path in files]
    steps, num_bytes = int(index.length.sum()), sum(stat.st_size for stat in stats)
    return SplitInventory(
        shards=len(files),
        bytes=num_bytes,
        trajectories=len(index),
        steps=steps,
        bytes_per_step=num_bytes / steps if steps else None,
        oldest=min((stat.st_mtime for stat in stats), default=None),
        newest=max((stat.st_mtime for stat in stats), default=None),
        first_number=int(index.number[0]) if len(index) else None,
        last_number=int(index.number[-1]) if len(index) else None,
        schema_versions=dict(Counter(map(_schema_version, index.paths))),
        problems=reader.problems,
    )


def metrics_inventory(paths: RunPaths) -> MetricsInventory:
    """What the files of metrics hold."""
    files = [path for _, path in numbered_files(paths.metrics_dir)]
    rows, keys, problems = 0, set(), []
    for path in files:
        try:
            segment = read_segment(path)
        except StorageError as error:
            problems.append(str(error))
            continue
        rows += len(segment.rows)
        keys.update(segment.names)
    return MetricsInventory(len(files), sum(path.lstat().st_size for path in files), rows, len(keys), problems)


def checkpoint_sizes(paths: RunPaths) -> dict[int, int]:
    """Step -> bytes of every checkpoint, in order."""
    if not paths.checkpoints.is_dir():
        return {}
    folders = [path for path in paths.checkpoints.iterdir() if path.name.isdecimal()]
    return {int(path.name): tree_size(path) for path in sorted(folders, key=lambda path: int(path.name))}


def tree_size(directory: Path) -> int:
    """Bytes of all files below a directory, without following links."""
    return sum(path.lstat().st_size for path in directory.rglob("*") if path.is_symlink() or not path.is_dir())


def _schema_version(shard: Path) -> int:
    with reading(shard) as file:
        return int(get_attribute(file, "schema_version"))
