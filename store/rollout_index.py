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

_TEXT_COLUMNS = ("environment", "cause", "game")


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
    diagnosed: np.ndarray  # (N,) bool: it has diagnostics
    game: np.ndarray  # (N,) text, "" where the environment plays one only
    shard: np.ndarray  # (N,) int64: position in `paths`
    row: np.ndarray  # (N,) int64: position within the shard
    paths: tuple[Path, ...]
    goals: np.ndarray  # (sum n,) int16, the goal ids of all instructions, in stored order
    goals_start: np.ndarray  # (N,) int64: where the instruction of trajectory i begins in `goals`

    def __len__(self) -> int:
        return len(self.number)

    @property
    def completed(self) -> np.ndarray:
        """(N,) bool: every subgoal was finished; False without an instruction."""
        return (self.num_subgoals > 0) & (self.progress == self.num_subgoals)

    def instruction(self, i: int) -> tuple[int, ...]:
        """The goal ids of trajectory `i`."""
        start = self.goals_start[i]
        return tuple(self.goals[start : start + self.num_subgoals[i]].tolist())


def join_indexes(shards: Mapping[Path, ShardIndex]) -> Index:
    """The indexes of `shards` as one, sorted by number. A trajectory that two shards hold is taken from the first."""
    tables = [found.records for found in shards.values()]
    records = np.concatenate([np.empty(0, INDEX_DTYPE), *tables])
    goals = np.concatenate([np.empty(0, np.int16), *(found.instruction for found in shards.values())])
    shard = np.repeat(np.arange(len(tables)), [len(table) for table in tables])
    row = np.concatenate([np.empty(0, np.int64), *(np.arange(len(table)) for table in tables)])
    goals_start = np.cumsum(records["num_subgoals"]) - records["num_subgoals"]
    order = np.argsort(records["number"], kind="stable")
    order = order[_first_ones(records, goals, goals_start, order)]
    columns = {name: records[name][order] for name in INDEX_DTYPE.names or ()}
    columns |= {name: np.char.decode(columns[name], "utf-8", "replace") for name in _TEXT_COLUMNS}
    return Index(
        **columns,
        shard=shard[order],
        row=row[order],
        paths=tuple(shards),
        goals=goals,
        goals_start=goals_start[order],
    )


def _first_ones(records: np.ndarray, goals: np.ndarray, goals_start: np.ndarray, order: np.ndarray) -> np.ndarray:
    """(N,) bool, in that order: no earlier trajectory is the same.

    A killed compaction leaves trajectories in the old and the new shard. Two evaluations that ran at the same time
    may have given one number to different trajectories: those both stay.
    """
    if len(np.unique(records["number"])) == len(records):
        return np.ones(len(records), np.bool_)
    seen: set[tuple[bytes, bytes]] = set()
    first = []
    for i in order:
        instruction = goals[goals_start[i] : goals_start[i] + records["num_subgoals"][i]]
        identity = records[i].tobytes(), instruction.tobytes()
        first.append(identity not in seen)
        seen.add(identity)
    return np.array(first, np.bool_)
