"""Figures of evaluations, by hand."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from report_data import CRAFTER, LAKE, SAPLING, STONE_IRON, header, played, trial

from agent.envs.base import EnvSpec
from agent.goals.grammar import parse_instruction
from agent.progress import Tally
from agent.reports.report import EvalReport, summarise, to_json
from agent.reports.text import (
    attempt_rows,
    environment_text,
    goal_rows,
    has_attempts,
    instruction_attempt_rows,
    instruction_rows,
    overall_rows,
    to_markdown,
)
from store.trajectory import Trajectory


def report_of(agent: list[Trajectory], random: list[Trajectory] | None = None, **changes: object) -> EvalReport:
    instructions = [STONE_IRON, SAPLING]
    beside = summarise(random, instructions, CRAFTER) if random is not None else None
    return EvalReport(header(**changes), summarise(agent, instructions, CRAFTER), beside)


FOUR = [
    played(STONE_IRON, 2, 30, "completed"),
    played(STONE_IRON, 1, 50, "death by zombie"),
    played(STONE_IRON, 0, 20, "death by zombie"),
    played(STONE_IRON, 2, 10, "completed"),
]


def test_instruction_figures() -> None:
    result = summarise(FOUR, [STONE_IRON], CRAFTER).instructions[0]
    assert result.text == "make stone pickaxe, collect iron"
    assert result.success == Tally(2, 4)
    assert result.mean_subgoals == pytest.approx((2 + 1 + 0 + 2) / 4)
    assert result.median_steps == 20  # of 30 and 10, the successful ones
    assert result.failures == {"death by zombie": 2}


def test_a_goal_counts_only_once_its_turn_came() -> None:
    pickaxe, iron = summarise(FOUR, [STONE_IRON], CRAFTER).goals
    assert (pickaxe.text, pickaxe.reached) == ("make stone pickaxe", Tally(3, 4))
    assert (iron.text, iron.reached) == ("collect iron", Tally(2, 3))


def test_a_repeated_goal_is_asked_for_each_time() -> None:
    twice = parse_instruction("collect sapling x2")
    results = summarise([played(twice, 1, 5, "time limit"), played(twice, 2, 5, "completed")], [twice], CRAFTER)
    assert results.goals[0].reached == Tally(3, 4)


def test_goals_are_counted_over_all_instructions() -> None:
    instructions = [SAPLING, parse_instruction("collect sapling, place plant")]
    episodes = [played(instructions[0], 1, 3, "completed"), played(instructions[1], 0, 3, "time limit")]
    sapling, plant = summarise(episodes, instructions, CRAFTER).goals
    assert sapling.reached == Tally(1, 2)
    assert plant.reached == Tally(0, 0)


def test_an_instruction_without_episodes_has_no_data() -> None:
    report = report_of(FOUR)
    sapling = report.agent.instructions[1]
    assert (sapling.success, sapling.mean_subgoals, sapling.median_steps) == (Tally(0, 0), None, None)
    _, rows = instruction_rows(report)
    assert rows[1] == ["collect sapling", "no data", "no data", "no data", "no data", ""]


def test_rows_put_the_random_policy_beside() -> None:
    header, rows = instruction_rows(report_of(FOUR, [played(STONE_IRON, 0, 9, "time limit")]))
    assert header[:4] == ["instruction", "success", "95 %", "random"]
    assert rows[0] == [
        "make stone pickaxe, collect iron",
        "50% (2/4)",
        "15-85",
        "0% (0/1)",
        "1.25 of 2",
        "20 (median)",
        "death by zombie 2",
    ]
    assert rows[-1][:4] == ["all", "50% (2/4)", "15-85", "0% (0/1)"]


def test_goal_rows_match_the_random_policy_by_name() -> None:
    _, rows = goal_rows(report_of(FOUR, [played(STONE_IRON, 1, 9, "time limit")]))
    assert rows[0] == ["make stone pickaxe", "75% (3/4)", "30-95", "100% (1/1)"]
    assert rows[1] == ["collect iron", "67% (2/3)", "21-94", "0% (0/1)"]


def test_json_names_what_was_evaluated_and_every_world() -> None:
    document = json.loads(json.dumps(to_json(report_of(FOUR)), allow_nan=False))
    assert document["header"]["sha256"] == {"weights.safetensors": "ab12"}
    assert document["random"] is None
    first = document["agent"]["instructions"][0]["success"]
    assert (first["successes"], first["trials"], first["rate"]) == (2, 4, 0.5)
    assert document["agent"]["instructions"][1]["success"]["interval"] is None
    assert document["agent"]["episodes"][1] == {
        "instruction": "make stone pickaxe, collect iron",
        "seed": 1,
        "steps": 50,
        "subgoals": 1,
        "completed": False,
        "cause": "death by zombie",
        "episode_return": 0.0,
        "attempt_returns": [0.0],
        "number": None,
        "game": "",
        "normalised": None,
    }


def test_episodes_know_where_they_are_stored() -> None:
    stored = [replace(each, info=replace(each.info, number=number)) for number, each in enumerate(FOUR, start=7)]
    assert [episode.number for episode in report_of(stored).agent.episodes] == [7, 8, 9, 10]


def test_training_rollouts_have_a_row_of_their_own() -> None:
    report = replace(report_of(FOUR), training=summarise(FOUR[:3], None, CRAFTER))
    _, rows = overall_rows(report)
    assert rows[1][:3] == ["training", "33% (1/3)", "6-79"]
    assert "Training: the run's last 3 rollouts before this checkpoint" in to_markdown(report)
    document = to_json(report)["training"]
    assert (document["success"]["trials"], document["returns"]["count"]) == (3, 3)
    assert to_json(report_of(FOUR))["training"] is None


def test_markdown_holds_header_and_tables() -> None:
    text = to_markdown(report_of(FOUR, []))
    assert text.startswith("# Evaluation of runs/a/checkpoints/100\n")
    assert "- sha256: weights.safetensors ab12" in text
    assert "- environment: crafter (max_steps 100)" in text
    assert "- intervals: 95 %: of rates Wilson's, of mean returns the percentile bootstrap's (2000 resamples)" in text
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        "## All episodes",
        "## Instructions",
        "## Goals",
    ]
    assert "| make stone pickaxe, collect iron | 50% (2/4) | 15-85 | no data |" in text
    assert "INTERRUPTED" not in text


def test_markdown_marks_an_interrupted_evaluation() -> None:
    assert "INTERRUPTED" in to_markdown(report_of(FOUR, interrupted=True))


THREE = [trial([0, 0], [0, 1]), trial([1], [1], [0, 0], cause="hole"), trial([0], [1], [0.5], cause="horizon")]


def lake_report(agent: list[Trajectory], random: list[Trajectory] | None = None, spec: EnvSpec = LAKE) -> EvalReport:
    beside = summarise(random, None, spec) if random else None
    return EvalReport(report_of([]).header, summarise(agent, None, spec), beside)


def test_returns_and_causes_without_instructions() -> None:
    results = summarise(THREE, None, LAKE)
    assert results.success == Tally(2, 3)  # by the last attempt that was not cut short
    returns = results.returns
    assert (returns.count, returns.mean, returns.median, returns.min, returns.max) == (3, 1.5, 1.5, 1.0, 2.0)
    assert results.causes == {"completed": 1, "hole": 1, "horizon": 1}
    assert (results.instructions, results.goals) == ((), ())


def test_attempts_by_hand() -> None:
    first, second, third = summarise(THREE, None, LAKE).attempts
    assert [row.returns.count for row in (first, second, third)] == [3, 3, 1]
    assert [row.returns.mean for row in (first, second, third)] == pytest.approx([1 / 3, 1, 0])
    assert [row.success for row in (first, second, third)] == [Tally(1, 3), Tally(3, 3), Tally(0, 1)]
    assert [row.mean_steps for row in (first, second, third)] == pytest.approx([4 / 3, 4 / 3, 2])


def test_attempt_rows() -> None:
    report = lake_report(THREE, [trial([0], [0.25])])
    assert has_attempts(report) and not has_attempts(report_of(FOUR))
    header, rows = attempt_rows(report)
    assert header == ["attempt", "return", "95 %", "random", "success", "95 %", "steps", "episodes"]
    assert rows[1] == ["2", "1", "1 to 1", "0.25", "100% (3/3)", "44-100", "1.3", "3"]
    assert rows[2] == ["3", "0", "no data", "no data", "0% (0/1)", "0-79", "2.0", "1"]


def test_success_of_each_attempt_at_an_instruction() -> None:
    half = replace(played(SAPLING, 1, 4, "completed"), is_first=np.array([True, False, True, False, False]))
    once = played(SAPLING, 0, 2, "time limit")
    report = EvalReport(report_of([]).header, summarise([half, once], [SAPLING], CRAFTER))
    assert report.agent.instructions[0].attempts == (Tally(0, 2), Tally(1, 1))
    header, rows = instruction_attempt_rows(report)
    assert header == ["instruction", "attempt 1", "attempt 2"]
    assert rows == [["collect sapling", "0% (0/2)", "100% (1/1)"]]
    assert "## Success by attempt" in to_markdown(report)


def test_many_attempts_are_cut_on_the_page_only() -> None:
    report = lake_report([trial(*[[0.0]] * 16)], [trial(*[[0.0]] * 3)])
    _, rows = attempt_rows(report)
    assert len(rows) == 11
    assert rows[-1] == ["11 to 16", "in the JSON report", *[""] * 6]
    assert len(to_json(report)["agent"]["attempts"]) == 16


def test_overall_rows() -> None:
    header, rows = overall_rows(lake_report(THREE, [trial([-0.25])]))
    assert header == ["policy", "success", "95 %", "return", "95 %", "median", "min to max", "how episodes ended"]
    assert rows[0] == [
        "agent",
        "67% (2/3)",
        "21-94",
        "1.5",
        "1 to 2",
        "1.5",
        "1 to 2",
        "completed 1, hole 1, horizon 1",
    ]
    assert rows[1] == ["random", "0% (0/1)", "0-79", "-0.25", "no data", "-0.25", "-0.25 to -0.25", "completed 1"]


def test_an_environment_without_success_has_no_such_figures() -> None:
    spec = replace(LAKE, success_return=None)
    report = lake_report(THREE, [trial([1234.5])], spec)
    header, rows = overall_rows(report)
    assert header == ["policy", "return", "95 %", "median", "min to max", "how episodes ended"]
    assert rows[1][:2] == ["random", "1,234"]
    assert "success" not in attempt_rows(report)[0]
    document = to_json(report)["agent"]
    assert document["success"] is None and document["episodes"][0]["completed"] is None
    text = to_markdown(report)
    assert "## Attempts" in text and "## Instructions" not in text and "## Goals" not in text


def test_instructions_of_worlds_are_grouped_by_their_length() -> None:
    spec = replace(CRAFTER, name="maze", vocabulary="cells 5", max_instruction=3)
    episodes = [played((7,), 1, 4, "completed"), played((3, 24), 1, 9, "time limit"), played((8,), 0, 9, "time limit")]
    results = summarise(episodes, None, spec)
    assert [(row.text, row.success) for row in results.instructions] == [
        ("1 goal", Tally(1, 2)),
        ("2 goals", Tally(0, 1)),
        ("3 goals", Tally(0, 0)),
    ]
    assert results.goals == () and results.success == Tally(1, 3)
    assert [episode.instruction for episode in results.episodes] == [
        "cell (2, 1)",
        "cell (3, 0), cell (4, 4)",
        "cell (3, 1)",
    ]


def test_no_episode_gives_no_returns() -> None:
    returns = summarise([], None, LAKE).returns
    assert (returns.count, returns.mean, returns.interval) == (0, None, None)


def test_one_return_has_no_interval() -> None:
    assert summarise([trial([3.0])], None, LAKE).returns.interval is None
    assert summarise([trial([3.0])] * 2, None, LAKE).returns.interval == (3.0, 3.0)


def test_environment_text() -> None:
    settings = {"attempts": 8, "horizon": None, "size": 5, "shuffle_actions": False, "id": ""}
    assert environment_text("frozen-lake", settings) == "frozen-lake (attempts 8, size 5, shuffle_actions no)"
    assert environment_text("x", {}) == "x"
    assert environment_text("x", {"games": ["a", "b"]}) == "x (games a+b)"
    assert environment_text("x", {"games": []}) == "x"


def test_free_play_has_achievements_and_the_benchmarks_score() -> None:
    """One episode of two reaches a sapling, none anything else: 21 rates are 0, one is 50 %."""
    free = replace(CRAFTER, max_instruction=0)
    sapling = replace(played((), 0, 9, "time limit"), events=np.array([[3, SAPLING[0]], [5, SAPLING[0]]], np.int32))
    results = summarise([sapling, played((), 0, 9, "death by zombie")], None, free)
    assert results.crafter_score == pytest.approx(51 ** (1 / 22) - 1)
    assert results.instructions == () and len(results.goals) == 22
    assert {goal.text: goal.reached for goal in results.goals}["collect sapling"] == Tally(1, 2)
    columns, rows = overall_rows(EvalReport(header(), results, results))
    assert columns[-2:] == ["Crafter score", "how episodes ended"]
    assert [row[-2] for row in rows] == ["0.196", "0.196"]
    assert summarise([sapling], None, CRAFTER).crafter_score is None
