"""Comparisons of evaluations: what is compared with what, and what the intervals are over."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from report_data import CRAFTER, LAKE, SAPLING, STONE_IRON, header, played, trial

from agent.reports.comparison import Group, compare, group_runs, notes, to_json
from agent.reports.comparison_text import caption, group_rows, pair_rows, to_markdown
from agent.reports.report import EvalReport, summarise
from agent.reports.report import to_json as report_to_json
from agent.reports.scores import WORLDS, Scores, read_scores
from store.errors import AmagoError, StorageError

CONDITIONS = (("environment", "crafter"), ("suite", "goals"), ("interrupted", "no"))
OUTCOMES = {  # run -> task -> success in worlds 1, 3, 5, 7
    "a1": {"wood": [1, 1, 1, 0], "iron": [0, 1, 0, 0]},
    "a2": {"wood": [1, 1, 0, 0], "iron": [0, 0, 0, 0]},
    "b1": {"wood": [1, 0, 0, 0], "iron": [0, 1, 0, 0]},
    "b2": {"wood": [0, 0, 0, 0], "iron": [0, 0, 0, 0]},
}


def scores(run: str, step: int = 1000, conditions: tuple[tuple[str, str], ...] = CONDITIONS) -> Scores:
    episodes = {(t, 2 * k + 1): float(s) for t, row in OUTCOMES[run].items() for k, s in enumerate(row)}
    return Scores(run, step, conditions, "success", episodes)


def group(*runs: str) -> Group:
    return Group(runs[0], tuple(scores(run) for run in runs))


def test_scores_of_a_report() -> None:
    episodes = [played(STONE_IRON, 2, 9, "completed", 1), played(STONE_IRON, 0, 9, "time limit", 3)]
    episodes += [played(SAPLING, 1, 9, "completed", 1), played(SAPLING, 1, 9, "completed", 3)]
    results = summarise(episodes, [STONE_IRON, SAPLING], CRAFTER)
    found = read_scores("a", json.loads(json.dumps(report_to_json(EvalReport(header(), results)))))
    assert found.tasks == ("make stone pickaxe, collect iron", "collect sapling")
    assert found.means.tolist() == [0.5, 1.0] and found.measure == "success" and found.step == 100
    assert found.episodes["collect sapling", 3] == 1.0


def test_worlds_with_tasks_of_their_own_are_one_task() -> None:
    results = summarise([trial([0.0], [1.0]), trial([3.0])], None, LAKE)
    document = report_to_json(EvalReport(header(suite="worlds"), results, results))
    document["agent"]["episodes"][1]["seed"] = 3
    assert read_scores("a", document).tasks == (WORLDS,)
    assert read_scores("a", document, "return").means.tolist() == [2.0]
    with pytest.raises(StorageError, match="no episode of random"):
        read_scores("a", {**document, "random": None}, "return", "random")


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        {},
        {"header": {}, "agent": {"episodes": []}},
        {"header": None, "agent": None},
        {"header": {"suite": "x"}, "agent": {"episodes": [{"completed": True, "instruction": "a", "seed": "many"}]}},
        {"header": {"suite": "x"}, "agent": {"episodes": [{"completed": None, "seed": 1, "episode_return": 1e999}]}},
        {"header": {"suite": "x", "step": 1, "settings": []}, "agent": {"episodes": []}},
    ],
)
def test_what_is_no_report_is_refused_in_a_line(document: Any) -> None:
    with pytest.raises(StorageError, match="report of a"):
        read_scores("a", document)


def test_runs_that_differ_in_their_seed_only_are_a_group() -> None:
    configs = {
        "a1": {"run": {"seed": 1, "minutes": 3}, "env": {"name": "x"}},
        "b1": {"run": {"seed": 1, "minutes": 4}, "env": {"name": "x"}},
        "a2": {"env": {"name": "x"}, "run": {"minutes": 3, "seed": 2}},
    }
    runs = [scores(name) for name in ("a1", "b1", "a2", "b2")]
    groups = group_runs(runs, configs)
    assert [[each.run for each in group.scores] for group in groups] == [["a1", "a2"], ["b1"], ["b2"]]
    assert groups[0].name == "a1 + a2"
    assert groups[0].matrix.tolist() == [[0.75, 0.25], [0.5, 0.0]]


def test_several_runs_on_both_sides_give_intervals_over_runs() -> None:
    found = compare([group("a1", "a2"), group("b1", "b2")])
    (pair,) = found.pairs
    assert pair.over == "runs"
    assert [each.value for each in pair.tasks] == [0.5, 0.0]
    assert pair.overall.value == 0.25
    # wood: a is 0.75 or 0.5, b is 0.25 or 0: every draw lies between 0.25 and 0.75
    low, high = pair.tasks[0].interval or (0, 0)
    assert (low, high) == (0.25, 0.75)
    # wood is won by 4 of 4 pairs; iron: 0.25 ties 0.25, beats 0; 0 loses to 0.25, ties 0
    assert pair.improvement.value == pytest.approx((1 + 0.5) / 2)
    assert found.groups[0].aggregates["IQM"].value == pytest.approx((0.25 + 0.5) / 2)
    assert found.groups[0].aggregates["optimality gap"].value == pytest.approx(1 - 1.5 / 4)
    assert any("Fewer than 5 runs" in note for note in found.notes)


def test_a_single_run_has_intervals_over_worlds_and_a_warning() -> None:
    found = compare([group("a1"), group("b1")])
    (pair,) = found.pairs
    assert pair.over == "worlds"
    assert [each.value for each in pair.tasks] == [0.5, 0.0]
    assert pair.tasks[1].interval == (0.0, 0.0)  # the same outcome in every world
    assert pair.overall.value == 0.25 and pair.overall.interval is not None
    assert pair.improvement.interval is None
    assert all(estimate.interval is None for estimate in found.groups[0].aggregates.values())
    assert "One training run only (a1, b1): another seed may turn the result round" in found.notes[0]
    assert "Intervals are over worlds, the same for both; not over training runs." in caption(pair)


def test_checkpoints_of_different_age_are_pointed_out() -> None:
    groups = [Group("a", (scores("a1", 100),)), Group("b", (scores("b1", 2000),))]
    assert "not trained equally long: 100 to 2,000 steps" in notes(groups)[-1]


def test_only_like_evaluations_are_compared() -> None:
    other = Group("b", (scores("b1", conditions=(*CONDITIONS[:1], ("suite", "paper"), CONDITIONS[2])),))
    with pytest.raises(AmagoError, match="a1 and b1 were not evaluated alike, suite: goals against paper"):
        compare([group("a1"), other])
    fewer = Scores("b1", 1, CONDITIONS, "success", {("wood", 1): 1.0})
    with pytest.raises(AmagoError, match="instructions"):
        compare([group("a1"), Group("b", (fewer,))])
    elsewhere = Scores("b1", 1, CONDITIONS, "success", {(t, w + 100): s for (t, w), s in scores("b1").episodes.items()})
    with pytest.raises(AmagoError, match="not evaluated in the same worlds"):
        compare([group("a1"), Group("b", (elsewhere,))])
    with pytest.raises(AmagoError, match="two runs"):
        compare([group("a1")])


def test_tables_and_markdown() -> None:
    found = compare([group("a1"), group("b1")])
    columns, rows = group_rows(found)
    assert columns[:4] == ["runs", "seeds", "steps", "IQM"]
    assert rows[0][:5] == ["a1", "1", "1,000", "50%", "no data"]
    columns, rows = pair_rows(found, found.pairs[0])
    assert columns == ["task", "a1", "b1", "difference", "95 %"]
    assert rows[0][:4] == ["wood", "75%", "25%", "+50%"]
    assert rows[1] == ["iron", "25%", "25%", "+0%", "+0% to +0%"]
    assert rows[2][:4] == ["all", "50%", "25%", "+25%"]
    text = to_markdown(found)
    assert text.startswith("# Comparison of a1, b1\n") and "**Note.** One training run only" in text
    document = json.loads(json.dumps(to_json(found), allow_nan=False))
    assert document["pairs"][0]["overall"]["value"] == 0.25
    assert document["groups"][1]["runs"] == ["b1"]


def test_returns_have_no_optimum() -> None:
    def of(run: str, value: float) -> Group:
        return Group(run, (Scores(run, 1, CONDITIONS, "return", {(WORLDS, k): value * k for k in range(4)}),))

    found = compare([of("a", 10.0), of("b", 1.0)])
    assert list(found.groups[0].aggregates) == ["IQM", "median", "mean"]
    assert pair_rows(found, found.pairs[0])[1][0][:4] == [WORLDS, "15", "1.5", "+13.5"]
    assert np.isclose(found.pairs[0].overall.value, 13.5)
