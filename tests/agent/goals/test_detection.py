import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from agent.goals.detection import advance, replay


def test_only_the_active_subgoal_counts():
    assert advance((3, 5), 0, ()) == 0
    assert advance((3, 5), 0, (5,)) == 0
    assert advance((3, 5), 0, (7, 3)) == 1
    assert advance((3, 5), 2, (3, 5)) == 2
    assert advance((), 0, (3,)) == 0


def test_at_most_one_subgoal_a_step():
    assert advance((3, 3), 0, (3,)) == 1
    assert advance((3, 5), 0, (3, 5)) == 1


def test_replay_by_hand():
    events = np.array([[0, 5], [1, 3], [1, 5], [4, 5], [4, 3], [9, 3]])
    assert replay((3, 5, 3), events, 10).tolist() == [1, 4, 9]
    assert replay((3, 5, 3), events, 9).tolist() == [1, 4]
    assert replay((3, 3, 3, 3), events, 10).tolist() == [1, 4, 9]
    assert replay((8,), events, 10).tolist() == []
    assert replay((), events, 10).tolist() == []
    assert replay((3,), np.zeros((0, 2), int), 10).tolist() == []


steps = st.lists(st.lists(st.integers(0, 3), max_size=3, unique=True), min_size=1, max_size=30)
instructions = st.lists(st.integers(0, 3), max_size=5)


@given(instructions, steps)
def test_replay_is_advance_step_by_step(instruction, achieved):
    progress, completions = 0, []
    for step, goals in enumerate(achieved):
        after = advance(instruction, progress, goals)
        if after > progress:
            completions.append(step)
        progress = after
    events = np.array([(step, goal) for step, goals in enumerate(achieved) for goal in goals]).reshape(-1, 2)
    assert replay(instruction, events, len(achieved)).tolist() == completions
