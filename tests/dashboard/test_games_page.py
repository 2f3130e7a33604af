"""Several games on the pages: figures by hand, and the pages as a browser would get them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from game_runs import GAMES, make_games_run, played, report_of
from streamlit.testing.v1 import AppTest

from dashboard import game_figures, queries
from dashboard.game_tables import game_sets, games
from dashboard.metric_names import game_of, title
from store.atomic import write_json
from store.games import StoredGame
from store.metrics import Series

OpenPage = Callable[..., AppTest]
RUN = "wise-lynx-4"
ASPECTS = ("Now", "Over training", "First and last attempt")
COINS, GOLD, SILVER = StoredGame("coins", low=0.0, high=8.0), StoredGame("gold"), StoredGame("silver", held_out=True)


def series(steps: list[int], values: list[float]) -> Series:
    return Series(np.array(steps), np.array(steps), np.array(steps, float), np.array(values))


CURVES = {
    "rollout/game/coins/return": series([10, 50, 60, 100], [0.0, 2.0, 4.0, float("nan")]),
    "rollout/game/gold/return": series([20, 100], [100.0, 300.0]),
    "rollout/game/gold/success": series([20, 100], [0.0, 1.0]),
    "rollout/game/silver/return": series([20], [1.0]),
}


@pytest.fixture
def games_run(no_runs: Path) -> Path:
    make_games_run(no_runs, RUN)
    return no_runs


def texts(app: AppTest) -> str:
    kinds = (app.title, app.subheader, app.caption, app.markdown, app.info, app.warning, app.error, app.code)
    return "\n".join(str(each.value) for kind in kinds for each in kind)


def assert_sound(app: AppTest) -> None:
    assert not app.exception and "Sorry" not in texts(app)


def test_how_games_do_now() -> None:
    found = game_figures.now(CURVES, (COINS, GOLD, SILVER)).set_index("game")
    assert list(found.index) == ["coins", "gold"]
    assert (found.loc["coins", "return"], found.loc["coins", "level"]) == (2.0, 0.25)
    assert (found.loc["gold", "return"], found.loc["gold", "level"]) == (200.0, 0.5)
    assert np.isnan(found.loc["gold", "normalised"])


def test_training_falls_into_stretches() -> None:
    found = game_figures.over_training(CURVES, (COINS, GOLD, SILVER), bins=2)
    rows = found[["game", "begin", "end", "return", "level", "values"]].to_numpy().tolist()
    assert rows == [
        ["coins", 0.0, 50.0, 1.0, 0.125, 2],
        ["coins", 50.0, 100.0, 4.0, 0.5, 1],
        ["gold", 0.0, 50.0, 100.0, 0.0, 1],
        ["gold", 50.0, 100.0, 300.0, 1.0, 1],
    ]
    assert game_figures.within_own_range(found)["level"].tolist() == [0.0, 1.0, 0.0, 1.0]
    assert game_figures.over_training({}, (COINS,)).empty


def test_metrics_of_games_are_known_by_their_names() -> None:
    assert game_of("rollout/game/Env-v0/easy/return") == "Env-v0/easy" and game_of("rollout/return") is None
    assert title("eval/game/coins/success") == "coins: success in evaluations (share of rollouts)"


def test_tables_of_a_report(games_run: Path) -> None:
    table = games(queries.reports(RUN)[0]).set_index("game")
    assert list(table.index) == ["coins", "gold", "silver"] and list(table["kind"]) == [
        "trained",
        "trained",
        "held out",
    ]
    gold = table.loc["gold"]
    assert (gold["first"], gold["last"], gold["change"], gold["normalised"]) == pytest.approx((200, 600, 400, 0.75))
    sets = game_sets(queries.reports(RUN)[0])
    assert sets[["games", "policy", "attempt", "normalised mean"]].to_numpy().tolist()[:2] == [
        ["2 trained", "agent", "first", 0.25],
        ["2 trained", "agent", "last", 0.75],
    ]


@pytest.mark.parametrize("strange", [None, 3, [1], [{"name": 2, "last": {"returns": [], "normalised": "x"}}]])
def test_a_strangers_report_breaks_nothing(strange: Any) -> None:
    document = {"agent": {"games": strange, "game_sets": strange}, "random": {"games": strange}}
    assert len(games(document)) == len(strange if isinstance(strange, list) and isinstance(strange[0], dict) else [])
    game_sets(document)


def test_queries_know_the_games(games_run: Path) -> None:
    assert [(game.name, game.held_out, game.scale) for game in queries.games(RUN)] == [
        ("coins", False, 1.0),
        ("gold", False, 0.01),
        ("silver", True, 1.0),
    ]
    table = queries.rollout_table(RUN, "eval")
    assert table["game"].tolist() == [name for name in ("coins", "gold", "silver") for _ in range(3)]


@pytest.mark.parametrize("aspect", ASPECTS)
def test_every_aspect_of_the_page(games_run: Path, open_page: OpenPage, aspect: str) -> None:
    app = open_page("games", run=RUN, **{"show of games": aspect})
    assert_sound(app)
    drawn = len(app.get("vega_lite_chart")) + len(app.get("arrow_vega_lite_chart"))
    assert drawn == {"Now": 1, "Over training": 3, "First and last attempt": 2}[aspect]


def test_games_without_a_scale_are_drawn_within_their_own_range(no_runs: Path, open_page: OpenPage) -> None:
    from dataclasses import replace

    from game_runs import SPEC

    bare = replace(SPEC, games=tuple(game._replace(low=None) for game in GAMES))
    make_games_run(no_runs, RUN, spec=bare)
    for aspect in ASPECTS:
        assert_sound(open_page("games", run=RUN, **{"show of games": aspect}))


def test_a_run_of_one_game_says_so(runs: Path, open_page: OpenPage) -> None:
    app = open_page("games", run="calm-otter-1")
    assert_sound(app)
    assert "play one game each" in texts(app)


def test_the_other_pages_know_the_game(games_run: Path, open_page: OpenPage) -> None:
    app = open_page("replay", run=RUN, split="eval", ep="7", t="0")
    assert_sound(app)
    assert "**silver**" in texts(app)
    assert "coins" in app.selectbox(key="replay filter game").options
    app = open_page("attempts", run=RUN)
    assert_sound(app)
    assert app.selectbox(key="attempts game").options == ["coins", "gold", "silver"]
    assert [each.value for each in app.metric][:3] == ["3", "2", "6"]  # pairs, and 0.25 and 0.75 of 8
    app = open_page("training", run=RUN)
    assert_sound(app)
    assert app.multiselect(key="games of the curves").options == ["coins", "gold"]
    app = open_page("evaluations", run=RUN)
    assert_sound(app)
    assert any("normalised mean" in each.value for each in app.dataframe)


def test_runs_are_compared_game_by_game(games_run: Path, open_page: OpenPage) -> None:
    other = make_games_run(games_run, "wise-lynx-5")
    worse = [played(game, 0.25, 0.5, seed=2 * i + 1, split="eval") for game in GAMES for i in range(3)]
    (file,) = other.reports.iterdir()
    write_json(file, copy.deepcopy(report_of(other, worse)))
    app = open_page("compare", run=[RUN, "wise-lynx-5"])
    assert_sound(app)
    assert "By game" in [each.value for each in app.subheader]
    assert "over 3 games" in texts(app)
    assert not [each for each in app.segmented_control if each.label == "Score" and len(each.options) > 1]
