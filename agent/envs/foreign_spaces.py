"""Spaces of a Minari dataset, and what was done in them in the forms that our agent writes.

The description may be damaged or hostile: sizes and types are checked before anything of that size is made.
`gym_spaces` says what the agent's own forms are. Texts are left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium import Space, spaces

from agent.envs.gym_spaces import Entry, flat_action
from store.errors import AmagoError

_MAX_DEPTH, _MAX_ENTRIES, _MAX_NUMBERS = 8, 256, 2**24
_DTYPES = {np.dtype(kind + size).name for kind, sizes in (("i", "1248"), ("u", "1248"), ("f", "248")) for size in sizes}
_DTYPES.add("bool")


def space_of(record: dict[str, Any], depth: int = 0) -> Space | None:
    """The space that Minari's JSON describes, None for a text. AmagoError if it describes none."""
    try:
        if depth > _MAX_DEPTH:
            raise ValueError("it is nested too deeply")
        return _space_of(record, depth)
    except (KeyError, TypeError, ValueError, AssertionError, OverflowError, AttributeError) as error:
        raise AmagoError(f"the dataset describes a space wrongly: {error}") from None


def read_states(entry: Entry, nested: Any) -> np.ndarray:
    """One entry of the agent's observation (T, ...) from the arrays of an episode, nested like its space."""
    for key in entry.path:
        nested = nested[key]
    return np.stack([entry.convert(row) for row in nested])


def read_actions(space: Space) -> tuple[Space, Callable[[np.ndarray], np.ndarray]]:
    """The agent's action space, and from actions (T, ...) of `space` to the agent's; the reverse of `flat_action`.

    AmagoError for a space that the agent cannot act in. The function raises ValueError for actions outside of it.
    """
    ours, _ = flat_action(space)
    match space:
        case spaces.Discrete():
            return ours, lambda actions: _counted(actions[:, None] - space.start, np.array([space.n]))
        case spaces.MultiDiscrete():
            counts, start = space.nvec.ravel(), space.start.ravel()
            return ours, lambda actions: _counted(actions.reshape(len(actions), -1) - start, counts)
        case spaces.MultiBinary():
            return ours, lambda actions: _bits(actions.reshape(len(actions), -1))
    assert isinstance(ours, spaces.Box), space
    return ours, lambda actions: np.clip(_finite(actions.reshape(len(actions), -1)), ours.low, ours.high)


def _space_of(record: dict[str, Any], depth: int) -> Space | None:
    match record["type"]:
        case "Text":
            return None
        case "Dict" | "Tuple":
            return _nested(record, depth)
        case "Box":
            shape, dtype = _shape(record), _dtype(record)
            low, high = (np.array(record[key], dtype) for key in ("low", "high"))
            return spaces.Box(low, high, shape, np.dtype(dtype).type)
        case "Discrete":
            return spaces.Discrete(int(record["n"]), start=int(record["start"]))
        case "MultiDiscrete":
            counts, start = np.array(record["nvec"]), np.array(record["start"])
            return spaces.MultiDiscrete(counts, np.dtype(_dtype(record)).type, start=start)
        case "MultiBinary":
            number = record["n"]
            return spaces.MultiBinary(_shape({"shape": number if isinstance(number, list) else [number]}))
    raise ValueError(f"there is no type {str(record['type'])[:40]!r}")


def _nested(record: dict[str, Any], depth: int) -> Space:
    parts = record["subspaces"]
    if len(parts) > _MAX_ENTRIES:
        raise ValueError(f"it has {len(parts)} entries")
    if record["type"] == "Dict":
        found = {key: space_of(part, depth + 1) for key, part in parts.items()}
        return spaces.Dict({key: part for key, part in found.items() if part is not None})
    listed = [space_of(part, depth + 1) for part in parts]
    return spaces.Tuple([part for part in listed if part is not None])


def _shape(record: dict[str, Any]) -> tuple[int, ...]:
    shape = tuple(int(side) for side in record["shape"])
    if any(side < 0 for side in shape) or math.prod(shape) > _MAX_NUMBERS:
        raise ValueError(f"its shape is {shape}")
    return shape


def _dtype(record: dict[str, Any]) -> str:
    if record["dtype"] not in _DTYPES:
        raise ValueError(f"its dtype is {str(record['dtype'])[:40]!r}")
    return record["dtype"]


def _counted(moved: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Numbers (T, N) from 0 on, below `counts` (N,), as one choice among all their combinations: (T,) int64."""
    if moved.dtype.kind not in "iu" or (moved < 0).any() or (moved >= counts).any():
        raise ValueError("an action lies outside its space")
    choices = np.ravel_multi_index(tuple(moved.astype(np.int64).T), tuple(counts.tolist()))
    return np.asarray(choices, np.int64)


def _bits(actions: np.ndarray) -> np.ndarray:
    if not np.isin(actions, (0, 1)).all():
        raise ValueError("an action lies outside its space")
    return actions.astype(np.int8)


def _finite(actions: np.ndarray) -> np.ndarray:
    if not np.isfinite(actions).all():
        raise ValueError("an action is not finite")
    return actions.astype(np.float32)
