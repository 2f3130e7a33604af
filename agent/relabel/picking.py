"""Weighted picks for relabelling: how rarity weights become one choice.

Each pick first draws how to read the weights: not at all (uniform), above their minimum, above their median,
or the five largest only. Does not know what is being picked.
"""

import numpy as np

UNIFORM, MINUS_MIN, MINUS_MEDIAN = 0.2, 0.1, 0.1  # probabilities of three readings; the rest is top only
NUM_TOP = 5


def pick(weights: np.ndarray, rng: np.random.Generator) -> int:
    """Index of one of the positive `weights` (N,), N >= 1, by a reading of them drawn for this pick."""
    if len(weights) == 1:
        return 0
    reading = rng.random()
    if reading < UNIFORM:
        return int(rng.integers(len(weights)))
    if reading < UNIFORM + MINUS_MIN:
        return draw(weights - weights.min(), rng)
    if reading < UNIFORM + MINUS_MIN + MINUS_MEDIAN:
        return draw(np.maximum(weights - np.median(weights), 0), rng)
    return draw_top(weights, rng)


def draw_top(weights: np.ndarray, rng: np.random.Generator) -> int:
    """Index drawn in proportion to `weights` among the NUM_TOP largest; equal weights go by position."""
    if len(weights) <= NUM_TOP:
        return draw(weights, rng)
    top = weights.argpartition(-NUM_TOP)[-NUM_TOP:]
    return int(top[draw(weights[top], rng)])


def draw(weights: np.ndarray, rng: np.random.Generator) -> int:
    """Index drawn in proportion to non-negative `weights` (N,); uniform when all of them are zero."""
    cumulative = weights.cumsum()
    if cumulative[-1] <= 0:
        return int(rng.integers(len(weights)))
    # In (0, total], so that an index of weight zero is never hit.
    target = (1 - rng.random()) * cumulative[-1]
    return int(cumulative.searchsorted(target))


def pick_distinct(weights: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """`count` different indices (count,) of the positive `weights` (N,), picked one after the other."""
    assert count <= len(weights)
    # In random order, so that "the five largest" favours no position among equal weights.
    remaining = rng.permutation(len(weights))
    left = weights[remaining]
    chosen = np.empty(count, np.intp)
    for i in range(count):
        index = pick(left, rng)
        chosen[i] = remaining[index]
        remaining[index], left[index] = remaining[-1], left[-1]
        remaining, left = remaining[:-1], left[:-1]
    return chosen
