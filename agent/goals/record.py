"""The agent's own record: how likely it is to carry out an instruction, by what became of earlier ones.

Knows goal ids and outcomes, not where they come from.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from agent.goals.vocabulary import GOALS, NUM_GOALS

MEMORY = 200  # turns of a goal after which an outcome counts for 1/e
CAUTION = 4.0  # turns that the goals of a goal's family weigh in its own rate, and even odds in a family's

_FAMILIES = np.array([sorted({goal.verb for goal in GOALS}).index(goal.verb) for goal in GOALS])  # (NUM_GOALS,)


class SuccessRecord:
    """For every goal, how often it was reached when its turn came; older outcomes count less and less.

    A goal that was rarely asked for borrows from its family (all that is to be collected, all places to go to, ...).
    """

    def __init__(self) -> None:
        self._successes = np.zeros(NUM_GOALS)
        self._trials = np.zeros(NUM_GOALS)

    def add(self, instruction: Sequence[int], progress: int) -> None:
        """An instruction of which the first `progress` subgoals were reached; the next one's turn came in vain."""
        for position, goal in enumerate(instruction[: progress + 1]):
            fading = 1 - 1 / MEMORY
            self._successes[goal] = fading * self._successes[goal] + (position < progress)
            self._trials[goal] = fading * self._trials[goal] + 1

    def rates(self) -> np.ndarray:
        """(NUM_GOALS,) estimated probability, in (0, 1), of reaching each goal when its turn comes."""
        successes, trials = (np.bincount(_FAMILIES, counts)[_FAMILIES] for counts in (self._successes, self._trials))
        family = (successes + CAUTION / 2) / (trials + CAUTION)
        return (self._successes + CAUTION * family) / (self._trials + CAUTION)

    def snapshot(self) -> dict[str, Any]:
        """Everything, as JSON's own types."""
        return {"successes": self._successes.tolist(), "trials": self._trials.tolist()}

    def restore(self, state: dict[str, Any]) -> None:
        """Take over what `snapshot` returned."""
        self._successes, self._trials = np.array(state["successes"]), np.array(state["trials"])


def choose_learnable(
    candidates: Sequence[tuple[int, ...]], rates: np.ndarray, rng: np.random.Generator
) -> tuple[int, ...]:
    """One of the `candidates`, in proportion to the variance p (1 - p) of its outcome.

    p is the product of the goals' `rates` (NUM_GOALS,). What always or never succeeds teaches little; the variance is
    the score by which sampling for learnability (Rutherford et al. 2024, arXiv 2408.15099) chooses levels.
    """
    chances = np.array([rates[list(candidate)].prod() for candidate in candidates])
    scores = chances * (1 - chances)
    return candidates[rng.choice(len(candidates), p=scores / scores.sum())]
