"""What a training run or an evaluation tells whoever is watching it.

Plain data: knows nothing of terminals, files or networks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Tally:
    """Successes among trials."""

    successes: int
    trials: int

    @property
    def rate(self) -> float | None:
        """Share of successes, or None without a trial ("no data" is not zero)."""
        return self.successes / self.trials if self.trials else None


@dataclass(frozen=True)
class Progress:
    """One report of a training run, sent every `run.log_every` seconds."""

    phase: str  # "warm-up" until the first update, then "learning"; meanwhile "paused" or "evaluating"
    step: int  # environment steps of the run so far, all lifetimes together
    update: int  # optimiser steps so far
    rollouts: int  # rollouts finished so far
    steps_per_second: float  # since the last report
    updates_per_second: float
    elapsed: float  # seconds of training, all lifetimes together
    remaining: float | None  # seconds, None without a budget
    fraction: float | None  # of the budget, None without one
    success: Tally | None  # recent training rollouts that succeeded, None where the environment knows no success
    wanted: Tally | None = None  # the wanted instruction among its recent rollouts
    subgoals: tuple[tuple[str, Tally], ...] = ()  # each subgoal of the wanted instruction, in order
    mean_return: float | None = None  # of the recent training rollouts, None before the first
    attempts: tuple[float, float] | None = None  # mean return of first and last attempt, where rollouts have several
    normalised: float | None = None  # mean over games of the normalised return, where the environment plays several
    losses: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Event:
    """Something worth one line: a checkpoint, a replaced worker, a goal reached for the first time."""

    kind: str  # "info", or one of the kinds of `store.events`
    text: str


REASONS = {
    "steps": "its steps are done",
    "updates": "its updates are done",
    "minutes": "its minutes are over",
    "stopped": "stopped on request",
}
"""Why a training run ends when nothing is wrong, in words."""


@dataclass(frozen=True)
class EvalProgress:
    """Finished episodes of an evaluation."""

    finished: int
    total: int
    elapsed: float  # seconds


Listener = Callable[[Progress | Event | EvalProgress], None]


def ignore(_: Progress | Event | EvalProgress) -> None:
    """The listener of nobody."""
