"""Reading one rollout shard, which may be damaged or come from a stranger.

Every part is checked against the index before a step is read from it; whatever is wrong becomes a
StorageError that names the file. It knows one shard at a time, and keeps none open.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from store.hdf5 import check_attribute, get_attribute, get_group, get_rows, get_table, get_text, reading
from store.layout import SPLITS
from store.schema import check_schema
from store.shard import KIND, STATE_FIELDS, STEP_FIELDS, index_dtype, upgraded
from store.trajectory import Trajectory, TrajectoryInfo, validate


@dataclass(frozen=True, eq=False)
class ShardIndex:
    """What a shard says about its trajectories without their steps."""

    records: np.ndarray  # (N,) INDEX_DTYPE
    instruction: np.ndarray  # (sum n,) int16


@dataclass(frozen=True, eq=False)
class _Parts:
    """An open shard whose parts fit together."""

    index: ShardIndex
    split: str
    observations: dict[str, h5py.Dataset]  # name -> (sum T+1, ...)
    states: dict[str, h5py.Dataset]  # field -> (sum T+1,)
    steps: dict[str, h5py.Dataset]  # field -> (sum T, ...)
    diagnostics: dict[str, h5py.Dataset]  # name -> (sum T of the diagnosed, ...)
    events: h5py.Dataset  # (sum E, 2)


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
    """The trajectories in these rows of a shard's index. Raises StorageError."""
    with reading(path) as file:
        parts = _check_parts(file)
        lengths = parts.index.records["length"]
        return [_read_trajectory(parts, row, 0, int(lengths[row])) for row in rows]


def read_window(path: Path, row: int, start: int, stop: int) -> Trajectory:
    """Steps [start, stop) of one trajectory, with the observations around them and the events among them."""
    with reading(path) as file:
        return _read_trajectory(_check_parts(file), row, start, stop)


def _check_parts(file: h5py.File) -> _Parts:
    check_attribute(file, "split", *SPLITS)
    index = _read_index(file)
    num_steps = int(index.records["length"].sum())
    num_states = num_steps + len(index.records)
    num_diagnosed = int(_diagnosed_lengths(index.records).sum())
    return _Parts(
        index=index,
        split=str(get_attribute(file, "split")),
        observations=_get_members(file, "observations", num_states),
        states={name: get_rows(file, name, num_states) for name in STATE_FIELDS},
        steps={name: get_rows(file, name, num_steps) for name in STEP_FIELDS},
        diagnostics=_get_members(file, "diagnostics", num_diagnosed) if num_diagnosed else {},
        events=get_rows(file, "events", int(index.records["num_events"].sum())),
    )


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


def _read_trajectory(parts: _Parts, row: int, start: int, stop: int) -> Trajectory:
    records = parts.index.records
    first_step = _begin(records, "length", row) + start
    first_state = first_step + row
    states = slice(first_state, first_state + stop - start + 1)
    steps = slice(first_step, first_step + stop - start)
    trajectory = Trajectory(
        observations={name: data[states] for name, data in parts.observations.items()},
        **{name: data[states] for name, data in parts.states.items()},
        **{name: data[steps] for name, data in parts.steps.items()},
        instruction=parts.index.instruction[_span(records, "num_subgoals", row)],
        events=_events_within(parts.events[_span(records, "num_events", row)], start, stop),
        info=info_of(records[row], parts.split),
        diagnostics=_read_diagnostics(parts, row, start, stop),
    )
    validate(trajectory)
    return trajectory


def _read_diagnostics(parts: _Parts, row: int, start: int, stop: int) -> dict[str, np.ndarray]:
    records = parts.index.records
    if not records["diagnosed"][row]:
        return {}
    first = int(_diagnosed_lengths(records)[:row].sum()) + start
    return {name: data[first : first + stop - start] for name, data in parts.diagnostics.items()}


def _diagnosed_lengths(records: np.ndarray) -> np.ndarray:
    """(N,) rows that each trajectory has in the diagnostics."""
    return records["length"] * records["diagnosed"]


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


def _begin(records: np.ndarray, field: str, row: int) -> int:
    """Where trajectory `row` begins in the arrays whose lengths `field` gives."""
    return int(records[field][:row].sum())


def _span(records: np.ndarray, field: str, row: int) -> slice:
    begin = _begin(records, field, row)
    return slice(begin, begin + int(records[field][row]))
