"""Training time with a clock in the test's hand."""

import pytest

from agent import clock as clock_module
from agent.clock import Clock
from agent.config import RunSettings


@pytest.fixture
def now(monkeypatch):
    """A list whose only entry is the time."""
    seconds = [1000.0]
    monkeypatch.setattr(clock_module.time, "monotonic", lambda: seconds[0])
    return seconds


def clock_of(steps: int | None = None, minutes: float | None = None, earlier: float = 0.0, step: int = 0) -> Clock:
    return Clock(RunSettings(steps=steps, minutes=minutes), earlier, step, update=0)


def test_lifetimes_add_up(now):
    clock = clock_of(minutes=2.0, earlier=90.0)
    now[0] += 29.0
    assert clock.elapsed == 119.0
    assert clock.finished(0, 0) is None
    assert clock.fraction(0, 0) == pytest.approx(119 / 120)
    assert clock.remaining(0, 0) == pytest.approx(1.0)
    now[0] += 1.0
    assert clock.finished(0, 0) == "minutes"
    now[0] += 100.0
    assert clock.fraction(0, 0) == 1.0 and clock.remaining(0, 0) == 0.0


def test_speeds_are_since_the_last_mark(now):
    clock = clock_of(steps=1000, step=200)
    assert clock.remaining(200, 0) is None
    now[0] += 10.0
    clock.mark(300, 5)
    assert (clock.steps_per_second, clock.updates_per_second) == (10.0, 0.5)
    assert clock.remaining(300, 0) == pytest.approx(70.0)
    now[0] += 5.0
    clock.mark(300, 15)
    assert (clock.steps_per_second, clock.updates_per_second) == (0.0, 2.0)
    assert clock.remaining(300, 0) is None


def test_the_nearer_limit_counts(now):
    clock = clock_of(steps=1000, minutes=10.0)
    now[0] += 60.0
    clock.mark(500, 0)
    assert clock.fraction(500, 0) == 0.5
    assert clock.remaining(500, 0) == pytest.approx(60.0)
    assert clock.finished(999, 0) is None
    assert clock.finished(1000, 0) == "steps"


def test_without_a_budget(now):
    clock = clock_of()
    now[0] += 1e6
    assert clock.finished(10**9, 0) is None and clock.fraction(5, 0) is None and clock.remaining(5, 0) is None


def test_two_marks_at_one_moment(now):
    clock = clock_of()
    clock.mark(0, 0)
    assert clock.steps_per_second == 0.0


def test_updates_are_a_budget_of_their_own(now: list[float]) -> None:
    clock = Clock(RunSettings(updates=40), 0.0, 0, 0)
    now[0] += 10
    clock.mark(0, 20)
    assert clock.fraction(0, 20) == 0.5 and clock.remaining(0, 20) == pytest.approx(10.0)
    assert clock.finished(10**9, 39) is None and clock.finished(0, 40) == "updates"


def test_time_that_stands_still_is_no_training_time(now):
    clock = clock_of(minutes=1.0, earlier=5.0)
    now[0] += 10.0
    with clock.standing_still():
        now[0] += 1000.0
        assert clock.elapsed == 15.0 and clock.finished(0, 0) is None
        with clock.standing_still():
            now[0] += 1000.0
        assert clock.elapsed == 15.0
    now[0] += 10.0
    assert clock.elapsed == 25.0
    clock.mark(200, 40)
    assert (clock.steps_per_second, clock.updates_per_second) == (10.0, 2.0)
