"""The format of a rollout shard: some trajectories in one HDF5 file that never changes once published.

    index                  one row per trajectory, see INDEX_DTYPE
    instruction, events    goal ids (n) and reached goals (E, 2) of all trajectories, end to end
    observations/<name>, is_first, progress        T+1 rows per trajectory, end to end
    actions, rewards, terminated, truncated        T rows per trajectory, end to end
    diagnostics/<name>     T rows per trajectory whose index says `diagnosed`, end to end
    environment            JSON text that describes the environment
    attributes             kind, schema_version, split

Only lengths are stored; where a trajectory begins follows by summing them, so the two cannot disagree. This
module makes the content of a shard; it does not know where shards lie or when they are written.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from store.atomic import to_json
from store.hdf5 import encode_file
from store.schema import SCHEMA_VERSION
from store.trajectory import MAX_TEXT_BYTES, Trajectory

KIND = "amago rollouts"

INDEX_DTYPE = np.dtype(
    [
        ("number", "<i8"),
        ("seed", "<i8"),
        ("actor", "<i8"),
        ("wanted", "?"),
        ("policy_update", "<i8"),
        ("step", "<i8"),
        ("epsilon", "<f8"),
        ("length", "<i8"),  # T
        ("num_subgoals", "<i8"),  # n
        ("num_events", "<i8"),  # E
        ("progress", "<i8"),  # subgoals finished at the end
        ("ret", "<f8"),  # sum of the rewards
        ("environment", f"S{MAX_TEXT_BYTES}"),
        ("cause", f"S{MAX_TEXT_BYTES}"),
        ("diagnosed", "?"),  # it has diagnostics
        ("game", f"S{MAX_TEXT_BYTES}"),
    ]
)

_COLUMNS_SINCE = {"diagnosed": 2, "game": 3}  # by column, the schema version that brought it; not named: 1

STATE_FIELDS = ("is_first", "progress")  # T+1 rows
STEP_FIELDS = ("actions", "rewards", "terminated", "truncated")  # T rows


def index_dtype(version: int) -> np.dtype:
    """The index as schema `version` has it."""
    columns = [name for name in INDEX_DTYPE.names or () if _COLUMNS_SINCE.get(name, 1) <= version]
    return np.dtype([(name, INDEX_DTYPE[name]) for name in columns])


def upgraded(records: np.ndarray) -> np.ndarray:
    """An index (N,) of any version as INDEX_DTYPE; what an older one could not say is false, 0 or empty."""
    newest = np.zeros(len(records), INDEX_DTYPE)
    for name in records.dtype.names or ():
        newest[name] = records[name]
    return newest


def encode_shard(trajectories: Sequence[Trajectory], split: str, spec: dict[str, Any]) -> bytes:
    """The content of the file that holds these trajectories, which must be of one kind."""
    arrays = {
        "environment": np.array([json.dumps(to_json(spec)).encode()]),
        "index": np.array([index_row(each) for each in trajectories], INDEX_DTYPE),
    }
    for name in trajectories[0].observations:
        arrays[f"observations/{name}"] = np.concatenate([each.observations[name] for each in trajectories])
    for name in (*STATE_FIELDS, *STEP_FIELDS, "instruction", "events"):
        arrays[name] = np.concatenate([getattr(each, name) for each in trajectories])
    diagnosed = [each.diagnostics for each in trajectories if each.diagnostics]
    for name in diagnosed[0] if diagnosed else ():
        arrays[f"diagnostics/{name}"] = np.concatenate([each[name] for each in diagnosed])
    return encode_file({"kind": KIND, "schema_version": SCHEMA_VERSION, "split": split}, arrays)


def index_row(trajectory: Trajectory) -> tuple[Any, ...]:
    """What the index says of a trajectory, in the order of INDEX_DTYPE."""
    info = trajectory.info
    origin = (info.number, info.seed, info.actor, info.wanted, info.policy_update, info.step, info.epsilon)
    sizes = (trajectory.length, len(trajectory.instruction), len(trajectory.events))
    outcome = (int(trajectory.progress[-1]), trajectory.ret)
    texts = (info.environment.encode(), info.cause.encode())
    return (*origin, *sizes, *outcome, *texts, bool(trajectory.diagnostics), info.game.encode())
