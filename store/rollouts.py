"""The stored experience of a run: trajectories go into numbered shards and come back by position.

A writer gathers trajectories in memory and now and then seals them into a new shard; sealed shards never
change, but `store.compact` may put one in the place of several. A reader may look while a run is going on: it
opens, reads and closes, and passes over damaged shards. Neither knows how a trajectory came about.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from store.atomic import TEMPORARY_SUFFIX, read_plain, write_bytes, write_text
from store.errors import StorageError, storage_guard
from store.layout import RunPaths, Split, next_number, numbered_files
from store.rollout_index import Index, join_indexes
from store.shard import encode_shard
from store.shard_reader import ShardIndex, read_index, read_spec, read_trajectories
from store.trajectory import Trajectory, validate

_MAX_NUMBER_BYTES = 18  # digits: it fits 64 bits

Stamp = tuple[int, int] | None  # time of change in nanoseconds and size; None when the file is gone


class RolloutWriter:
    """Appends the trajectories of one split of a run; the holder of the run's lock has one per split.

    A shard is sealed by the append() that finds `max_bytes` gathered or the oldest trajectory waiting for
    `max_seconds`; a killed process loses what waits. Appended arrays must not be changed by the caller.
    """

    def __init__(
        self,
        paths: RunPaths,
        split: Split,
        *,
        spec: dict[str, Any],
        max_bytes: int = 16 * 1024**2,
        max_seconds: float = 30.0,
    ) -> None:
        self._paths = paths
        self._split: Split = split
        self._spec = spec
        self._max_bytes = max_bytes
        self._max_seconds = max_seconds
        self._waiting: list[Trajectory] = []
        self._waiting_bytes = 0
        self._oldest = 0.0  # monotonic seconds at which the first waiting trajectory came
        directory = paths.rollouts(split)
        with storage_guard(directory, paths.name):
            directory.mkdir(parents=True, exist_ok=True)
            with alone_in(directory):
                for leftover in directory.glob(f"*{TEMPORARY_SUFFIX}"):
                    leftover.unlink()
        self._next_number = _last_trajectory_number(directory) + 1

    def append(self, trajectory: Trajectory) -> int:
        """Take a trajectory and return its number: its own, or the next free one when it has none (-1).

        No other writer gives that one too, also while none of it is sealed: evaluations of a run may end together.
        Raises ValueError for a trajectory that breaks the contract, StorageError when a shard cannot be
        written; the trajectories then wait on.
        """
        validate(trajectory)
        assert trajectory.info.split == self._split, (trajectory.info.split, self._split)
        assert not self._waiting or _kinds(trajectory) == _kinds(self._waiting[0]), "one environment per run"
        if trajectory.info.number < 0:
            trajectory = replace(trajectory, info=replace(trajectory.info, number=self._claim_number()))
        self._next_number = max(self._next_number, trajectory.info.number + 1)
        if not self._waiting:
            self._oldest = time.monotonic()
        self._waiting.append(trajectory)
        self._waiting_bytes += trajectory.num_bytes
        if self._is_due():
            self.seal()
        return trajectory.info.number

    def seal(self) -> Path | None:
        """Publish what waits as the next shard; None when nothing does. Raises StorageError."""
        if not self._waiting:
            return None
        data = encode_shard(self._waiting, self._split, self._spec)
        directory = self._paths.rollouts(self._split)
        with storage_guard(directory, self._paths.name), alone_in(directory):
            path = self._paths.shard(self._split, next_number(directory))
            write_bytes(path, data, run=self._paths.name)
        self._waiting, self._waiting_bytes = [], 0
        return path

    def close(self) -> None:
        """Publish what waits."""
        self.seal()

    def _claim_number(self) -> int:
        path = self._paths.last_number(self._split)
        with storage_guard(path, self._paths.name), alone_in(self._paths.rollouts(self._split)):
            number = max(self._next_number, _last_claim(path) + 1)
            write_text(path, f"{number}", durable=False, run=self._paths.name)
        return number

    def _is_due(self) -> bool:
        waited = time.monotonic() - self._oldest
        return waited >= self._max_seconds or self._waiting_bytes >= self._max_bytes


class RolloutReader:
    """Reads the shards of one split, also while they are being added. Positions refer to the last index()."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._shards: dict[Path, tuple[Stamp, ShardIndex | str]] = {}  # what was found, or what is wrong
        self._index: Index | None = None

    @property
    def problems(self) -> list[str]:
        """One line for each damaged shard that was passed over."""
        return [found for _, found in self._shards.values() if isinstance(found, str)]

    def index(self) -> Index:
        """Everything there is by now. Costs one small read per shard that is new since the last call.

        A shard that vanishes meanwhile has been merged into another one: then everything is looked at once more.
        """
        listed = self._listed()
        while True:
            self._shards = {path: self._look_at(path) for path in listed}
            unreadable = {path for path, (_, found) in self._shards.items() if isinstance(found, str)}
            listed = self._listed()
            if unreadable.issubset(listed):
                break
        sound = {path: found for path, (_, found) in self._shards.items() if isinstance(found, ShardIndex)}
        self._index = join_indexes(sound)
        return self._index

    def load(self, i: int) -> Trajectory:
        """Trajectory `i` of the last index(), where it was or where it has been moved since.

        Raises StorageError naming the shard when it is damaged.
        """
        place = self._place(i)
        try:
            return self._read(i, *place)
        except StorageError:
            moved = self._look_again(i)
            if moved in (None, place):
                raise
            return self._read(i, *moved)

    def spec(self, i: int) -> dict[str, Any]:
        """The description of the environment that trajectory `i` was stored with."""
        return read_spec(self._place(i)[0])

    def __iter__(self) -> Iterator[Trajectory]:
        """All trajectories in order of number, shard by shard; a damaged shard becomes a problem."""
        index = self.index()
        for shard, group in groupby(range(len(index)), key=lambda i: index.shard[i]):
            path, positions = index.paths[shard], list(group)
            try:
                yield from self._read_shard(path, positions)
            except StorageError as error:
                self._shards[path] = (self._shards[path][0], str(error))

    def _read_shard(self, path: Path, positions: list[int]) -> list[Trajectory]:
        """These trajectories, which were in the shard `path` at the last index()."""
        index = self._current()
        if stamp(path) == self._shards[path][0]:
            return read_trajectories(path, [int(index.row[i]) for i in positions])
        return [self.load(i) for i in positions]

    def _read(self, i: int, path: Path, row: int) -> Trajectory:
        """Trajectory `i` if it is there. Raises StorageError if the shard has been replaced."""
        (found,) = read_trajectories(path, [row])
        index = self._current()
        if (found.info.number, found.info.seed) != (index.number[i], index.seed[i]):
            raise StorageError(f"{path} has changed; read the index again")
        return found

    def _look_again(self, i: int) -> tuple[Path, int] | None:
        """Where trajectory `i` of the last index() is now; None when it is nowhere."""
        old, fresh = self._current(), RolloutReader(self.directory)
        now = fresh.index()
        same = np.flatnonzero((now.number == old.number[i]) & (now.seed == old.seed[i]))
        return fresh._place(int(same[0])) if len(same) else None

    def _listed(self) -> list[Path]:
        return [path for _, path in numbered_files(self.directory)]

    def _look_at(self, path: Path) -> tuple[Stamp, ShardIndex | str]:
        found, known = stamp(path), self._shards.get(path)
        if known and known[0] == found:
            return known
        try:
            return found, read_index(path)
        except StorageError as error:
            return found, str(error)

    def _current(self) -> Index:
        return self._index if self._index is not None else self.index()

    def _place(self, i: int) -> tuple[Path, int]:
        index = self._current()
        return index.paths[index.shard[i]], int(index.row[i])


@contextmanager
def alone_in(directory: Path) -> Iterator[None]:
    """Within the block no other writer publishes here: evaluations of one run may end at the same time."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def stamp(path: Path) -> Stamp:
    """What changes when a file is replaced; shards are immutable, but somebody may repair one."""
    try:
        status = path.lstat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _kinds(trajectory: Trajectory) -> dict[str, tuple[np.dtype, tuple[int, ...]]]:
    """Type and shape of a row of every array that differs between environments."""
    arrays = {**trajectory.observations, "actions": trajectory.actions}
    return {name: (array.dtype, array.shape[1:]) for name, array in arrays.items()}


def _last_claim(path: Path) -> int:
    """The number in a file, 0 without one."""
    with suppress(StorageError, ValueError):
        return int(read_plain(path, _MAX_NUMBER_BYTES))
    return 0


def _last_trajectory_number(directory: Path) -> int:
    """The highest number in the newest readable shard, 0 without one."""
    for _, path in reversed(numbered_files(directory)):
        with suppress(StorageError):
            return int(read_index(path).records["number"].max(initial=0))
    return 0
