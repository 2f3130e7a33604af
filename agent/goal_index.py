"""Which trajectories reached which kind of goal, so that one can be drawn by what it holds.

Knows neither what a goal is nor how long a trajectory stays.
"""

from collections import deque

import numpy as np

from agent.relabel import Hindsight


class GoalIndex:
    """The trajectories of a shelf by the kinds of goals that they reached, asked for or not."""

    def __init__(self, kinds: np.ndarray | None) -> None:
        """`kinds` (goals,): the number of each goal's kind; without, every goal is one of its own."""
        self._kinds = kinds
        self._sources: dict[int, deque[Hindsight]] = {}  # kind -> those that reached it, the oldest first

    def add(self, source: Hindsight) -> None:
        """Append the newest trajectory."""
        for kind in self._kinds_of(source):
            self._sources.setdefault(kind, deque()).append(source)

    def remove(self, source: Hindsight) -> None:
        """Part with a trajectory, which is found the sooner the older it is."""
        for kind in self._kinds_of(source):
            self._sources[kind].remove(source)
            if not self._sources[kind]:
                del self._sources[kind]

    def draw(self, rng: np.random.Generator) -> Hindsight | None:
        """One of the trajectories that reached a kind of goal, all kinds being as likely; None if there is none."""
        if not self._sources:
            return None
        reached = list(self._sources.values())
        some = reached[rng.integers(len(reached))]
        return some[rng.integers(len(some))]

    def _kinds_of(self, source: Hindsight) -> list[int]:
        goals = source.trajectory.events[:, 1]
        return np.unique(goals if self._kinds is None else self._kinds[goals]).tolist()
