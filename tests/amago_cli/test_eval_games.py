"""`amago eval` of an environment of several games; the agent returns 0 and then 1 in each."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Amago = Callable[..., Any]


def test_all_games_are_played_the_held_out_ones_too(amago: Amago, evaluation: Any, several_games: Path) -> None:
    result = amago("eval", "--checkpoint", "a")
    assert result.code == 0
    assert [(call["games"], call["episodes"]) for call in evaluation.calls] == [(("coins", "gold", "silver"), 10)] * 2
    assert "the agent: 3 games x 10 episodes" in result.err
    for words in ("Over games", "Trained games", "Held-out games", "2 trained"):
        assert words in result.out


def test_some_games_are_played(amago: Amago, evaluation: Any, several_games: Path) -> None:
    result = amago("eval", "--checkpoint", "a", "--games", "gold, coins,gold", "--episodes", "2", "--json")
    assert (evaluation.calls[0]["games"], evaluation.calls[0]["episodes"]) == (("gold", "coins"), 2)
    document = json.loads(result.out)
    assert document["header"]["suite"] == "games"
    assert [game["name"] for game in document["agent"]["games"]] == ["coins", "gold"]
    assert document["agent"]["game_sets"][0]["last"]["mean"]["value"] == 0.5


def test_a_game_nobody_knows_is_named_with_what_is_near(amago: Amago, evaluation: Any, several_games: Path) -> None:
    result = amago("eval", "--checkpoint", "a", "--games", "golf")
    assert result.code != 0 and not evaluation.calls
    assert "has no game 'golf'; is it gold?" in result.err


@pytest.mark.parametrize("named", ["", ",", " , "])
def test_naming_no_game_is_not_all_games(amago: Amago, evaluation: Any, several_games: Path, named: str) -> None:
    result = amago("eval", "--checkpoint", "a", "--games", named)
    assert result.code == 2 and not evaluation.calls
    assert "--games names no game; without it all are played" in result.err


def test_an_environment_of_one_game_has_none_to_choose(amago: Amago, evaluation: Any, pendulum: Path) -> None:
    result = amago("eval", "--checkpoint", "a", "--games", "coins")
    assert result.code != 0 and not evaluation.calls
    assert "--games needs an environment that plays several games, gym:Pendulum-v1 does not" in result.err
