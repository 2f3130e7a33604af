"""Gymnasium spaces as JSON and back, so that a checkpoint can say what it was trained on.

Knows Box, Discrete, MultiDiscrete, MultiBinary and Dict. Bounds that are the same everywhere are written
once, infinite ones as null, for JSON has no infinity.
"""

import math
from typing import Any

import numpy as np
from gymnasium import Space, spaces


def space_to_json(space: Space) -> dict[str, Any]:
    """A description of `space` in JSON's own types; TypeError for a kind of space that is not known here."""
    kind = type(space).__name__
    match space:
        case spaces.Box():
            return {"type": kind, **_array(space), "low": _written(space.low), "high": _written(space.high)}
        case spaces.MultiDiscrete():
            return {"type": kind, **_array(space), "nvec": _written(space.nvec), "start": _written(space.start)}
        case spaces.Discrete():
            return {"type": kind, "n": int(space.n), "start": int(space.start)}
        case spaces.MultiBinary():
            return {"type": kind, "shape": list(space.shape)}
        case spaces.Dict():
            return {"type": kind, "spaces": {key: space_to_json(part) for key, part in space.items()}}
    raise TypeError(f"spaces of type {kind} cannot be written as JSON")


def space_from_json(data: dict[str, Any]) -> Space:
    """The space that `space_to_json` described; ValueError for an unknown type."""
    match data["type"]:
        case "Box":
            low, high = _bound(data, "low", -math.inf), _bound(data, "high", math.inf)
            return spaces.Box(low, high, dtype=np.dtype(data["dtype"]).type)
        case "MultiDiscrete":
            nvec, start = (np.broadcast_to(data[key], data["shape"]) for key in ("nvec", "start"))
            return spaces.MultiDiscrete(nvec, np.dtype(data["dtype"]).type, start=start)
        case "Discrete":
            return spaces.Discrete(data["n"], start=data["start"])
        case "MultiBinary":
            shape = data["shape"]
            return spaces.MultiBinary(shape[0] if len(shape) == 1 else shape)
        case "Dict":
            return spaces.Dict({key: space_from_json(part) for key, part in data["spaces"].items()})
    raise ValueError(f"unknown type of space '{data['type']}'")


def _array(space: spaces.Box | spaces.MultiDiscrete) -> dict[str, Any]:
    return {"dtype": str(space.dtype), "shape": list(space.shape)}


def _written(array: np.ndarray) -> Any:
    """One number where all are equal, else nested lists; None where infinite."""
    if array.size and (array == array.flat[0]).all():
        array = array.flat[0]
    return _finite(array.tolist())


def _finite(value: Any) -> Any:
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return value if math.isfinite(value) else None


def _bound(data: dict[str, Any], key: str, infinite: float) -> np.ndarray:
    """One bound of a Box, as an array of its shape and dtype."""
    numbers = np.array(data[key], dtype=float)  # None becomes NaN, which no bound can be
    bound = np.where(np.isnan(numbers), infinite, numbers).astype(data["dtype"])
    return np.array(np.broadcast_to(bound, data["shape"]))
