"""Figures of evaluations, by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from agent.goals.grammar import parse_instruction
from agent.progress import Tally
from agent.report import EvalReport, Header, summarise, to_json, wilson_interval
from agent.report_text import goal_rows, instruction_rows, to_markdown
from store.trajectory import Trajectory, TrajectoryInfo

STONE_IRON = parse_instruction("stone pickaxe, collect iron")
SAPLING = parse_instruction("collect sapling")


def played(instruction: tuple[int, ...], finished: int, steps: int, cause: str, seed: int = 1) -> Trajectory:
    """An episode of `steps` steps that finished so many subgoals, all at its end."""
    progress = np.zeros(steps + 1, np.uint8)
    progress[-1] = finished
    flags = np.zeros(steps, bool)
    return Trajectory(
        observations={"view": np.zeros((steps + 1, 1), np.uint8)},
        actions=np.zeros(steps, np.int64),
        rewards=np.zeros(steps, np.float32),
        terminated=flags,
        truncated=flags,
        is_first=np.zeros(steps + 1, bool),
        progress=progress,
        instruction=np.array(instruction, np.int16),
        events=np.zeros((0, 2), np.int32),
        info=TrajectoryInfo(
            environment="crafter",
            seed=seed,
            actor=0,
            split="eval",
            cause=cause,
            wanted=False,
            policy_update=0,
            step=0,
            epsilon=0.0,
        ),
    )


def report_of(agent: list[Trajectory], random: list[Trajectory] | None = None, **header: object) -> EvalReport:
    instructions = [STONE_IRON, SAPLING]
    fields = {
        "checkpoint": "runs/a/checkpoints/100",
        "sha256": {"weights.safetensors": "ab12"},
        "step": 100,
        "rule": "latest",
        "policy": "sampled",
        "suite": "goals",
        "episodes": 4,
        "seed": 0,
        "worlds": "held-out worlds (odd seeds)",
        "device": "cpu",
        "command": "amago eval --checkpoint a",
    }
    beside = summarise(random, instructions) if random is not None else None
    return EvalReport(Header(**{**fields, **header}), summarise(agent, instructions), beside)  # type: ignore[arg-type]


FOUR = [
    played(STONE_IRON, 2, 30, "completed"),
    played(STONE_IRON, 1, 50, "death by zombie"),
    played(STONE_IRON, 0, 20, "death by zombie"),
    played(STONE_IRON, 2, 10, "completed"),
]


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [
        (5, 10, 0.236593, 0.763407),  # 0.5 -+ 1.96 sqrt(0.025 + 0.0096) / 1.384
        (0, 10, 0.0, 0.277533),  # z^2 / (n + z^2)
        (10, 10, 0.722467, 1.0),
        (1, 1, 0.206549, 1.0),  # 1 / (1 + z^2)
    ],
)
def test_wilson_interval_by_hand(successes: int, trials: int, low: float, high: float) -> None:
    assert wilson_interval(Tally(successes, trials)) == pytest.approx((low, high), abs=1e-6)


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_interval_agrees_with_scipy(counts: tuple[int, int]) -> None:
    expected = binomtest(*counts).proportion_ci(0.95, "wilson")
    assert wilson_interval(Tally(*counts)) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_no_trial_gives_no_interval() -> None:
    assert wilson_interval(Tally(0, 0)) is None


def test_instruction_figures() -> None:
    result = summarise(FOUR, [STONE_IRON]).instructions[0]
    assert result.text == "make stone pickaxe, collect iron"
    assert result.success == Tally(2, 4)
    assert result.mean_subgoals == pytest.approx((2 + 1 + 0 + 2) / 4)
    assert result.median_steps == 20  # of 30 and 10, the successful ones
    assert result.failures == {"death by zombie": 2}


def test_a_goal_counts_only_once_its_turn_came() -> None:
    pickaxe, iron = summarise(FOUR, [STONE_IRON]).goals
    assert (pickaxe.text, pickaxe.reached) == ("make stone pickaxe", Tally(3, 4))
    assert (iron.text, iron.reached) == ("collect iron", Tally(2, 3))


def test_a_repeated_goal_is_asked_for_each_time() -> None:
    twice = parse_instruction("collect sapling x2")
    results = summarise([played(twice, 1, 5, "time limit"), played(twice, 2, 5, "completed")], [twice])
    assert results.goals[0].reached == Tally(3, 4)


def test_goals_are_counted_over_all_instructions() -> None:
    instructions = [SAPLING, parse_instruction("collect sapling, place plant")]
    episodes = [played(instructions[0], 1, 3, "completed"), played(instructions[1], 0, 3, "time limit")]
    sapling, plant = summarise(episodes, instructions).goals
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
    }


def test_markdown_holds_header_and_tables() -> None:
    text = to_markdown(report_of(FOUR, []))
    assert text.startswith("# Evaluation of runs/a/checkpoints/100\n")
    assert "- sha256: weights.safetensors ab12" in text
    assert "| make stone pickaxe, collect iron | 50% (2/4) | 15-85 | no data |" in text
    assert "INTERRUPTED" not in text


def test_markdown_marks_an_interrupted_evaluation() -> None:
    assert "INTERRUPTED" in to_markdown(report_of(FOUR, interrupted=True))
