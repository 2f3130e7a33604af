"""The line that collecting and learning follow."""

from hypothesis import given
from hypothesis import strategies as st

from agent.pace import Pace

PACES = st.builds(
    Pace,
    steps_per_update=st.floats(0.01, 500),
    lead_updates=st.integers(2, 100),
    free_steps=st.integers(0, 100_000),
)


def test_by_hand():
    pace = Pace(steps_per_update=10.0, lead_updates=4, free_steps=100)
    assert [pace.updates_due(step) for step in (0, 100, 109, 110, 125, 200)] == [0, 0, 0, 1, 2, 10]
    assert [pace.allowed_step(update) for update in (0, 1, 10)] == [140, 150, 240]


@given(PACES, st.integers(0, 10_000))
def test_nobody_waits_for_somebody_who_waits(pace, update):
    """When the collector stands at its line, an update is due."""
    assert pace.updates_due(pace.allowed_step(update)) > update


@given(PACES, st.integers(0, 1_000_000))
def test_the_learner_is_never_beyond_its_ratio(pace, step):
    due = pace.updates_due(step)
    assert due >= 0
    assert due * pace.steps_per_update <= max(step - pace.free_steps, 0) + 1e-6


@given(PACES, st.integers(0, 1_000_000), st.integers(0, 100_000))
def test_a_refilled_replay_makes_no_burst(pace, step, missing):
    """What was due before is not due again until the missing steps are there."""
    due = pace.updates_due(step)
    refilled = pace.refilled(missing)
    assert refilled.updates_due(step) <= due
    assert refilled.updates_due(step + missing) == due
    assert refilled.allowed_step(due) >= step
