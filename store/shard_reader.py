"""Reading one rollout shard, which may be damaged or come from a stranger.

Every part is checked against the index before a step is read from it; whatever is wrong becomes a
StorageError that names the file. It knows one shard at a time; which ones stay open is not decided here.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from store.hdf5 import check_attribute, get_attribute, get_group, get_rows, get_table, get_text, read_rows, reading
from store.layout import SPLITS
from store.schema import check_schema
from store.shard import KIND, STATE_FIELDS, STEP_FIELDS, index_dtype, upgraded
from store.trajectory import Trajectory, TrajectoryInfo, validate


@dataclass(frozen=True, eq=False)
class ShardIndex:
    """What a shard says about its trajectories without their steps."""

    records: np.ndarray  # (N,) INDEX_DTYPE
    instruction: np.ndarray  # (sum n,) int16


def read_index(path: Path) -> ShardIndex:
    """The index of a shard, without a look at its steps. Raises StorageError when it is damaged."""
    with reading(path) as file:
        return _read_index(file)


def read_spec(path: Path) -> dict[str, Any]:
    """The description of the environment in a shard. Raises StorageError."""
    with reading(path) as file:
        spec = json.loads(get_text(file, "environment"))
        if not isinstance(spec, dict):
            raise ValueError("environment is not a JSON object")
        return spec


def read_trajectories(path: Path, rows: Sequence[int]) -> list[Trajectory]:
    """The trajectories in these rows of a shard's index. Raises StorageError, also when a part of it is unsound."""
    with reading(path) as file:
        shard = OpenShard(file)
        shard.check()
        return [shard.window(row, 0, int(shard.index.records["length"][row])) for row in rows]


class OpenShard:
    """A shard that its user has opened. Each part is checked against the index when it is first read from.

    What is wrong comes as HDF5 or numpy says it: see `store.hdf5.damage_guard`.
    """

    def __init__(self, file: h5py.File, lengths: np.ndarray | None = None) -> None:
        """`lengths` (N,) of the trajectories, if the index has been read before: half of what opening costs."""
        self._file = file
        self._lengths = self.index.records["length"] if lengths is None else lengths
        self._num_steps = int(self._lengths.sum())
        self._num_states = self._num_steps + len(self._lengths)

    def check(self) -> None:
        """Open all parts."""
        _ = self._split, self._observations, self._states, self._steps, self._diagnostics, self._events

    def window(self, row: int, start: int, stop: int) -> Trajectory:
        """Steps [start, stop) of one trajectory, with the observations around them and the events among them."""
        self._require_states(row, start, stop + 1)
        records = self.index.records
        first = _begin(self._lengths, row) + start
        steps, states = (first, first + stop - start), (first + row, first + row + stop - start + 1)
        events = self._events[_span(records["num_events"], row)]
        trajectory = Trajectory(
            observations={name: read_rows(data, *states) for name, data in self._observations.items()},
            **{name: read_rows(data, *states) for name, data in self._states.items()},
            **{name: read_rows(data, *steps) for name, data in self._steps.items()},
            instruction=self.index.instruction[_span(records["num_subgoals"], row)],
            events=_events_within(events, start, stop),
            info=info_of(records[row], self._split),
            diagnostics=self._read_diagnostics(row, start, stop),
        )
        validate(trajectory)
        return trajectory

    def observations(self, row: int, start: int, stop: int) -> dict[str, np.ndarray]:
        """Observations [start, stop) of one trajectory, of which there is one more than steps."""
        self._require_states(row, start, stop)
        first = _begin(self._lengths, row) + row + start
        return {name: read_rows(data, first, first + stop - start) for name, data in self._observations.items()}

    def _require_states(self, row: int, start: int, stop: int) -> None:
        length = int(self._lengths[row])
        if not 0 <= start < stop <= length + 1:
            raise ValueError(f"states [{start}, {stop}) are wanted of a rollout of {length} steps")

    def _read_diagnostics(self, row: int, start: int, stop: int) -> dict[str, np.ndarray]:
        if not self.index.records["diagnosed"][row]:
            return {}
        first = _begin(self._diagnosed_lengths, row) + start
        return {name: data[first : first + stop - start] for name, data in self._diagnostics.items()}

    @cached_property
    def index(self) -> ShardIndex:
        """What the shard says about its trajectories."""
        return _read_index(self._file)

    @cached_property
    def _split(self) -> str:
        check_attribute(self._file, "split", *SPLITS)
        return str(get_attribute(self._file, "split"))

    @cached_property
    def _observations(self) -> dict[str, h5py.Dataset]:
        """Name -> (sum T+1, ...)."""
        return _get_members(self._file, "observations", self._num_states)

    @cached_property
    def _states(self) -> dict[str, h5py.Dataset]:
        """Field -> (sum T+1,)."""
        return {name: get_rows(self._file, name, self._num_states) for name in STATE_FIELDS}

    @cached_property
    def _steps(self) -> dict[str, h5py.Dataset]:
        """Field -> (sum T, ...)."""
        return {name: get_rows(self._file, name, self._num_steps) for name in STEP_FIELDS}

    @cached_property
    def _diagnostics(self) -> dict[str, h5py.Dataset]:
        """Name -> (sum T of the diagnosed, ...)."""
        rows = int(self._diagnosed_lengths.sum())
        return _get_members(self._file, "diagnostics", rows) if rows else {}

    @cached_property
    def _events(self) -> h5py.Dataset:
        """(sum E, 2)."""
        return get_rows(self._file, "events", int(self.index.records["num_events"].sum()))

    @property
    def _diagnosed_lengths(self) -> np.ndarray:
        """(N,) rows that each trajectory has in the diagnostics."""
        return self._lengths * self.index.records["diagnosed"]


