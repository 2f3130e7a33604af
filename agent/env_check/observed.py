"""Checks of single values: observations against the space that their author declared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from agent.env_check.plays import Play
from agent.envs.gym_spaces import leaves

Fault = Callable[[gymnasium.Space, Any], str]
"""From a space without parts and a value to what is wrong with the value, "" if nothing is."""


def first_fault(space: gymnasium.Space, plays: Sequence[Play], fault: Fault) -> str:
    """The first observation that has a fault, by the name of its entry and where it was seen; "" if there is none."""
    for play in plays:
        for step, returned in enumerate(play.returned):
            for path, leaf, value in _values(space, returned.observation):
                if what := fault(leaf, value):
                    name = f"'{'.'.join(map(str, path))}'" if path else "the observation"
                    return f"{name} {what} ({play.where(step)})"
    return ""


def outside(space: gymnasium.Space, value: Any) -> str:
    """How a value lies outside its space, whatever its dtype."""
    if value is _MISSING:
        return "is missing"
    shape = np.shape(value)
    if space.shape is not None and shape != space.shape:
        return f"has shape {shape}, its space says {space.shape}"
    if isinstance(space, spaces.Box):
        array = np.asarray(value)
        if not np.isfinite(array).all():
            return "is not finite"
        beyond = (array < space.low) | (array > space.high)
        if beyond.any():
            low, high = space.low[beyond].flat[0], space.high[beyond].flat[0]
            return f"is {array[beyond].flat[0]}, its space allows {low} to {high}"
        return ""
    held = space.contains(value) or (space.dtype is not None and space.contains(np.asarray(value, space.dtype)))
    return "" if held else f"is {value}, which is not in {space}"


def of_other_type(space: gymnasium.Space, value: Any) -> str:
    """How the dtype of a value contradicts its space."""
    if not isinstance(space, spaces.Box | spaces.MultiDiscrete | spaces.MultiBinary) or value is _MISSING:
        return ""
    assert space.dtype is not None
    dtype = np.asarray(value).dtype
    if np.can_cast(dtype, space.dtype, "same_kind"):
        return ""
    return f"is {dtype}, its space says {space.dtype}: return it as {space.dtype}, or declare {dtype}"


_MISSING = object()


def _values(space: gymnasium.Space, observation: Any) -> Iterator[tuple[tuple[Any, ...], gymnasium.Space, Any]]:
    """Every part of an observation with the keys that lead to it and its space."""
    for path, leaf in leaves(space):
        value = observation
        for key in path:
            try:
                value = value[key]
            except (KeyError, IndexError, TypeError):
                value = _MISSING
                break
        yield path, leaf, value
