import numpy as np

from agent.goals.grammar import format_instruction
from agent.goals.suites import SUITES


def test_instructions_are_fresh_draws():
    draws = SUITES["instructions"](np.random.default_rng(0), 30)
    assert len(draws) == 30 and len(set(draws)) > 20
    assert draws == SUITES["instructions"](np.random.default_rng(0), 30)


def test_achievements_are_the_22_single_goals():
    suite = SUITES["achievements"](np.random.default_rng(0), 1)
    assert sorted(suite) == [(goal,) for goal in range(22)]


def test_paper_is_the_papers_list():
    suite = SUITES["paper"](np.random.default_rng(0), 1)
    assert len(suite) == 10
    assert format_instruction(suite[0]) == "make stone pickaxe, collect iron"
    assert format_instruction(suite[7]) == "travel (10, 10), place stone, travel (50, 50), place stone"
    assert [len(instruction) for instruction in suite] == [2, 3, 4, 4, 5, 5, 3, 4, 5, 5]
