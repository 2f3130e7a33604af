"""Which trajectories reached which kind of goal."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from test_replay import make_trajectory

from agent.goal_index import GoalIndex
from agent.goals.vocabularies import vocabulary
from agent.goals.vocabulary import goal_id
from agent.relabel import Hindsight

DRAWS = 6_000


def source(*goals: int) -> Hindsight:
    """A trajectory whose steps reach one of `goals` after the other."""
    events = np.array([(step, goal) for step, goal in enumerate(goals)], np.int32).reshape(-1, 2)
    return Hindsight(replace(make_trajectory(1, 4), events=events))


def shares(index: GoalIndex) -> dict[Hindsight, float]:
    rng = np.random.default_rng(0)
    drawn = [found for _ in range(DRAWS) if (found := index.draw(rng))]
    return {found: count / DRAWS for found, count in Counter(source for source, _ in drawn).items()}


def test_the_step_that_comes_along_reached_the_kind():
    index = GoalIndex(np.array([0, 0, 1]))
    only = source(2, 0, 1, 1)
    index.add(only)
    rng = np.random.default_rng(0)
    steps = Counter(found[1] for _ in range(DRAWS) if (found := index.draw(rng)))
    expected = {0: 1 / 2, 1: 1 / 6, 2: 1 / 6, 3: 1 / 6}
    assert {step: count / DRAWS for step, count in steps.items()} == pytest.approx(expected, abs=0.03)


def test_kinds_are_as_likely_as_each_other_however_many_reached_them():
    """Goals 0 and 1 are of one kind: two trajectories share its half; the third has goal 2's, though also goal 0."""
    index = GoalIndex(np.array([5, 5, 9]))
    first, second, third, nothing = source(0, 0), source(1), source(0, 2), source()
    for each in (first, second, third, nothing):
        index.add(each)
    assert shares(index) == pytest.approx({first: 1 / 6, second: 1 / 6, third: 1 / 6 + 1 / 2}, abs=0.03)


def test_without_kinds_every_goal_is_one_of_its_own():
    index = GoalIndex(None)
    first, second = source(0), source(1)
    for each in (first, second):
        index.add(each)
    assert shares(index) == pytest.approx({first: 0.5, second: 0.5}, abs=0.03)


def test_what_is_removed_is_not_drawn_and_its_kind_goes_with_the_last():
    index = GoalIndex(None)
    old, new, other = source(0), source(0), source(1)
    for each in (old, new, other):
        index.add(each)
    index.remove(old)
    index.remove(other)
    assert shares(index) == {new: 1.0}
    index.remove(new)
    assert index.draw(np.random.default_rng(0)) is None


def test_all_places_to_go_to_in_crafter_are_of_one_kind():
    kinds = vocabulary("crafter").kinds
    near, far, wood = (goal_id(name) for name in ("travel (30, 30)", "travel (60, 60)", "collect wood"))
    assert kinds[near] == kinds[far] != kinds[wood]
    assert len(np.unique(kinds)) == 23
