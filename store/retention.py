"""Which training trajectories to keep when room is wanted: the newest, and those that tell how the run learned.

It decides by the index alone. It removes nothing.
"""

from __future__ import annotations

import numpy as np

from store.rollout_index import Index


def newest(sizes: np.ndarray, limit: int) -> np.ndarray:
    """(N,) bool: the newest trajectories whose `sizes` (N,), in any unit, together stay within `limit`."""
    from_the_end = np.cumsum(sizes[::-1])[::-1]
    return from_the_end <= limit


def stored_bytes(index: Index) -> np.ndarray:
    """(N,) float: the share that each trajectory has in the size of its shard, by its steps."""
    sizes = np.array([path.stat().st_size for path in index.paths], np.float64)
    steps = np.bincount(index.shard, index.length, minlength=len(sizes))
    return sizes[index.shard] * index.length / steps[index.shard]


def protected(index: Index) -> np.ndarray:
    """(N,) bool: what is kept however old it is.

    That is the wanted instruction carried out, and for each goal the first trajectory that reached it when its turn
    came. Of a rollout of several attempts the index knows the last one only.
    """
    keep = index.wanted & index.completed
    reached: set[int] = set()
    for i in np.flatnonzero(index.progress > 0).tolist():
        finished = set(index.instruction(i)[: index.progress[i]])
        if not finished <= reached:
            keep[i] = True
            reached |= finished
    return keep
