"""What can still be read of a damaged shard, trajectory by trajectory, and what is wrong with the rest.

It reads shards. It changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from store.errors import StorageError
from store.layout import Split
from store.shard_reader import read_index, read_spec, read_trajectories
from store.trajectory import Trajectory

_STEPS_AT_ONCE = 8192  # a hundred megabytes of frames


@dataclass(frozen=True, eq=False)
class Loss:
    """A trajectory that cannot be read."""

    problem: str  # one line, names the shard


def salvage(path: Path, split: Split) -> Iterator[Trajectory | Loss]:
    """Every trajectory of a shard of `split`, or why it is lost, by row. StorageError when nothing can be read."""
    records = read_index(path).records
    read_spec(path)
    read_trajectories(path, [])  # the parts fit together
    for rows in _batches(records["length"]):
        for row, found in zip(rows, _read(path, rows), strict=True):
            if isinstance(found, Trajectory):
                problem = _disagreement(found, records[row], split)
                yield Loss(f"{path} is damaged: {problem}") if problem else found
            else:
                yield Loss(found)


def _batches(lengths: np.ndarray) -> Iterator[Sequence[int]]:
    """All rows in order, in runs of at most _STEPS_AT_ONCE steps, or of one trajectory."""
    start, steps = 0, 0
    for row, length in enumerate(lengths.tolist()):
        if row > start and steps + length > _STEPS_AT_ONCE:
            yield range(start, row)
            start, steps = row, 0
        steps += length
    if start < len(lengths):
        yield range(start, len(lengths))


def _read(path: Path, rows: Sequence[int]) -> list[Trajectory | str]:
    """These trajectories, or what is wrong with each. Halves find a few bad ones among many in few reads."""
    try:
        return list(read_trajectories(path, rows))
    except StorageError as error:
        if len(rows) == 1:
            return [str(error)]
    half = len(rows) // 2
    return _read(path, rows[:half]) + _read(path, rows[half:])


def _disagreement(trajectory: Trajectory, record: np.void, split: Split) -> str:
    """Where the steps do not say what the index and the shard's place say."""
    if trajectory.info.split != split:
        return f"it lies among the {split} shards but says {trajectory.info.split}"
    if int(trajectory.progress[-1]) != record["progress"]:
        return f"trajectory {record['number']} ends with another progress than its index says"
    if not math.isclose(trajectory.ret, record["ret"], rel_tol=1e-9, abs_tol=1e-9) and not math.isnan(record["ret"]):
        return f"trajectory {record['number']} has another return than its index says"
    return ""
