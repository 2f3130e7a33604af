"""Gymnasium's spaces in the few forms that our agent reads and writes.

An observation, however nested, becomes a flat dictionary of arrays: categories from 0 on (MultiDiscrete), images with
their channels last (Box uint8), other bounded integers (Box), reals (Box float32). An action becomes Discrete, a flat
Box of finite bounds or a flat MultiBinary. Knows no environment.
"""

import math
import re
import textwrap
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from gymnasium import Space, spaces

from store.errors import AmagoError

MAX_COMBINATIONS = 1024
"""A MultiDiscrete action with at most so many combinations is one choice among them."""

ACTION_MASK = "action_mask"
"""The entry of an observation that tells which discrete actions are legal."""

_BARE = "observation"
_MAX_CATEGORIES = 2**16  # integers with more values are numbers, not categories
_FEW_VALUES = 16  # Box integers with at most so many values are categories
_MIN_IMAGE, _MIN_GREY_IMAGE = 8, 16  # shortest side of an image; 2-D arrays are less likely to be one


Converted = tuple[Space, Callable[[Any], np.ndarray]]
"""A space, and from a value of the original one to a value of it."""


class Entry(NamedTuple):
    """One entry of the flat observation."""

    space: Space
    path: tuple[Any, ...]
    """Keys that lead to it in the original observation."""
    convert: Callable[[Any], np.ndarray]

    def read(self, observation: Any) -> np.ndarray:
        """This entry of an original observation, in the dtype and shape of its space."""
        for key in self.path:
            observation = observation[key]
        return self.convert(observation)


def flat_observation(space: Space, num_actions: int | None) -> dict[str, Entry]:
    """The entries of the flat observation by name; AmagoError for a space that has none.

    A bare space is called "observation", nested ones "outer.inner". An `action_mask` of a Dict is one if it tells of
    all `num_actions` actions (None if they cannot be counted), otherwise an observation like any other.
    """
    entries: dict[str, Entry] = {}
    for path, leaf in leaves(space):
        if math.prod(leaf.shape or ()) == 0:
            continue
        name = ".".join(re.sub(r"[^\w-]", "_", str(key)) for key in path) or _BARE
        if name == ACTION_MASK and num_actions is not None and leaf.shape == (num_actions,):
            entry = Entry(mask_space(num_actions), path, read_mask)
        else:
            name = f"{_BARE}.{ACTION_MASK}" if name == ACTION_MASK else name
            seen, convert = _leaf(leaf, path)
            entry = Entry(seen, path, convert)
        if name in entries:
            raise AmagoError(f"two entries of the observation are both called '{name}'")
        entries[name] = entry
    if not entries:
        raise AmagoError(f"there is nothing to observe in {_line(space)}")
    return entries


def mask_space(num_actions: int) -> spaces.MultiBinary:
    """Which actions are legal."""
    return spaces.MultiBinary(num_actions)


def read_mask(mask: Any) -> np.ndarray:
    """1 for each legal action; where an environment allows none, as some do at the end, all are."""
    legal = np.asarray(mask) != 0
    return (legal if legal.any() else ~legal).astype(np.int8)


def flat_action(space: Space) -> tuple[Space, Callable[[Any], Any]]:
    """The action space of the agent, and from its actions to the original ones; AmagoError if there is none."""
    match space:
        case spaces.Discrete() if space.n <= _MAX_CATEGORIES:
            return spaces.Discrete(int(space.n)), lambda action: int(action) + int(space.start)
        case spaces.MultiDiscrete() if 0 < (combinations := math.prod(space.nvec.flat)) <= MAX_COMBINATIONS:
            counts, start = tuple(space.nvec.flat), space.start.astype(space.dtype)
            table = np.stack(np.unravel_index(np.arange(combinations), counts), axis=1).astype(space.dtype)
            table = table.reshape(combinations, *space.shape) + start
            return spaces.Discrete(int(combinations)), lambda action: table[action].copy()
        case spaces.MultiBinary() if math.prod(space.shape):
            shape = space.shape
            return spaces.MultiBinary(math.prod(shape)), lambda action: np.array(action, np.int8).reshape(shape)
        case spaces.Box() if space.low.size and _finite(space):
            return _flat_box(space)
    raise AmagoError(
        f"actions of {_line(space)} cannot be played, only Discrete of at most {_MAX_CATEGORIES}, MultiDiscrete of at "
        f"most {MAX_COMBINATIONS} combinations, MultiBinary, and Box with finite bounds"
    )


def _finite(space: spaces.Box) -> bool:
    """Whether the bounds are numbers also in float32, and none that stands for "no bound"."""
    largest = float(np.finfo(np.float32).max) if space.dtype.kind == "f" else 2**31
    return space.dtype.kind in "fiub" and bool(max(-float(space.low.min()), float(space.high.max())) < largest)


