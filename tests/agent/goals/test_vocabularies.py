"""Vocabularies by name: ids, names, tokens and text of what an environment can be asked for."""

import numpy as np
import pytest

from agent.goals import vocabulary as crafter
from agent.goals.grammar import format_instruction
from agent.goals.vocabularies import vocabulary


def test_crafters():
    goals = vocabulary("crafter")
    assert goals.names == tuple(goal.name for goal in crafter.GOALS)
    assert goals.no_goal == crafter.NO_GOAL
    np.testing.assert_array_equal(goals.tokens, crafter.goal_tokens())
    assert goals.milestones == {crafter.achievement_goal(index) for index in range(22)}
    instruction = (crafter.goal_id("eat cow"), crafter.goal_id("eat cow"))
    assert goals.describe(instruction) == format_instruction(instruction) == "eat cow x2"


def test_cells_of_a_grid_by_hand():
    goals = vocabulary("cells 3")
    assert goals.names[:4] == ("cell (0, 0)", "cell (1, 0)", "cell (2, 0)", "cell (0, 1)")
    assert goals.no_goal == len(goals.names) == 9
    tokens = [[1, 1], [2, 1], [3, 1], [1, 2], [2, 2], [3, 2], [1, 3], [2, 3], [3, 3], [0, 0]]
    assert goals.tokens.tolist() == tokens
    assert goals.describe([5, 0]) == "cell (2, 1), cell (0, 0)"
    assert goals.describe([]) == "" and not goals.milestones


@pytest.mark.parametrize("size", [5, 11, 63, 181])
def test_every_cell_has_its_own_name_and_tokens_and_fits_what_is_stored(size):
    goals = vocabulary(f"cells {size}")
    assert len(set(goals.names)) == len(goals.names) == size * size
    assert len(np.unique(goals.tokens, axis=0)) == size * size + 1
    assert goals.no_goal <= np.iinfo(np.int16).max


def test_success_is_one_goal():
    goals = vocabulary("success")
    assert goals.names == ("success",) and goals.no_goal == 1 and goals.tokens.tolist() == [[1], [0]]
    assert goals.describe([0]) == "success"


def test_without_goals():
    goals = vocabulary("")
    assert goals.names == () and goals.no_goal == 0 and goals.tokens.tolist() == [[0]]
    assert goals.describe(()) == ""


@pytest.mark.parametrize(
    "name", ["cells", "cells ", "cells 0", "cells -3", "cells 182", "cells x", "cells 3 4", "Cells 3"]
)
def test_unknown_names_are_refused(name):
    with pytest.raises(ValueError, match="there is no vocabulary"):
        vocabulary(name)


def test_a_vocabulary_is_made_once():
    assert vocabulary("cells 11") is vocabulary("cells 11")
