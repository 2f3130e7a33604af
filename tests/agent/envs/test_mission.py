import numpy as np
import pytest

from agent.envs.babyai import mission_numbers
from agent.envs.mission import mission


@pytest.mark.parametrize("text", ["go to the red ball", "open the red door, then open the blue door"])
def test_numbers_are_words_again(text):
    numbers = np.stack([mission_numbers("pick up a key"), mission_numbers(text)])
    assert mission("babyai", {"mission": numbers}, 1) == text


def test_other_worlds_have_none_and_what_is_no_word_is_left_out():
    numbers = np.array([[250, 1, 0, 2, -7]])
    assert mission("babyai", {"mission": numbers}, 0) == "a the"
    assert mission("maze", {"mission": numbers}, 0) == ""
    for strange in ({}, {"mission": np.zeros((3, 2, 2), np.uint8)}, {"mission": np.ones((3, 2))}):
        assert mission("babyai", strange, 0) == ""
