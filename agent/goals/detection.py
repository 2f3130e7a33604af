"""How an instruction advances: only its active subgoal counts, and at most one subgoal is finished per step.

The rule exists twice, one step at a time for the environment and at once for a whole trajectory; both agree
exactly.
"""

from collections.abc import Collection, Sequence

import numpy as np


def advance(instruction: Sequence[int], progress: int, achieved: Collection[int]) -> int:
    """Number of finished subgoals after a step that reached the goals `achieved`, from `progress` before."""
    reached = progress < len(instruction) and instruction[progress] in achieved
    return progress + reached


def replay(instruction: Sequence[int], events: np.ndarray, num_steps: int) -> np.ndarray:
    """Steps at which `advance` would have finished each subgoal within the first `num_steps` steps.

    `events` is (E, 2): rows (step, goal id), sorted by step. Returns (k,) int64, strictly rising; k is the
    number of subgoals finished, and entry j is the step whose action finished subgoal j.
    """
    steps, goals = events[:, 0], events[:, 1]
    completions: list[int] = []
    last = -1
    for goal in instruction:
        candidates = steps[goals == goal]
        index = np.searchsorted(candidates, last, side="right")
        if index == len(candidates) or candidates[index] >= num_steps:
            break
        last = int(candidates[index])
        completions.append(last)
    return np.asarray(completions, dtype=np.int64)
