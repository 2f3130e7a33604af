"""How collecting and learning keep pace with each other.

Pure arithmetic on counters: u updates are due after warm-up + u * steps_per_update environment steps. Whoever is ahead
waits: the learner exactly at the line, the collector a little beyond it, so that neither starves in between.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True)
class Pace:
    """The line that collecting and learning follow."""

    steps_per_update: float
    lead_updates: int  # how far collecting may be ahead, in updates
    free_steps: int  # environment steps that owe no update: the warm-up

    @property
    def lead_steps(self) -> int:
        """How far collecting may be ahead, in environment steps."""
        return math.ceil(self.lead_updates * self.steps_per_update)

    def updates_due(self, step: int) -> int:
        """Updates that may have been made once `step` steps are collected."""
        return max(0, int((step - self.free_steps) / self.steps_per_update))

    def allowed_step(self, update: int) -> int:
        """Step up to which may be collected once `update` updates are made."""
        return self.free_steps + math.ceil((update + self.lead_updates) * self.steps_per_update)

    def refilled(self, missing: int) -> Self:
        """The pace of a run that has to collect `missing` steps anew before it learns, without a burst afterwards."""
        return type(self)(self.steps_per_update, self.lead_updates, self.free_steps + missing)
