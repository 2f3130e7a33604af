"""`amago eval` without the playing: what is evaluated, printed, written and returned."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent.goals.grammar import format_instruction
from agent.goals.suites import SUITES
from store.rollouts import RolloutReader

Amago = Callable[..., Any]


def asked(call: dict[str, Any]) -> list[str]:
    return [format_instruction(ids) for ids in call["instructions"]]


def test_the_wanted_instruction_and_each_of_its_goals(amago: Amago, checkpoint: Path, evaluation: Any) -> None:
    result = amago("eval", "--checkpoint", "a", "--episodes", "3", "--seed", "7", "--greedy")
    assert result.code == 0
    agent, random = evaluation.calls
    assert asked(agent) == ["collect sapling, place plant", "collect sapling", "place plant"]
    assert (agent["checkpoint"], random["checkpoint"]) == (checkpoint, None)
    assert (agent["episodes"], agent["seed"], agent["greedy"], agent["device"]) == (3, 7, True, "auto")
    assert random["instructions"] == agent["instructions"]


def test_the_table_has_intervals_and_the_random_policy(amago: Amago, checkpoint: Path, evaluation: Any) -> None:
    lines = amago("eval", "--checkpoint", "a", "--episodes", "3").out.splitlines()
    assert lines[0].endswith("(latest), step 1,000, sampled actions")
    assert lines[1].startswith("crafter (attempts 1, engine fast, ")
    assert lines[2].startswith("held-out worlds (odd seeds, 1 to 5;")
    assert [line.split()[0] for line in lines[4:7]] == ["policy", "agent", "random"]
    assert not any(line.startswith("attempt") for line in lines)
    row = next(line for line in lines if line.startswith("collect sapling, place plant"))
    assert "100% (3/3)" in row and "44-100" in row and "0% (0/3)" in row and "6 (median)" in row


def test_progress_goes_to_stderr(amago: Amago, checkpoint: Path, evaluation: Any) -> None:
    result = amago("eval", "--checkpoint", "a", "--json")
    document = json.loads(result.out)
    assert document["header"]["rule"] == "latest"
    assert "1/2 episodes, 30s elapsed, about 30s left" in result.err


def test_report_and_rollouts_are_kept_in_the_run(amago: Amago, checkpoint: Path, evaluation: Any) -> None:
    result = amago("eval", "--checkpoint", "a@best", "--episodes", "2")
    reports = sorted((checkpoint.parents[1] / "reports").iterdir())
    assert [path.suffix for path in reports] == [".html", ".json", ".md"]
    assert all(f"written: {path}" in result.err for path in reports)
    header = json.loads(reports[1].read_text())["header"]
    assert (header["rule"], header["step"], header["sha256"]) == ("best", 1000, {"weights": "ab12"})
    assert header["command"] == "amago eval --checkpoint a@best --episodes 2"
    stored = RolloutReader(checkpoint.parents[1] / "rollouts" / "eval")
    assert len(list(stored)) == 6  # the agent's 3 x 2; the random policy's are not kept


def test_a_checkpoint_outside_a_run_is_reported_beside_it(
    amago: Amago, checkpoint: Path, evaluation: Any, tmp_path: Path
) -> None:
    (checkpoint.parents[1] / "config.json").unlink()
    result = amago("eval", "--checkpoint", str(checkpoint))
    assert result.code == 0
    assert len(list(checkpoint.parent.glob("eval-1000-wanted-*"))) == 3
    assert not (checkpoint.parents[1] / "rollouts").exists()


def test_a_place_that_cannot_be_written_is_said(amago: Amago, checkpoint: Path, evaluation: Any) -> None:
    (checkpoint.parents[1] / "config.json").unlink()
    shutil.rmtree(checkpoint.parent)
    checkpoint.parent.write_text("a file where the folder was")
    result = amago("eval", "--checkpoint", "a")
    assert result.code == 0
    assert "no report written: " in result.err
    assert "collect sapling" in result.out


@pytest.mark.parametrize(
    ("arguments", "instructions"),
    [
        (("--goals", "eat cow", "--goals", "wood,table"), ["eat cow", "collect wood, place table"]),
        (("--goals", "eat cow", "--goals", "cow"), ["eat cow"]),
        (("--suite", "paper"), [format_instruction(ids) for ids in SUITES["paper"](None, 0)]),  # type: ignore[arg-type]
    ],
)
def test_goals_or_a_suite_take_the_place_of_the_wanted_instruction(
    amago: Amago, checkpoint: Path, evaluation: Any, arguments: tuple[str, ...], instructions: list[str]
) -> None:
    assert amago("eval", "--checkpoint", "a", "--no-random", *arguments).code == 0
    (call,) = evaluation.calls
    assert asked(call) == instructions


def test_a_long_suite_shows_its_total_and_its_goals(amago: Amago, checkpoint: Path, evaluation: Any) -> None:
    result = amago("eval", "--checkpoint", "a", "--suite", "instructions", "--count", "60", "--episodes", "1")
    lines = result.out.splitlines()
    assert [line.split()[0] for line in lines[8:10]] == ["instruction", "all"]
    assert len(evaluation.calls[0]["instructions"]) > 40


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--suite", "paper", "--goals", "eat cow"), "--suite or --goals, not both"),
        (("--goals", "eat cw"), '"cow"'),
    ],
)
def test_bad_input(amago: Amago, checkpoint: Path, evaluation: Any, arguments: tuple[str, ...], message: str) -> None:
    result = amago("eval", "--checkpoint", "a", *arguments)
    assert result.code == 2
    assert message in result.err
    assert not evaluation.calls


def test_goals_are_understood_before_the_checkpoint_is_looked_for(amago: Amago) -> None:
    result = amago("eval", "--checkpoint", "nobody", "--goals", "eat cw")
    assert result.code == 2
    assert result.err.startswith('amago: unknown word "cw"')


def test_reports_of_the_same_second_are_all_kept(
    amago: Amago, checkpoint: Path, evaluation: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.strftime", lambda form: "20300102-030405")
    for _ in range(3):
        amago("eval", "--checkpoint", "a", "--no-random")
    base = "eval-1000-wanted-20300102-030405"
    names = {path.name for path in (checkpoint.parents[1] / "reports").glob("*.md")}
    assert names == {f"{base}.md", f"{base}-2.md", f"{base}-3.md"}


def test_a_threshold_that_is_met(amago: Amago, checkpoint: Path, evaluation: Any) -> None:
    assert amago("eval", "--checkpoint", "a", "--fail-under", "1.0").code == 0


def test_a_threshold_that_is_missed_has_its_own_exit_code(amago: Amago, checkpoint: Path, evaluation: Any) -> None:
    evaluation.completes = lambda checkpoint: False
    result = amago("eval", "--checkpoint", "a", "--fail-under", "0.5")
    assert result.code == 7
    assert "success 0.0% is under 50.0%" in result.err


def test_without_instructions_worlds_are_played(amago: Amago, lake: Path, evaluation: Any) -> None:
    result = amago("eval", "--checkpoint", "a")
    assert result.code == 0
    agent, random = evaluation.calls
    assert agent["instructions"] is random["instructions"] is None
    assert agent["episodes"] == 50
    lines = result.out.splitlines()
    assert lines[1] == "frozen-lake (attempts 8, size 5, max_steps 25, shuffle_actions no)"
    assert lines[5].split()[:3] == ["agent", "100%", "(50/50)"]
    first, second = (next(line.split() for line in lines if line.startswith(f"{k} ")) for k in (1, 2))
    assert (first[1], second[1], second[-1]) == ("0", "1", "50")
    assert not any(line.startswith(("instruction", "goal")) for line in lines)
    assert "the agent: 50 episodes" in result.err
    (report,) = (lake.parents[1] / "reports").glob("eval-1000-worlds-*.json")
    document = json.loads(report.read_text())
    assert document["header"]["environment"] == "frozen-lake"
    assert document["header"]["settings"]["size"] == 5
    assert [row["returns"]["mean"] for row in document["agent"]["attempts"]] == [0.0, 1.0]


@pytest.mark.parametrize("arguments", [("--goals", "eat cow"), ("--suite", "paper")])
def test_instructions_are_refused_where_there_are_none(
    amago: Amago, lake: Path, evaluation: Any, arguments: tuple[str, ...]
) -> None:
    result = amago("eval", "--checkpoint", "a", *arguments)
    assert result.code == 2
    assert f"frozen-lake takes no instructions in words: {arguments[0]} is for crafter" in result.err
    assert not evaluation.calls


def test_a_threshold_uses_the_last_attempts(amago: Amago, lake: Path, evaluation: Any) -> None:
    assert amago("eval", "--checkpoint", "a", "--fail-under", "1.0").code == 0
    evaluation.attempt_returns = lambda completed: (1.0, 0.0)
    result = amago("eval", "--checkpoint", "a", "--fail-under", "0.5")
    assert (result.code, "success 0.0% is under 50.0%" in result.err) == (7, True)


def test_a_threshold_needs_success(amago: Amago, pendulum: Path, evaluation: Any) -> None:
    result = amago("eval", "--checkpoint", "a", "--fail-under", "0.5")
    assert result.code == 2
    assert "--fail-under needs an environment that knows success, gym:Pendulum-v1 does not" in result.err
    assert not evaluation.calls
    columns = next(line for line in amago("eval", "--checkpoint", "a").out.splitlines() if line.startswith("policy"))
    assert "return" in columns and "success" not in columns


def test_a_signal_reports_the_finished_episodes(amago: Amago, checkpoint: Path, evaluation: Any) -> None:
    evaluation.during = lambda: os.kill(os.getpid(), signal.SIGINT)
    result = amago("eval", "--checkpoint", "a", "--episodes", "4")
    assert result.code == 130
    assert len(evaluation.calls) == 1
    (report,) = (checkpoint.parents[1] / "reports").glob("*.json")
    document = json.loads(report.read_text())
    assert document["header"]["interrupted"] is True
    assert document["agent"]["success"]["trials"] == 3


def test_a_signal_before_the_first_finished_episode_writes_nothing(
    amago: Amago, checkpoint: Path, evaluation: Any
) -> None:
    evaluation.during = lambda: os.kill(os.getpid(), signal.SIGTERM)
    evaluation.finished_at_stop = 0
    result = amago("eval", "--checkpoint", "a")
    assert (result.code, result.out) == (143, "")
    assert not (checkpoint.parents[1] / "reports").exists()
