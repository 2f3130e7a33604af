"""Figures of evaluations of several games, by hand."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from report_data import LAKE, header, trial

from agent.envs.base import Game
from agent.goals.vocabularies import SUCCESS
from agent.progress import Tally
from agent.reports.comparison import compare, group_runs
from agent.reports.comparison_text import caption, group_rows, pair_rows
from agent.reports.games_text import game_rows, set_rows
from agent.reports.html import to_html
from agent.reports.report import EvalReport, Results, summarise, to_json
from agent.reports.scores import read_scores
from agent.reports.statistics import estimate_of_groups, iqm, mean
from agent.reports.text import header_facts, overall_rows, to_markdown
from store.trajectory import Trajectory

GAMES = (
    Game("silver", held_out=True, low=0.0, high=80.0),
    Game("coins", low=0.0, high=8.0),
    Game("gold", low=100.0, high=300.0, scale=0.01),
)
SPEC = replace(LAKE, name="games", success_return=None, games=GAMES)


def episode(game: str, seed: int, *attempts: float) -> Trajectory:
    """Attempts of one step that pay so much."""
    alone = trial(*([paid] for paid in attempts))
    return replace(alone, info=replace(alone.info, game=game, seed=seed))


PLAYED = [
    episode("coins", 1, 2.0, 4.0),
    episode("coins", 3, 4.0, 8.0),
    episode("gold", 1, 1.0, 3.0),
    episode("gold", 3, 3.0, 3.0),
    episode("silver", 1, 40.0, 20.0),
    episode("silver", 3, 40.0, 20.0),
]


def report(played: list[Trajectory] = PLAYED, random: list[Trajectory] | None = None) -> EvalReport:
    beside = summarise(random, None, SPEC) if random else None
    return EvalReport(header(suite="games", episodes=2), summarise(played, None, SPEC), beside)


def results() -> Results:
    return summarise(PLAYED, None, SPEC)


def test_returns_are_in_the_games_unit_trained_games_come_first() -> None:
    coins, gold, silver = results().games
    assert (coins.name, gold.name, silver.name) == ("coins", "gold", "silver")
    assert (coins.held_out, gold.held_out, silver.held_out) == (False, False, True)
    assert (coins.first.returns.mean, coins.last.returns.mean) == (3.0, 6.0)
    assert (gold.first.returns.mean, gold.last.returns.mean) == pytest.approx((200.0, 300.0))
    assert [row.returns.mean for row in gold.attempts] == pytest.approx([200.0, 300.0])


def test_differences_are_paired_over_worlds() -> None:
    coins, gold, silver = results().games
    assert coins.difference is not None and coins.difference.value == 3.0 and coins.difference.interval == (2.0, 4.0)
    assert gold.difference is not None and gold.difference.value == pytest.approx(100)
    assert silver.difference is not None and silver.difference.interval == (-20.0, -20.0)
    assert summarise([episode("coins", 1, 2.0)], None, SPEC).games[0].difference is None


def test_trained_and_held_out_games_are_put_together_apart() -> None:
    trained, held_out = results().game_sets
    assert (trained.held_out, trained.count, held_out.held_out, held_out.count) == (False, 2, True, 1)
    assert trained.first.mean is not None and trained.first.mean.value == pytest.approx((3 / 8 + 0.5) / 2)
    assert trained.last.mean is not None and trained.last.mean.value == pytest.approx((6 / 8 + 1.0) / 2)
    assert held_out.last.mean is not None and held_out.last.mean.value == 0.25
    assert trained.last.success is None


def test_a_game_without_a_scale_leaves_no_mean_over_games() -> None:
    spec = replace(SPEC, games=(Game("coins"), Game("gold", low=0.0, high=1.0)))
    found = summarise(PLAYED, None, spec)
    assert [game.last.normalised is None for game in found.games] == [True, False]
    assert found.game_sets[0].last.mean is found.game_sets[0].last.iqm is None


def test_success_of_first_and_last_attempts() -> None:
    spec = replace(SPEC, vocabulary=SUCCESS)
    won = replace(episode("coins", 1, 0.0, 1.0), events=np.array([[1, 0]], np.int32))
    found = summarise([won, episode("coins", 3, 0.0, 0.0)], None, spec)
    assert (found.games[0].first.success, found.games[0].last.success) == (Tally(0, 2), Tally(1, 2))
    assert found.game_sets[0].last.success == Tally(1, 2)


def test_the_interval_of_a_mean_over_groups_is_over_their_values() -> None:
    groups = [np.array([0.0, 1.0]), np.array([0.5, 0.5]), np.array([1.0, 1.0, 1.0]), np.array([0.0, 0.0])]
    found = estimate_of_groups(mean, groups)
    assert found.value == 0.5 and found.interval == (0.375, 0.625)
    assert estimate_of_groups(iqm, groups).value == 0.5  # of 0, 0.5, 0.5, 1
    assert estimate_of_groups(mean, [np.array([1.0]), np.array([2.0, 3.0])]).interval is None
    with pytest.raises(ValueError, match="a value in each"):
        estimate_of_groups(mean, [np.array([]), np.array([1.0])])


def test_tables() -> None:
    told = report(random=[episode("coins", 1, 0.0, 1.0), episode("coins", 3, 0.0, 3.0)])
    table_header, rows = game_rows(told, held_out=False)
    assert table_header == ["game", "first", "last", "95 %", "change", "95 %", "normalised", "95 %", "random"]
    assert rows[0] == ["coins", "3", "6", "4 to 8", "3", "2 to 4", "0.75", "0.5 to 1", "2"]
    assert rows[1][0] == "gold" and rows[1][-1] == ""
    assert [row[0] for row in game_rows(told, held_out=True)[1]] == ["silver"]
    table_header, rows = set_rows(told)
    assert table_header[:4] == ["games", "policy", "attempt", "normalised mean"]
    assert [row[:4] for row in rows] == [
        ["2 trained", "agent", "first", "0.438"],
        ["2 trained", "agent", "last", "0.875"],
        ["1 trained", "random", "first", "0"],
        ["1 trained", "random", "last", "0.25"],
        ["1 held out", "agent", "first", "0.5"],
        ["1 held out", "agent", "last", "0.25"],
    ]


def test_one_attempt_is_told_as_a_return() -> None:
    told = report([episode("coins", 1, 2.0), episode("coins", 3, 4.0)])
    assert game_rows(told, held_out=False)[0] == ["game", "return", "95 %", "normalised", "95 %"]
    assert "attempt" not in set_rows(told)[0]


def test_no_mean_is_told_of_returns_in_different_units() -> None:
    assert overall_rows(report())[0] == ["policy", "how episodes ended"]
    text = to_markdown(report())
    assert "## Attempts" not in text and header_facts(report())["episodes"].startswith("2 per game")
    assert text.index("## Over games") < text.index("## Trained games") < text.index("## Held-out games")


def test_the_page_has_the_same_figures() -> None:
    page = to_html(report(random=PLAYED), [])
    for words in ("Trained games", "Held-out games", "normalised, trained games (2)", "normalised, held-out games (1)"):
        assert words in page
    assert "agent, normalised: 0.75 (0.5 to 1)" in page


def test_a_bar_in_the_name_of_a_game_does_not_break_the_table() -> None:
    spec = replace(SPEC, games=(Game("a|b"),))
    told = EvalReport(header(), summarise([episode("a|b", 1, 2.0)], None, spec))
    assert r"| a\|b | 2 |" in to_markdown(told)


def stored(played: list[Trajectory]) -> dict[str, object]:
    return json.loads(json.dumps(to_json(report(played)), allow_nan=False))


def test_json_says_of_every_episode_its_game() -> None:
    document = to_json(report())
    assert [each["game"] for each in document["agent"]["episodes"]][:3] == ["coins", "coins", "gold"]
    assert document["agent"]["episodes"][2]["normalised"] == pytest.approx(1.0)
    assert document["agent"]["games"][0]["last"]["normalised"]["value"] == 0.75
    assert document["agent"]["game_sets"][1]["held_out"] is True


def test_games_are_the_tasks_of_a_comparison() -> None:
    """The other run has half the returns of coins and the same of the others."""
    worse = [replace(each, rewards=each.rewards / 2) if each.info.game == "coins" else each for each in PLAYED]
    scores = [read_scores("a", stored(PLAYED)), read_scores("b", stored(worse))]
    assert scores[0].measure == "normalised return" and scores[0].tasks == ("coins", "gold", "silver")
    found = compare(group_runs(scores, {}))
    (pair,) = found.pairs
    assert [task.value for task in pair.tasks] == pytest.approx([0.375, 0.0, 0.0])
    assert pair.improvement.value == pytest.approx((1 + 0.5 + 0.5) / 3)
    assert [(part.name, part.improvement.value) for part in pair.sets] == [
        ("trained games", 0.75),
        ("held-out games", 0.5),
    ]
    assert [row[0] for row in group_rows(found)[1]][:3] == ["a", "a, trained games", "a, held-out games"]
    assert [row[0] for row in pair_rows(found, pair)[1]][3:] == ["trained games", "held-out games", "all"]
    assert "On trained games: 75%" in caption(pair)


def test_returns_in_different_units_are_compared_with_a_warning() -> None:
    document = stored(PLAYED)
    for each in document["agent"]["episodes"]:  # type: ignore[index]
        each["normalised"] = None
    scores = [read_scores(run, document) for run in "ab"]
    assert scores[0].measure == "return"
    assert any("different units" in note for note in compare(group_runs(scores, {})).notes)


def test_reports_from_before_there_were_games_are_read() -> None:
    document = stored([episode("", 1, 2.0), episode("", 3, 4.0)])
    for name in ("games", "game_sets"):
        del document["agent"][name]  # type: ignore[attr-defined, index]
    for each in document["agent"]["episodes"]:  # type: ignore[index]
        del each["game"], each["normalised"]
    document["header"]["suite"] = "worlds"  # type: ignore[index]
    found = read_scores("a", document)
    assert found.measure == "return" and found.means.tolist() == [3.0] and found.sets == {}
