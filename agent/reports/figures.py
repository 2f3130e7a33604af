"""Figures of finished episodes that all tables of a report are made of: tallies, returns, attempts. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, median
from typing import Any

from agent.envs.base import EnvSpec
from agent.progress import Tally
from agent.reports.statistics import mean_estimate, wilson
from agent.tallies import counted_attempts, has_success, succeeded
from store.trajectory import Attempt, Trajectory


@dataclass(frozen=True)
class Returns:
    """Returns in figures; None where there are none."""

    count: int
    mean: float | None
    interval: tuple[float, float] | None  # of the mean, 95 %
    median: float | None
    min: float | None
    max: float | None


@dataclass(frozen=True)
class AttemptResult:
    """Attempt `number` (from 1) of all episodes that had one."""

    number: int
    returns: Returns
    success: Tally | None
    mean_steps: float


class Played:
    """An episode with what is asked of it again and again."""

    def __init__(self, trajectory: Trajectory, spec: EnvSpec) -> None:
        self.trajectory = trajectory
        self.instruction = tuple(trajectory.instruction.tolist())
        self.game = trajectory.info.game
        self.cause = trajectory.info.cause
        self.attempts = counted_attempts(spec, trajectory)
        self.last = self.attempts[-1]
        self.success = succeeded(spec, self.last, len(self.instruction))


def tally_of(judged: Iterable[bool | None]) -> Tally:
    """Successes among those that could be judged."""
    known = [success for success in judged if success is not None]
    return Tally(sum(known), len(known))


def returns_of(values: Sequence[float]) -> Returns:
    """The figures of some returns."""
    if not values:
        return Returns(0, None, None, None, None, None)
    mean = mean_estimate(values)
    return Returns(len(values), fmean(values), mean.interval, median(values), min(values), max(values))


def attempt_results(played: Sequence[Played], spec: EnvSpec, scale: float = 1.0) -> tuple[AttemptResult, ...]:
    """First attempts, second attempts and so on, each of all episodes that had one; returns divided by `scale`."""
    most = max((len(each.attempts) for each in played), default=0)
    groups = [[(e.attempts[k], len(e.instruction)) for e in played if len(e.attempts) > k] for k in range(most)]
    return tuple(_attempt_result(number, group, spec, scale) for number, group in enumerate(groups, 1))


def _attempt_result(number: int, group: Sequence[tuple[Attempt, int]], spec: EnvSpec, scale: float) -> AttemptResult:
    success = tally_of(succeeded(spec, attempt, num_subgoals) for attempt, num_subgoals in group)
    return AttemptResult(
        number=number,
        returns=returns_of([attempt.ret / scale for attempt, _ in group]),
        success=success if has_success(spec) else None,
        mean_steps=fmean(attempt.length for attempt, _ in group),
    )


def tally_to_json(tally: Tally | None) -> dict[str, Any] | None:
    """With its rate and its interval; null stays null."""
    if tally is None:
        return None
    return asdict(tally) | {"rate": tally.rate, "interval": wilson(tally.successes, tally.trials)}
