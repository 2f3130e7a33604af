"""Success goal by goal, and return attempt by attempt, over recent rollouts. Pure: reads no file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from store.goal_outcomes import GoalOutcomes
    from store.rollout_index import Index
    from store.trajectory import Trajectory

RECENT = 200
"""Rollouts that count; as many before them tell the trend."""


@dataclass(frozen=True)
class GoalRow:
    """A goal, or the goals that differ only in their place, among recent rollouts."""

    name: str
    reached: int
    tried: int  # rollouts in which its turn came
    trend: int  # -1, 0 or 1 against the rollouts before; 0 too where there is nothing to compare

    @property
    def rate(self) -> float | None:
        """Share of success; None where it was never tried ("no data" is not zero)."""
        return self.reached / self.tried if self.tried else None


@dataclass(frozen=True)
class GoalTable:
    """Rows for the wanted instruction's subgoals in their order, and for all goals, the most successful first."""

    wanted: tuple[GoalRow, ...] = ()
    others: tuple[GoalRow, ...] = ()


@dataclass(frozen=True)
class AttemptRow:
    """The attempts with one number among recent rollouts."""

    number: int  # from 1
    mean_return: float
    count: int


def goal_table(outcomes: GoalOutcomes, index: Index, wanted: Sequence[int], names: Sequence[str]) -> GoalTable:
    """The table of the newest rollouts of `index`. `names` by goal id; ids without a name are left out."""
    age = len(index) - 1 - outcomes.trajectory
    known = (outcomes.goal >= 0) & (outcomes.goal < len(names))
    recent, before = known & (age < RECENT), known & (age >= RECENT) & (age < 2 * RECENT)
    asked = index.wanted[outcomes.trajectory].astype(bool)

    def row(name: str, which: np.ndarray) -> GoalRow:
        now, then = outcomes.reached[which & recent], outcomes.reached[which & before]
        return GoalRow(name, int(now.sum()), len(now), _trend(now, then))

    on_top = tuple(row(names[goal], asked & (outcomes.goal == goal)) for goal in wanted if goal < len(names))
    seen = np.unique(outcomes.goal[recent]).tolist()
    others = [row(kind, np.isin(outcomes.goal, goals)) for kind, goals in _by_kind(seen, names).items()]
    return GoalTable(on_top, tuple(sorted(others, key=_most_successful)))


def attempt_rows(trajectories: Iterable[Trajectory]) -> tuple[AttemptRow, ...]:
    """Mean return of first attempts, second attempts and so on."""
    returns: dict[int, list[float]] = {}
    for trajectory in trajectories:
        for number, attempt in enumerate(trajectory.attempts, 1):
            returns.setdefault(number, []).append(attempt.ret)
    return tuple(AttemptRow(number, float(np.mean(found)), len(found)) for number, found in sorted(returns.items()))


def _by_kind(goals: Sequence[int], names: Sequence[str]) -> dict[str, list[int]]:
    """Goals by name; those with a place, like "travel (10, 20)", count together as "travel"."""
    kinds: dict[str, list[int]] = {}
    for goal in goals:
        kinds.setdefault(names[goal].split(" (")[0], []).append(goal)
    return kinds


def _trend(now: np.ndarray, then: np.ndarray) -> int:
    """The sign of the change, where it is larger than its standard error."""
    if not len(now) or not len(then):
        return 0
    change = now.mean() - then.mean()
    error = np.sqrt(0.25 / len(now) + 0.25 / len(then))
    return int(np.sign(change)) if abs(change) > error else 0


def _most_successful(row: GoalRow) -> tuple[float, int, str]:
    return -(row.rate or 0.0), -row.tried, row.name
