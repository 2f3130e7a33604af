"""What a stored description says of games, a stranger's too."""

from __future__ import annotations

import pytest

from store.games import StoredGame, stored_games


def test_returns_have_the_games_unit_and_its_scale() -> None:
    (game,) = stored_games({"games": {"gold": {"held_out": True, "low": 100.0, "high": 300.0, "scale": 0.01}}})
    assert game == StoredGame("gold", True, 100.0, 300.0, 0.01)
    assert game.own(2.5) == pytest.approx(250)
    assert game.normalised(250) == 0.75
    assert StoredGame("coins").normalised(3.0) is None
    assert StoredGame("coins", low=1.0, high=1.0).normalised(3.0) is None


@pytest.mark.parametrize("said", [None, [], "chess", 3, [{"name": "chess"}]])
def test_what_names_no_games_has_none(said: object) -> None:
    assert stored_games({"games": said}) == () == stored_games({})


def test_what_is_strange_of_a_game_is_passed_over() -> None:
    nan, strange = {"low": float("nan"), "high": "much", "scale": 0, "held_out": 1}, 7
    assert stored_games({"games": {"a": nan, "b": strange}}) == (StoredGame("a"), StoredGame("b"))
