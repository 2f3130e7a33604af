import numpy as np
import pytest

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


def test_actors_differ_by_their_step_and_multiplier():
    epsilon = SCHEDULE.epsilon(0, np.array([0, 50, 100]), np.array([0.5, 1.0, 0.0]))
    assert epsilon.tolist() == pytest.approx([0.5, 0.9, 0.0])
