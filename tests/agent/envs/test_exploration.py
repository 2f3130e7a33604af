import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.envs.exploration import ExplorationSchedule

SCHEDULE = ExplorationSchedule(anneal_steps=1_000_000, max_steps=100)


@pytest.mark.parametrize(
    ("step", "t", "epsilon"),
    [
        (0, 0, 1.0),
        (0, 100, 0.8),
        (0, 50, 0.9),
        (500_000, 0, 0.525),
        (500_000, 100, 0.405),
        (1_000_000, 0, 0.05),
        (1_000_000, 100, 0.01),
        (9_000_000, 50, 0.03),
        (0, 1000, 0.8),
    ],
)
def test_by_hand(step, t, epsilon):
    assert SCHEDULE.epsilon(step, t, 1.0) == pytest.approx(epsilon)


@pytest.mark.parametrize(("power", "epsilon"), [(1.0, 0.5), (2.0, 0.25), (0.5, 0.5**0.5)])
def test_the_way_along_a_rollout_may_bend(power, epsilon):
    schedule = ExplorationSchedule(start=(0.0, 0.0), end=(1.0, 1.0), anneal_steps=9, max_steps=100, power=power)
    assert schedule.epsilon(0, [0, 50, 100, 200], 1.0).tolist() == pytest.approx([0.0, epsilon, 1.0, 1.0])


def test_actors_differ_by_their_step_and_multiplier():
    epsilon = SCHEDULE.epsilon(0, np.array([0, 50, 100]), np.array([0.5, 1.0, 0.0]))
    assert epsilon.tolist() == pytest.approx([0.5, 0.9, 0.0])


@given(st.lists(st.integers(0, 3_000_000), min_size=1, max_size=8), st.integers(0, 300), st.floats(0, 1))
def test_a_function_of_the_counters_alone(steps, t, multiplier):
    """Whatever was asked before: a schedule that is made anew after a resume says the same."""
    lasting = [float(SCHEDULE.epsilon(step, t, multiplier)) for step in steps]
    for step, epsilon in zip(steps, lasting, strict=True):
        resumed = ExplorationSchedule(anneal_steps=1_000_000, max_steps=100)
        assert float(resumed.epsilon(step, t, multiplier)) == epsilon
        first, last = (np.interp(step, [0, 1_000_000], ends) for ends in ((1.0, 0.05), (0.8, 0.01)))
        assert epsilon == pytest.approx(multiplier * np.interp(t, [0, 100], [first, last]))


def test_more_training_never_means_more_exploration():
    epsilons = [SCHEDULE.epsilon(step, np.arange(120), 1.0) for step in range(0, 1_200_000, 50_000)]
    assert (np.diff(epsilons, axis=0) <= 0).all() and (np.diff(epsilons, axis=1) <= 0).all()
