"""Which goals of which instructions came to their turn, and which were then reached: from indexes alone, no step read.

Knows nothing of what a goal is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from store.rollout_index import Index
from store.trajectory import WORKER_LOST


@dataclass(frozen=True, eq=False)
class GoalOutcomes:
    """A row for every goal whose turn came, ordered by trajectory, then by place in the instruction."""

    trajectory: np.ndarray  # (N,) int64, position in the index
    goal: np.ndarray  # (N,) int64, goal id
    reached: np.ndarray  # (N,) bool
    step: np.ndarray  # (N,) int64, environment steps of the run when the trajectory ended


def goal_outcomes(index: Index) -> GoalOutcomes:
    """What `index` tells: after p finished subgoals the first p goals were reached, and the next one was not.

    That next one is left out where the rollout ended because its worker was lost: its turn was cut short. Of a rollout
    of several attempts the index knows the last one only, and so does this.
    """
    reached = np.clip(index.progress, 0, index.num_subgoals)
    failed = (reached < index.num_subgoals) & (index.cause != WORKER_LOST)
    turns = reached + failed
    trajectory = np.repeat(np.arange(len(index)), turns)
    place = np.arange(len(trajectory)) - np.repeat(np.cumsum(turns) - turns, turns)
    return GoalOutcomes(
        trajectory=trajectory,
        goal=index.goals[index.goals_start[trajectory] + place].astype(np.int64),
        reached=place < reached[trajectory],
        step=index.step[trajectory],
    )