def _get_members(file: h5py.File, name: str, rows: int) -> dict[str, h5py.Dataset]:
    group = get_group(file, name)
    return {member: get_rows(group, member, rows) for member in map(str, group)}


def _read_index(file: h5py.File) -> ShardIndex:
    check_attribute(file, "kind", KIND)
    version = check_schema(get_attribute(file, "schema_version"), Path(file.filename))
    records = upgraded(get_table(file, "index", index_dtype(version)))
    for name, least in (("length", 1), ("num_subgoals", 0), ("num_events", 0)):
        if ((records[name] < least) | (records[name] >= 2**31)).any():
            raise ValueError(f"index has an impossible {name}")
    instruction = get_rows(file, "instruction", int(records["num_subgoals"].sum()))[()]
    return ShardIndex(records, instruction)


def _events_within(events: np.ndarray, start: int, stop: int) -> np.ndarray:
    """The events of steps [start, stop), counted from `start`."""
    inside = (events[:, 0] >= start) & (events[:, 0] < stop)
    return events[inside] - np.array([start, 0], np.int32)


def info_of(record: np.void, split: str) -> TrajectoryInfo:
    """Where the trajectory of a row of the index comes from. Raises UnicodeDecodeError for damaged text."""
    return TrajectoryInfo(
        environment=record["environment"].decode(),
        seed=int(record["seed"]),
        actor=int(record["actor"]),
        split=split,
        cause=record["cause"].decode(),
        wanted=bool(record["wanted"]),
        policy_update=int(record["policy_update"]),
        step=int(record["step"]),
        epsilon=float(record["epsilon"]),
        game=record["game"].decode(),
        number=int(record["number"]),
    )


def _begin(lengths: np.ndarray, row: int) -> int:
    """Where trajectory `row` begins in arrays in which the trajectories have these lengths (N,)."""
    return int(lengths[:row].sum())


def _span(lengths: np.ndarray, row: int) -> slice:
    begin = _begin(lengths, row)
    return slice(begin, begin + int(lengths[row]))
