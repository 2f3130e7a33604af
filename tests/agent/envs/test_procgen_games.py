"""What is known of Procgen's games without the package."""

import pytest

from agent.envs.base import MAX_SEED
from agent.envs.procgen_games import NAMES, game_of, level_of, playable_mode, success_return, time_limit

LARGEST = 2**31 - 1  # of the numbers that the package takes for a level


@pytest.mark.parametrize("num_levels", [1, 7, 2000, 1_000_000_000, 0])
def test_training_levels_are_not_those_of_evaluations(num_levels):
    trained = {level_of(seed, num_levels) for seed in range(0, 40_000, 2)}
    held_out = {level_of(seed, num_levels) for seed in range(1, 40_000, 2)}
    assert not trained & held_out and len(held_out) == 20_000
    if num_levels:
        assert max(trained) < num_levels <= min(held_out)
        assert len(trained) == min(num_levels, 20_000)
    for seed in (MAX_SEED - 2, MAX_SEED - 1):
        assert 0 <= level_of(seed, num_levels) < LARGEST


def test_each_training_level_is_as_likely():
    levels = [level_of(seed, 5) for seed in range(0, 1000, 2)]
    assert [levels.count(level) for level in range(5)] == [100] * 5


def test_returns_are_normalised_by_the_constants_of_the_mode():
    assert len(NAMES) == 16
    assert game_of("starpilot", "easy", 1.0).normalised(2.5) == 0
    assert game_of("starpilot", "easy", 1.0).normalised(64) == 1
    assert game_of("starpilot", "hard", 1.0).normalised(1.5 + 33.5 / 2) == pytest.approx(0.5)
    assert game_of("climber", "easy", 0.1).normalised(1.26) == pytest.approx(1)
    for name in NAMES:
        for mode in ("easy", "hard", "memory"):
            game = game_of(name, mode, 1.0)
            assert game.low is not None and game.high is not None and game.low < game.high and not game.held_out
        assert game_of(name, "memory", 1.0) == game_of(name, "hard", 1.0)


def test_hard_levels_stand_in_where_there_is_no_memory_mode():
    modes = {name: playable_mode(name, "memory") for name in NAMES}
    assert [name for name, mode in modes.items() if mode == "memory"] == [
        "caveflyer", "dodgeball", "heist", "jumper", "maze", "miner"
    ]  # fmt: skip
    assert {modes["coinrun"], playable_mode("maze", "hard")} == {"hard"} and playable_mode("coinrun", "easy") == "easy"


def test_success_is_the_one_prize_of_a_level():
    assert success_return({"coinrun": 1.0, "maze": 1.0}) == 10
    assert success_return({"ninja": 100.0}) == 1000
    assert success_return({"coinrun": 1.0, "maze": 2.0}) is None
    assert success_return({"coinrun": 1.0, "starpilot": 1.0}) is None


def test_time_limits():
    assert [time_limit(name, "hard") for name in ("coinrun", "leaper", "jumper", "bigfish")] == [1000, 500, 1000, 6000]
    assert [time_limit(name, "memory") for name in ("maze", "jumper", "miner")] == [500, 2000, 1000]
