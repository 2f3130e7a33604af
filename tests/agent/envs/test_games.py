"""Names of games asked for, and which of them an attempt plays."""

import numpy as np
import pytest

from agent.envs.base import Game
from agent.envs.games import chosen_games, played_game
from store.errors import AmagoError

KNOWN = ("CoinRun", "Maze", "Miner")


def test_names_are_found_in_any_spelling_once_and_in_the_order_asked_for():
    assert chosen_games("x", ["miner", "CoinRun", "Miner"], KNOWN) == ("Miner", "CoinRun")
    assert chosen_games("x", [], KNOWN) == KNOWN


def test_an_unknown_name_is_one_line_with_the_nearest_ones():
    with pytest.raises(AmagoError, match=r"^x has no game 'Mainer'; is it Miner or Maze\?$"):
        chosen_games("x", ["Maze", "Mainer"], KNOWN)
    with pytest.raises(AmagoError, match=r"; there are CoinRun, Maze, Miner$"):
        chosen_games("x", ["pong"], KNOWN)
    with pytest.raises(AmagoError, match=r"g11 and 88 more$"):
        chosen_games("x", ["pong"], [f"g{i}" for i in range(100)])


def test_the_game_asked_for_is_played_else_one_that_is_not_held_out():
    games = [Game("a"), Game("b", held_out=True), Game("c")]
    rng = np.random.default_rng(0)
    assert played_game({"game": "b"}, games, rng) == "b"
    assert {played_game({"game": ""}, games, rng) for _ in range(50)} == {"a", "c"}
    assert {played_game(None, games, rng) for _ in range(50)} == {"a", "c"}
