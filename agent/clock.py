"""Training time: how long a run has trained, how fast it goes, and how much of its budget is left."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from agent.config import RunSettings


class Clock:
    """Counts the seconds of training over all lifetimes of a run."""

    def __init__(self, budget: RunSettings, earlier_seconds: float, step: int, update: int) -> None:
        """`earlier_seconds`, `step` and `update`: where the run stands when this lifetime begins."""
        self._budget = budget
        self._earlier = earlier_seconds
        self._started = self._marked = time.monotonic()
        self._stopped_at: float | None = None
        self._step, self._update = step, update
        self.steps_per_second = 0.0
        self.updates_per_second = 0.0

    @property
    def elapsed(self) -> float:
        """Seconds of training, all lifetimes together."""
        return self._earlier + self._now() - self._started

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """Within the block no training time passes, and none is missing from the speeds; blocks may be nested."""
        if self._stopped_at is not None:
            yield
            return
        self._stopped_at = time.monotonic()
        try:
            yield
        finally:
            away = time.monotonic() - self._stopped_at
            self._started += away
            self._marked += away
            self._stopped_at = None

    def mark(self, step: int, update: int) -> None:
        """Measure the speeds since the last mark."""
        now = self._now()
        seconds = max(now - self._marked, 1e-9)
        self.steps_per_second = (step - self._step) / seconds
        self.updates_per_second = (update - self._update) / seconds
        self._marked, self._step, self._update = now, step, update

    def finished(self, step: int, update: int) -> str | None:
        """The part of the budget that is used up, "steps", "updates" or "minutes", or None."""
        if self._budget.steps is not None and step >= self._budget.steps:
            return "steps"
        if self._budget.updates is not None and update >= self._budget.updates:
            return "updates"
        if self._budget.minutes is not None and self.elapsed >= 60 * self._budget.minutes:
            return "minutes"
        return None

    def fraction(self, step: int, update: int) -> float | None:
        """Share of the budget used, by whichever limit is nearer; None without a budget."""
        shares = []
        if self._budget.steps is not None:
            shares.append(step / self._budget.steps)
        if self._budget.updates is not None:
            shares.append(update / self._budget.updates)
        if self._budget.minutes is not None:
            shares.append(self.elapsed / (60 * self._budget.minutes))
        return min(max(shares), 1.0) if shares else None

    def remaining(self, step: int, update: int) -> float | None:
        """Seconds left at the present speed, by whichever limit is nearer; None without a budget or a speed."""
        left = []
        if self._budget.steps is not None and self.steps_per_second > 0:
            left.append((self._budget.steps - step) / self.steps_per_second)
        if self._budget.updates is not None and self.updates_per_second > 0:
            left.append((self._budget.updates - update) / self.updates_per_second)
        if self._budget.minutes is not None:
            left.append(60 * self._budget.minutes - self.elapsed)
        return max(min(left), 0.0) if left else None

    def _now(self) -> float:
        return time.monotonic() if self._stopped_at is None else self._stopped_at
