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

    def draw(self, rng: np.random.Generator) -> tuple[Hindsight, int] | None:
        """One of the trajectories that reached a kind of goal, all kinds being as likely, and a step that reached it.

        None if there is none.
        """
        if not self._sources:
            return None
        kinds = list(self._sources)
        kind = kinds[rng.integers(len(kinds))]
        some = self._sources[kind]
        source = some[rng.integers(len(some))]
        steps = source.trajectory.events[self._kinds_at(source) == kind, 0]
        return source, int(rng.choice(steps))

    def _kinds_of(self, source: Hindsight) -> list[int]:
        return np.unique(self._kinds_at(source)).tolist()

    def _kinds_at(self, source: Hindsight) -> np.ndarray:
        """(E,) the kinds of its events."""
        goals = source.trajectory.events[:, 1]
        return goals if self._kinds is None else self._kinds[goals]
