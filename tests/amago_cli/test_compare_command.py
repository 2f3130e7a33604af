"""`amago eval --compare`, `--k-attempts` and the HTML page, without the playing."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from store.rollouts import RolloutReader

Amago = Callable[..., Any]


@pytest.fixture
def two_runs(amago: Amago, checkpoint: Path, evaluation: Any) -> Path:
    """The runs a, which succeeds, and b, which fails, evaluated alike; their configurations differ in the seed."""
    run = checkpoint.parents[1]
    twin = run.with_name("b")
    shutil.copytree(run, twin)
    record = json.loads((twin / "config.json").read_text())
    record["config"]["run"]["seed"] = 1
    (twin / "config.json").write_text(json.dumps(record))
    amago("eval", "--checkpoint", "a", "--episodes", "4")
    report = next((run / "reports").glob("*.json"))
    document = json.loads(report.read_text())
    for episode in document["agent"]["episodes"]:
        episode["completed"] = episode["instruction"] == "place plant"
    (twin / "reports").mkdir()
    (twin / "reports" / report.name).write_text(json.dumps(document))
    evaluation.calls.clear()
    return run.parent


def test_two_runs_side_by_side(amago: Amago, two_runs: Path, evaluation: Any) -> None:
    result = amago("eval", "--compare", "a", "b")
    assert result.code == 0, result.err
    assert not evaluation.calls
    lines = result.out.splitlines()
    assert "suite: wanted" in lines
    assert any(line.startswith("note: One training run only (a, b): another seed") for line in lines)
    row = next(line for line in lines if line.startswith("collect sapling, place plant"))
    assert row.split()[-6:] == ["100%", "0%", "+100%", "+100%", "to", "+100%"]
    files = sorted((two_runs / "comparisons").iterdir())
    assert [file.suffix for file in files] == [".json", ".md"]
    assert all(f"written: {file.relative_to(two_runs.parent)}" in result.err for file in files)
    document = json.loads(files[0].read_text())
    assert document["pairs"][0]["overall"]["value"] == pytest.approx(2 / 3)
    assert amago("runs", "--json").code == 0  # the folder of comparisons is no run


def test_json_of_a_comparison_is_what_is_written(amago: Amago, two_runs: Path) -> None:
    result = amago("eval", "--compare", "a", "b", "--json")
    (file,) = (two_runs / "comparisons").glob("*.json")
    assert json.loads(result.out) == json.loads(file.read_text())


def test_seeds_of_one_configuration_against_another_are_a_group(amago: Amago, two_runs: Path) -> None:
    other = two_runs / "c"
    shutil.copytree(two_runs / "b", other)
    record = json.loads((other / "config.json").read_text())
    record["config"]["optimizer"]["batch_size"] = 7
    (other / "config.json").write_text(json.dumps(record))
    document = json.loads(amago("eval", "--compare", "a", "b", "c", "--json").out)
    assert [group["runs"] for group in document["groups"]] == [["a", "b"], ["c"]]
    assert document["groups"][0]["aggregates"]["mean"]["value"] == pytest.approx((1 + 1 / 3) / 2)


def test_a_report_can_be_named(amago: Amago, two_runs: Path) -> None:
    report = next((two_runs / "a" / "reports").glob("*.json"))
    assert amago("eval", "--compare", str(report), "b").code == 0
    twice = amago("eval", "--compare", str(report), "a")
    assert (twice.code, "named twice" in twice.err) == (2, True)


def test_an_interrupted_evaluation_is_passed_over_while_there_is_a_whole_one(amago: Amago, two_runs: Path) -> None:
    whole = next((two_runs / "b" / "reports").glob("*.json"))
    document = json.loads(whole.read_text())
    partial = whole.with_name("eval-1000-wanted-29990101-000000.json")
    partial.write_text(json.dumps({**document, "header": {**document["header"], "interrupted": True}}))
    result = amago("eval", "--compare", "a", "b")
    assert result.code == 0, result.err
    assert f"was interrupted: {partial}" in result.err
    whole.unlink()
    result = amago("eval", "--compare", "a", "b")
    assert (result.code, "not evaluated alike, interrupted: no against yes" in result.err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--compare", "a"), "two runs or more"),
        (("--compare", "a", "b", "--checkpoint", "a"), "no checkpoint"),
        (("--compare", "a", "nobody"), "there is no run 'nobody'"),
        (("--compare", "a", "x.json"), "there is no report x.json"),
        (("a",), "amago eval --checkpoint RUN"),
        ((), "amago eval --checkpoint RUN"),
    ],
)
def test_what_cannot_be_compared(amago: Amago, two_runs: Path, arguments: tuple[str, ...], message: str) -> None:
    result = amago("eval", *arguments)
    assert result.code == 2
    assert message in result.err and "Traceback" not in result.err


def test_a_run_that_was_never_evaluated_is_named(amago: Amago, two_runs: Path) -> None:
    shutil.rmtree(two_runs / "b" / "reports")
    result = amago("eval", "--compare", "a", "b")
    assert result.code == 2
    assert "run b was never evaluated; `amago eval --checkpoint b` does it" in result.err


def test_other_conditions_are_not_compared(amago: Amago, two_runs: Path) -> None:
    report = next((two_runs / "b" / "reports").glob("*.json"))
    document = json.loads(report.read_text())
    report.write_text(json.dumps({**document, "header": {**document["header"], "seed": 9}}))
    result = amago("eval", "--compare", "a", "b")
    assert result.code == 2
    assert "a and b were not evaluated alike, seed: 0 against 9" in result.err


@pytest.mark.parametrize("content", ["{", "[]", '{"header": {}, "agent": {}}'])
def test_a_damaged_report_has_the_exit_code_of_storage(amago: Amago, two_runs: Path, content: str) -> None:
    next((two_runs / "b" / "reports").glob("*.json")).write_text(content)
    result = amago("eval", "--compare", "a", "b")
    assert result.code == 5
    assert "damaged" in result.err and "Traceback" not in result.err


def test_the_page_lies_beside_the_report_and_knows_the_stored_episodes(
    amago: Amago, checkpoint: Path, evaluation: Any
) -> None:
    amago("eval", "--checkpoint", "a", "--episodes", "2")
    run = checkpoint.parents[1]
    (page,) = (run / "reports").glob("*.html")
    text = page.read_text()
    assert text.startswith("<!doctype html>") and "collect sapling, place plant" in text
    document = json.loads(page.with_suffix(".json").read_text())
    stored = {trajectory.info.number: trajectory for trajectory in RolloutReader(run / "rollouts" / "eval")}
    episodes = document["agent"]["episodes"]
    assert sorted(episode["number"] for episode in episodes) == sorted(stored)
    assert all(stored[episode["number"]].info.seed == episode["seed"] for episode in episodes)


@pytest.mark.parametrize("folder", ["reports", "rollouts"])
def test_figures_are_printed_even_if_they_cannot_be_written(
    amago: Amago, checkpoint: Path, evaluation: Any, folder: str
) -> None:
    (checkpoint.parents[1] / folder).write_text("a file where the folder should be")
    result = amago("eval", "--checkpoint", "a")
    assert result.code == 5
    assert "collect sapling" in result.out and "cannot write" in result.err


def test_attempts_are_set_for_the_evaluation_alone(amago: Amago, lake: Path, evaluation: Any) -> None:
    evaluation.attempt_returns = lambda completed: (0.0, 0.0, float(completed))
    result = amago("eval", "--checkpoint", "a", "--k-attempts", "3", "--json")
    document = json.loads(result.out)
    assert document["header"]["settings"]["attempts"] == 3
    assert [row["success"]["rate"] for row in document["agent"]["attempts"]] == [0.0, 0.0, 1.0]
    assert document["agent"]["success"]["rate"] == 1.0  # judged by the last attempt
    config = json.loads((lake.parents[1] / "config.json").read_text())["config"]
    assert config["env"]["attempts"] == 8
    assert [call["config"].env.attempts for call in evaluation.calls] == [3, 3]
    assert amago("eval", "--checkpoint", "a", "--k-attempts", "0").code == 2
