"""`amago store compact` on a whole run: what to keep of each split, then group by group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from store.layout import SPLITS, RunPaths, Split

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Kept:
    """How much of the newest training rollouts to keep; without a limit all."""

    steps: int | None
    bytes: int | None


@dataclass
class Figures:
    """What was done to one split, or would be."""

    merged: int = 0  # shards that became fewer
    made: int = 0  # shards they became
    dropped: int = 0  # rollouts
    freed: int = 0  # bytes


def compact_run(paths: RunPaths, kept: Kept, *, apply: bool) -> dict[Split, Figures]:
    """Merge and drop, or without `apply` only count."""
    from store.compact import merge, plan_groups
    from store.repair import require_inside

    require_inside(paths)
    done: dict[Split, Figures] = {split: Figures() for split in SPLITS}
    for split, figures in done.items():
        for group in plan_groups(paths.rollouts(split), _staying(paths, split, kept)):
            if not group.changes:
                continue
            figures.merged += len(group.paths)
            figures.made += bool(group.trajectories)
            figures.dropped += group.dropped
            if apply:
                figures.freed += merge(paths, split, group)
    return done


def _staying(paths: RunPaths, split: Split, kept: Kept) -> np.ndarray | None:
    """(N,) bool over the split's index; None keeps everything."""
    import numpy as np

    from store.retention import newest, protected, stored_bytes
    from store.rollouts import RolloutReader

    if split == "eval" or (kept.steps is None and kept.bytes is None):
        return None
    index = RolloutReader(paths.rollouts(split)).index()
    keep = np.ones(len(index), np.bool_)
    if kept.steps is not None:
        keep &= newest(index.length, kept.steps)
    if kept.bytes is not None:
        keep &= newest(stored_bytes(index), kept.bytes)
    return keep | protected(index)
