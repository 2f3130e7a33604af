"""Where the replayed trajectories are: the newest whole in memory, of older ones the observations on disk only.

What relabelling needs stays in memory, so that draws are the same wherever a trajectory is. Does not know how
trajectories are drawn, nor who stores them.
"""

from collections import deque
from dataclasses import replace

import numpy as np

from agent.goal_index import GoalIndex
from agent.relabel import Hindsight
from store.errors import StorageError
from store.trajectory import Trajectory
from store.windows import WindowReader


class Shelf:
    """Holds the newest trajectories, at most `max_steps` transitions of them (but always the newest one).

    They take `max_bytes` of memory, and beyond that what `stored` does not hold yet. A trajectory whose observations
    vanish from the disk leaves as soon as that is noticed; `lost` counts those.
    """

    def __init__(
        self, max_steps: int, max_bytes: int, stored: WindowReader | None = None, kinds: np.ndarray | None = None
    ) -> None:
        """`stored`: the same trajectories under the same numbers; without it all stay in memory.

        `kinds` (goals,): the number of each goal's kind; without, every goal is one of its own.
        """
        self.max_steps = max_steps
        self.max_bytes = max_bytes
        self.num_steps = 0
        self.num_bytes = 0  # in memory
        self.lost = 0
        self.by_goal = GoalIndex(kinds)
        self._stored = stored
        self._sources: deque[Hindsight] = deque()
        self._num_cold = 0  # of the oldest ones, whose observations are on disk
        self._lasting_bytes = 0  # without any observation
        self._ends: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self._sources)

    def __getitem__(self, index: int) -> Hindsight:
        """The trajectories by age, the oldest first."""
        return self._sources[index]

    @property
    def ends(self) -> np.ndarray:
        """(N,) steps of each trajectory and of all older ones together."""
        if self._ends is None:
            self._ends = np.cumsum([source.trajectory.length for source in self._sources])
        return self._ends

    def add(self, trajectory: Trajectory) -> None:
        """Append the newest trajectory, without its diagnostics; older ones make room for it."""
        self._sources.append(Hindsight(replace(trajectory, diagnostics={})))
        self._count(self._sources[-1], sign=1)
        self.by_goal.add(self._sources[-1])
        while len(self) > 1 and (self.num_steps > self.max_steps or self._lasting_bytes > self.max_bytes):
            self._remove(self._sources[0])
        while self.num_bytes > self.max_bytes and self._can_cool():
            self._cool(self._sources[self._num_cold])

    def observations(self, source: Hindsight, start: int, stop: int) -> dict[str, np.ndarray] | None:
        """Observations [start, stop) of one of the trajectories, None when they have vanished."""
        held = source.trajectory.observations
        if not _is_cold(source):
            return {name: array[start:stop] for name, array in held.items()}
        assert self._stored
        try:
            found = self._stored.observations(source.trajectory.info.number, start, stop)
        except StorageError:
            found = {}
        if _rows(found) == _rows(held):
            return found
        self._forget(source)
        return None

    def _can_cool(self) -> bool:
        """Whether the oldest trajectory that is whole in memory is on disk by now; the newest one stays whole."""
        if self._stored is None or self._num_cold == len(self) - 1:
            return False
        number = self._sources[self._num_cold].trajectory.info.number
        if number > self._stored.newest:
            self._stored.refresh()
        return number <= self._stored.newest

    def _cool(self, source: Hindsight) -> None:
        self._count(source, sign=-1)
        empty = {
            name: np.empty((0, *row), dtype) for name, (dtype, row) in _rows(source.trajectory.observations).items()
        }
        source.trajectory = replace(source.trajectory, observations=empty)
        self._count(source, sign=1)

    def _forget(self, vanished: Hindsight) -> None:
        """Part with a trajectory that cannot be read, and with all that are not stored any more."""
        stored = self._stored
        assert stored
        cold = [source for source in self._sources if _is_cold(source)]
        for source in cold:
            if source is vanished or source.trajectory.info.number not in stored:
                self._remove(source)
                self.lost += 1

    def _remove(self, source: Hindsight) -> None:
        self._sources.remove(source)
        self._count(source, sign=-1)
        self.by_goal.remove(source)

    def _count(self, source: Hindsight, sign: int) -> None:
        observed = sum(array.nbytes for array in source.trajectory.observations.values())
        self.num_steps += sign * source.trajectory.length
        self.num_bytes += sign * source.num_bytes
        self._lasting_bytes += sign * (source.num_bytes - observed)
        self._num_cold += sign * _is_cold(source)
        self._ends = None


def _is_cold(source: Hindsight) -> bool:
    """Its observations are on disk only: in memory there is none, where any trajectory has at least two."""
    return not all(len(array) for array in source.trajectory.observations.values())


def _rows(observations: dict[str, np.ndarray]) -> dict[str, tuple[np.dtype, tuple[int, ...]]]:
    """Type and shape of a row of each."""
    return {name: (array.dtype, array.shape[1:]) for name, array in observations.items()}
