"""Windows of stored trajectories, by running number: shards stay open, so that a window costs a few small reads.

Memory and open files are bounded whatever the size on disk: of closed shards only the numbers and lengths of their
trajectories are known, and no chunk is kept unpacked. Shards may be added, merged and removed meanwhile. It does not
know what windows are for.
"""

from __future__ import annotations

import resource
import sys
from collections import OrderedDict
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from store.errors import StorageError
from store.hdf5 import damage_guard, opened
from store.layout import numbered_files
from store.rollouts import Stamp, stamp
from store.shard_reader import OpenShard, read_index
from store.trajectory import Trajectory

_Found = TypeVar("_Found")

_NONE = np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class _Known:
    """A closed shard; without any trajectory if it is damaged."""

    stamp: Stamp
    numbers: np.ndarray  # (N,) int64
    lengths: np.ndarray  # (N,) int64


class WindowReader:
    """Reads from the shards of one split in `directory`, of which at most `max_open` are open. For one thread.

    No more either than a quarter of the files that this process may have open. An open shard takes four fifths of a
    megabyte, most of it HDF5's own. A number that two shards hold is read from the first. What is not found is looked
    for once more, in case that its shard has been merged into another one; then StorageError.
    """

    def __init__(self, directory: Path, max_open: int = 256) -> None:
        self._directory = directory
        self._max_open = min(max_open, _many_files())
        self._known: dict[Path, _Known] = {}
        self._open: OrderedDict[Path, tuple[OpenShard, ExitStack]] = OrderedDict()  # the last used at the end
        self._paths: list[Path] = []
        self._numbers, self._shards = _NONE, _NONE  # (N,) of all trajectories, and positions in `_paths`

    @property
    def newest(self) -> int:
        """The highest number at the last refresh; 0 without any trajectory."""
        return int(self._numbers[-1]) if len(self._numbers) else 0

    def __contains__(self, number: int) -> bool:
        """Whether the trajectory was there at the last refresh."""
        return self._path_of(number) is not None

    def refresh(self) -> None:
        """Find what has come, moved and gone, at first all. Costs one small read per new shard."""
        before = self._known
        self._known = {path: self._look_at(path) for _, path in numbered_files(self._directory)}
        for path in [path for path in self._open if self._known.get(path) is not before.get(path)]:
            self._close(path)
        self._paths = list(self._known)
        numbers = np.concatenate([_NONE, *(known.numbers for known in self._known.values())])
        shards = np.repeat(np.arange(len(self._paths)), [len(known.numbers) for known in self._known.values()])
        order = np.argsort(numbers, kind="stable")
        self._numbers, self._shards = numbers[order], shards[order]

    def window(self, number: int, start: int, stop: int) -> Trajectory:
        """Steps [start, stop) of a trajectory as a trajectory; its info and instruction stay whole."""
        return self._read(number, lambda shard, row: shard.window(row, start, stop))

    def observations(self, number: int, start: int, stop: int) -> dict[str, np.ndarray]:
        """Observations [start, stop) of a trajectory by name; the last one follows its last step."""
        return self._read(number, lambda shard, row: shard.observations(row, start, stop))

    def close(self) -> None:
        """Let all files go; they are opened anew when they are needed."""
        for path in list(self._open):
            self._close(path)

    def _read(self, number: int, read: Callable[[OpenShard, int], _Found]) -> _Found:
        try:
            return self._read_known(number, read)
        except StorageError:
            self.refresh()
            return self._read_known(number, read)

    def _read_known(self, number: int, read: Callable[[OpenShard, int], _Found]) -> _Found:
        path = self._path_of(number)
        if path is None:
            raise StorageError(f"rollout {number} is not stored in {self._directory}")
        with damage_guard(path):
            row = int(np.flatnonzero(self._known[path].numbers == number)[0])
            return read(self._opened(path), row)

    def _path_of(self, number: int) -> Path | None:
        i = int(np.searchsorted(self._numbers, number))
        found = i < len(self._numbers) and self._numbers[i] == number
        return self._paths[self._shards[i]] if found else None

    def _opened(self, path: Path) -> OpenShard:
        if path in self._open:
            self._open.move_to_end(path)
            return self._open[path][0]
        with ExitStack() as files:
            known = self._known[path]
            shard = OpenShard(files.enter_context(opened(path, chunk_cache=0)), known.lengths)
            if stamp(path) != known.stamp:  # looked at when it is open: so it is not replaced in between
                raise StorageError(f"{path} has changed")
            self._open[path] = shard, files.pop_all()
        if len(self._open) > self._max_open:
            self._close(next(iter(self._open)))
        return shard

    def _close(self, path: Path) -> None:
        _, files = self._open.pop(path)
        files.close()

    def _look_at(self, path: Path) -> _Known:
        found, known = stamp(path), self._known.get(path)
        if known and known.stamp == found:
            return known
        try:
            records = read_index(path).records
        except StorageError:
            return _Known(found, _NONE, _NONE)
        return _Known(found, records["number"].copy(), records["length"].copy())


def _many_files() -> int:
    """A quarter of the files that this process may have open."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if limit == resource.RLIM_INFINITY else max(limit // 4, 1)