def _flat_box(space: spaces.Box) -> tuple[Space, Callable[[Any], Any]]:
    def original(action: Any) -> np.ndarray:
        values = np.asarray(action, np.float64).reshape(space.shape)  # float32 may lie beyond a bound by its rounding
        values = np.clip(values if space.dtype.kind == "f" else np.rint(values), low, high)
        return values.astype(space.dtype)

    low, high = space.low.astype(float), space.high.astype(float)
    return spaces.Box(low.ravel().astype(np.float32), high.ravel().astype(np.float32), dtype=np.float32), original


def leaves(space: Space, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Space]]:
    """The parts of a nested space that are not nested themselves, with the keys that lead to them."""
    match space:
        case spaces.Dict():
            parts = space.spaces.items()
        case spaces.Tuple():
            parts = enumerate(space.spaces)
        case _:
            yield path, space
            return
    for key, part in parts:
        yield from leaves(part, (*path, key))


def _leaf(space: Space, path: tuple[Any, ...]) -> Converted:
    match space:
        case spaces.Discrete():
            return _categories(np.array([space.start]), np.array([space.n]), scalar=True)
        case spaces.MultiDiscrete():
            return _categories(space.start, space.nvec)
        case spaces.MultiBinary():
            return _categories(np.zeros(space.shape, int), np.full(space.shape, 2))
        case spaces.Box() if space.dtype.kind in "iub":
            return _integers(space)
        case spaces.Box() if space.dtype.kind == "f":
            return _reals(space.low, space.high)
    where = f" at '{'.'.join(map(str, path))}'" if path else ""
    raise AmagoError(f"observations of {_line(space)}{where} cannot be encoded")


def _categories(start: np.ndarray, counts: np.ndarray, *, scalar: bool = False) -> Converted:
    """Integers start..start + counts - 1, moved to 0.. and held there, for what lies outside has no code."""
    if counts.max() > _MAX_CATEGORIES:
        return _reals(start, start.astype(float) + counts - 1)
    start, last, dtype = start.astype(int), counts.astype(int) - 1, np.uint8 if counts.max() <= 255 else np.int32
    first, most = int(start.flat[0]), int(last.flat[0])

    def convert_one(value: Any) -> np.ndarray:  # several times as fast, and the most common case
        return np.array([min(max(int(value) - first, 0), most)], dtype)

    def convert(value: Any) -> np.ndarray:
        moved = np.asarray(value, int).reshape(start.shape) - start
        return np.minimum(np.maximum(moved, 0), last).astype(dtype)

    space = spaces.MultiDiscrete(counts.astype(int), dtype)
    return space, convert_one if scalar else convert


def _integers(space: spaces.Box) -> Converted:
    low, high = space.low.astype(float), space.high.astype(float)
    if _is_image(space):
        return _image(space.shape)
    if (high - low).max() < _FEW_VALUES:
        low, high = _vector(low), _vector(high)
        return _categories(low, high - low + 1)
    if (high - low).max() >= _MAX_CATEGORIES or max(-low.min(), high.max()) >= 2**31:
        return _reals(low, high)
    # Three axes of uint8 would be taken for an image.
    dtype = np.uint8 if space.dtype == np.uint8 and low.ndim != 3 else np.int32
    low, high = _vector(low).astype(dtype), _vector(high).astype(dtype)
    return spaces.Box(low, high, dtype=dtype), lambda value: np.array(value).reshape(low.shape).astype(dtype)


def _reals(low: np.ndarray, high: np.ndarray) -> Converted:
    with np.errstate(over="ignore"):  # beyond float32 there is no bound
        low, high = _vector(low).astype(np.float32), _vector(high).astype(np.float32)
    shape = low.shape
    return spaces.Box(low, high, dtype=np.float32), lambda value: np.array(value, np.float32).reshape(shape)


def _is_image(space: spaces.Box) -> bool:
    if space.dtype != np.uint8 or space.low.any() or (space.high < 255).any():
        return False
    sides = sorted(space.shape)
    return (len(sides) == 3 and sides[1] >= _MIN_IMAGE) or (len(sides) == 2 and sides[0] >= _MIN_GREY_IMAGE)


def _image(shape: tuple[int, ...]) -> Converted:
    """(H, W), (H, W, C), or (C, H, W), told by its C being the smallest, as (H, W, C)."""
    if len(shape) == 2:
        seen, convert = (*shape, 1), lambda value: np.array(value, np.uint8)[..., None]
    elif shape[0] < min(shape[1:]):
        seen, convert = (*shape[1:], shape[0]), lambda value: np.moveaxis(np.array(value, np.uint8), 0, -1)
    else:
        seen, convert = shape, lambda value: np.array(value, np.uint8)
    return spaces.Box(0, 255, seen, np.uint8), convert


def _vector(array: np.ndarray) -> np.ndarray:
    """The array, with one axis where it has none."""
    return np.atleast_1d(array)


def _line(space: Space) -> str:
    """The space in one line of bearable length."""
    return textwrap.shorten(" ".join(str(space).split()), 160, placeholder=" ...")
