"""A trajectory that breaks the contract is refused with the name of the field."""

from dataclasses import replace

import numpy as np
import pytest

from store.trajectory import CUT_SHORT, Attempt, validate


def test_a_sound_trajectory_passes_and_knows_itself(make):
    trajectory = make(4)
    trajectory = replace(trajectory, rewards=np.array([0.5, 0, 1, 0.25], np.float32))
    validate(trajectory)
    assert (trajectory.length, trajectory.ret, trajectory.completed) == (4, 1.75, False)
    # views 5*63, daylight 5*4, actions 4*8, rewards 4*4, ends 4+4, states 5+5, goals 2*2, events 4*4
    assert trajectory.num_bytes == 315 + 20 + 32 + 16 + 8 + 10 + 4 + 16


def test_completed_means_every_subgoal(make):
    both = np.array([0, 1, 2, 2, 2], np.uint8)
    assert replace(make(4), progress=both).completed
    free = replace(make(4), instruction=np.zeros(0, np.int16), progress=np.zeros(5, np.uint8))
    validate(free)
    assert not free.completed


BROKEN = {
    "rewards": [np.zeros(0, np.float32), np.zeros(4, np.float64)],
    "actions": [np.zeros(3, np.int64), np.zeros((4, 2, 2)), np.array(["a"] * 4), np.zeros(4, np.complex64)],
    "terminated": [np.zeros(4, np.uint8), np.zeros(5, np.bool_)],
    "truncated": [np.zeros((4, 1), np.bool_)],
    "is_first": [np.zeros(4, np.bool_)],
    "progress": [
        np.zeros(4, np.uint8),
        np.zeros(5, np.int64),
        np.array([0, 1, 2, 3, 3], np.uint8),
        np.array([0, 2, 2, 2, 2], np.uint8),
        np.array([1, 0, 0, 0, 0], np.uint8),
    ],
    "instruction": [np.zeros(2, np.int64), np.zeros((2, 1), np.int16)],
    "events": [
        np.zeros((1, 3), np.int32),
        np.zeros((1, 2), np.int64),
        np.array([[4, 0]], np.int32),
        np.array([[-1, 0]], np.int32),
        np.array([[2, 0], [1, 0]], np.int32),
    ],
}


@pytest.mark.parametrize(("field", "value"), [(field, value) for field in BROKEN for value in BROKEN[field]])
def test_a_broken_array_is_named(make, field, value):
    with pytest.raises(ValueError, match=f"trajectory field {field}"):
        validate(replace(make(4), **{field: value}))


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("view", np.zeros((4, 9), np.uint8)),
        ("view", np.zeros((), np.uint8)),
        ("text", np.array(["a"] * 5)),
        ("a/b", np.zeros(5, np.uint8)),
        (".", np.zeros(5, np.uint8)),
        ("", np.zeros(5, np.uint8)),
    ],
)
def test_a_broken_observation_is_named(make, name, array):
    with pytest.raises(ValueError, match=f"trajectory field observations/{name}"):
        validate(replace(make(4), observations={name: array}))


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("values", np.zeros((4, 2), np.float32)),
        ("values", np.zeros((5, 2), np.float16)),
        ("values", np.zeros(4, np.float16)),
        ("a/b", np.zeros((4, 2), np.float16)),
    ],
)
def test_broken_diagnostics_are_named(make, name, array):
    with pytest.raises(ValueError, match=f"trajectory field diagnostics/{name}"):
        validate(replace(make(4), diagnostics={name: array}))


def test_diagnostics_count_as_bytes(make):
    """Probabilities 4*17*2 and values 4*4*2."""
    assert make(4, noted=True).num_bytes == make(4).num_bytes + 136 + 32


def test_a_trajectory_without_observations_is_refused(make):
    with pytest.raises(ValueError, match="field observations: at least one"):
        validate(replace(make(4), observations={}))


@pytest.mark.parametrize(
    "change",
    [{"cause": "x" * 65}, {"cause": "a\0b"}, {"environment": "ü" * 33}, {"seed": 2**63}, {"step": -(2**64)}],
)
def test_information_that_cannot_be_stored_is_named(make, change):
    trajectory = make(4)
    with pytest.raises(ValueError, match=f"trajectory field info.{next(iter(change))}"):
        validate(replace(trajectory, info=replace(trajectory.info, **change)))


def test_progress_may_fall_where_an_attempt_begins(make):
    again = np.array([True, False, True, False, False])
    validate(replace(make(4), is_first=again, progress=np.array([0, 1, 0, 1, 2], np.uint8)))


def test_attempts_begin_where_is_first_says(make):
    first = np.array([True, False, True, False, False])
    rewards = np.array([0.5, 0, 1, 0.25], np.float32)
    trajectory = replace(make(4), is_first=first, rewards=rewards, progress=np.array([0, 1, 0, 1, 2], np.uint8))
    first, second = frozenset({3}), frozenset({9})  # by steps 0 and 3
    assert trajectory.attempts == [Attempt(2, 0.5, 1, first), Attempt(2, 1.25, 2, second)]
    assert replace(trajectory, is_first=np.zeros(5, bool)).attempts == [Attempt(4, 1.75, 2, first | second)]


def test_a_subgoal_finished_by_the_last_step_of_an_attempt_is_counted(make):
    again = replace(make(4), is_first=np.array([True, False, True, False, False]))
    again = replace(again, progress=np.array([0, 1, 0, 0, 0], np.uint8))  # the instruction is 3, then 7
    for reached, finished in ((7, 2), (3, 1), (9, 1)):
        events = np.array([[0, 3], [1, 5], [1, reached]], np.int32)
        assert replace(again, events=events).attempts[0].progress == finished


@pytest.mark.parametrize("cause", CUT_SHORT)
def test_an_attempt_that_was_cut_short_counts_only_alone(make, cause):
    alone = replace(make(4), info=replace(make(4).info, cause=cause))
    assert [attempt.length for attempt in alone.attempts] == [4]
    second = replace(alone, is_first=np.array([True, False, True, False, False]))
    assert [attempt.length for attempt in second.attempts] == [2]
