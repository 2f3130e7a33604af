import math

import numpy as np
import pytest

from agent.goals import vocabulary as v


def test_there_are_191_goals_in_their_fixed_order():
    names = [goal.name for goal in v.GOALS]
    assert v.NUM_GOALS == len(names) == len(set(names)) == 191
    assert names[:9] == [
        "collect coal",
        "collect diamond",
        "collect drink",
        "collect iron",
        "collect sapling",
        "collect stone",
        "collect wood",
        "defeat skeleton",
        "defeat zombie",
    ]
    assert names[11:13] == ["make wood pickaxe", "make wood sword"]
    assert names[21:24] == ["wake up", "travel (0, 0)", "travel (0, 5)"]
    assert names[-1] == "travel (60, 60)"
    assert [goal.id for goal in v.GOALS] == list(range(191))


def test_goal_ids_by_name():
    assert v.goal_id("collect coal") == 0
    assert v.goal_id("travel (60, 60)") == 190
    with pytest.raises(KeyError):
        v.goal_id("wood")


def test_every_achievement_has_its_goal():
    goals = [v.achievement_goal(index) for index in range(len(v.ACHIEVEMENTS))]
    assert sorted(goals) == list(range(22))
    assert v.GOALS[v.achievement_goal(v.ACHIEVEMENTS.index("make_iron_sword"))].name == "make iron sword"


def test_achievements_are_the_games():
    from crafter import constants

    assert list(v.ACHIEVEMENTS) == constants.achievements  # pyright: ignore[reportAttributeAccessIssue]


def test_travel_rule_is_less_than_two_metres_from_the_grid_point():
    for x in range(64):
        for y in range(64):
            near = [
                goal.id
                for goal in v.GOALS
                if goal.x is not None and goal.y is not None and math.hypot(x - goal.x, y - goal.y) < 2
            ]
            assert v.travel_goal(x, y) == (near[0] if near else None), (x, y)


def test_tokens_tell_every_goal_apart():
    table = v.goal_tokens()
    assert table.shape == (192, 3) and table.dtype == np.uint8
    assert not table[v.NO_GOAL].any()
    assert len(np.unique(table, axis=0)) == 192
    assert table.max() == v.NUM_TOKENS - 1
    words = [v.TOKENS[token] for token in table[v.goal_id("make stone pickaxe")]]
    assert words == ["make", "stone", "pickaxe"]
    words = [v.TOKENS[token] for token in table[v.goal_id("collect wood")]]
    assert words == ["collect", "wood", ""]
    words = [v.TOKENS[token] for token in table[v.goal_id("travel (10, 20)")]]
    assert words == ["travel", "10", "20"]
