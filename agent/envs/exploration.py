"""How much an actor explores: epsilon, annealed over training and along each rollout.

A pure function of counters, so that it survives a resume. Knows no environment and no policy.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True, kw_only=True)
class ExplorationSchedule:
    """Epsilon of AMAGO's exploration.

    `start` and `end` are (first, last) values of epsilon at the start and at the end of a rollout; both are
    annealed linearly over `anneal_steps` environment steps of all actors together. A rollout lasts up to
    `max_steps` steps, and on its way from start to end epsilon follows (t / max_steps) ** `power`.
    """

    start: tuple[float, float] = (1.0, 0.05)
    end: tuple[float, float] = (0.8, 0.01)
    anneal_steps: int
    max_steps: int
    power: float = 1.0

    def epsilon(self, step: int, t: ArrayLike, multiplier: ArrayLike) -> np.ndarray:
        """Epsilon after `step` steps of training at step `t` of a rollout, times `multiplier`; broadcasts."""
        trained = min(step / self.anneal_steps, 1.0)
        first, last = (value[0] + trained * (value[1] - value[0]) for value in (self.start, self.end))
        played = np.minimum(np.asarray(t) / self.max_steps, 1.0) ** self.power
        return (first + played * (last - first)) * np.asarray(multiplier)
