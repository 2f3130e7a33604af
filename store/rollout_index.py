"""All trajectories of some shards as columns: what tables, filters and statistics need, without any step.

It knows how indexes of shards combine. It opens no files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from store.shard import INDEX_DTYPE
from store.shard_reader import ShardIndex

_TEXT_COLUMNS = ("environment", "cause")


@dataclass(frozen=True, eq=False)
class Index:
    """All trajectories in order of number: entry i of every column belongs to trajectory i."""

    number: np.ndarray  # (N,) int64
    seed: np.ndarray  # (N,) int64
    actor: np.ndarray  # (N,) int64
    wanted: np.ndarray  # (N,) bool
    policy_update: np.ndarray  # (N,) int64
    step: np.ndarray  # (N,) int64
    epsilon: np.ndarray  # (N,) float64
    length: np.ndarray  # (N,) int64
    num_subgoals: np.ndarray  # (N,) int64
    num_events: np.ndarray  # (N,) int64
    progress: np.ndarray  # (N,) int64: subgoals finished at the end
    ret: np.ndarray  # (N,) float64
    environment: np.ndarray  # (N,) text
    cause: np.ndarray  # (N,) text
    shard: np.ndarray  # (N,) int64: position in `paths`
    row: np.ndarray  # (N,) int64: position within the shard
    paths: tuple[Path, ...]
    _goals: np.ndarray  # (sum n,) int16, in stored order
    _goals_start: np.ndarray  # (N,) int64

    def __len__(self) -> int:
        return len(self.number)

    @property
    def completed(self) -> np.ndarray:
        """(N,) bool: every subgoal was finished; False without an instruction."""
        return (self.num_subgoals > 0) & (self.progress == self.num_subgoals)

    def instruction(self, i: int) -> tuple[int, ...]:
        """The goal ids of trajectory `i`."""
        start = self._goals_start[i]
        return tuple(self._goals[start : start + self.num_subgoals[i]].tolist())


def join_indexes(shards: Mapping[Path, ShardIndex]) -> Index:
    """The indexes of `shards` as one, sorted by number."""
    tables = [found.records for found in shards.values()]
    records = np.concatenate([np.empty(0, INDEX_DTYPE), *tables])
    goals = np.concatenate([np.empty(0, np.int16), *(found.instruction for found in shards.values())])
    shard = np.repeat(np.arange(len(tables)), [len(table) for table in tables])
    row = np.concatenate([np.empty(0, np.int64), *(np.arange(len(table)) for table in tables)])
    goals_start = np.cumsum(records["num_subgoals"]) - records["num_subgoals"]
    order = np.argsort(records["number"], kind="stable")
    columns = {name: records[name][order] for name in INDEX_DTYPE.names or ()}
    columns |= {name: np.char.decode(columns[name], "utf-8", "replace") for name in _TEXT_COLUMNS}
    return Index(
        **columns,
        shard=shard[order],
        row=row[order],
        paths=tuple(shards),
        _goals=goals,
        _goals_start=goals_start[order],
    )
