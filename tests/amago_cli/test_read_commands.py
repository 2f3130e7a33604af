"""`amago runs`, `show`, `goals`, `envs`, `--version`, completion."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent.config import Config, environment_names, override
from agent.presets import PRESETS
from store.runs import create_run
from store.status import Status, write_status

Amago = Callable[..., Any]


def make_run(name: str, goals: str = "", state: Any = "stopped") -> None:
    config = PRESETS["tiny"].build().model_dump(mode="json")
    config["task"]["goals"] = goals
    paths = create_run(Path("runs"), name, config, {"command": "amago train crafter", "preset": "tiny"})
    status = Status(state=state, pid=1, host="h", started=0.0, heartbeat=0.0, step=1234, update=56)
    write_status(paths, status)


def test_no_runs_yet_names_the_next_command(amago: Amago) -> None:
    result = amago("runs")
    assert result.code == 0
    assert "amago train crafter" in result.out
    assert json.loads(amago("runs", "--json").out) == []


def test_runs_lists_the_broken_ones_too(amago: Amago) -> None:
    make_run("a", "eat cow")
    make_run("b")
    Path("runs/b/config.json").write_text("{")
    lines = amago("runs").out.splitlines()
    assert lines[0].split() == ["run", "state", "steps", "updates", "created", "environment", "goals"]
    assert any(line.startswith("a") and "stopped" in line and "1,234" in line and "eat cow" in line for line in lines)
    assert any(line.startswith("b") and "broken" in line for line in lines)
    records = {record["name"]: record for record in json.loads(amago("runs", "--json").out)}
    assert (records["a"]["environment"], records["a"]["goals"]) == ("crafter", "eat cow")
    assert (records["a"]["step"], records["a"]["problem"]) == (1234, None)
    assert "not valid JSON" in records["b"]["problem"]


def test_show_tells_what_was_changed(amago: Amago) -> None:
    make_run("a", "eat cow")
    result = amago("show", "a")
    assert result.code == 0
    assert "1,234 steps, 56 updates" in result.out
    assert 'task.goals = "eat cow" (preset: "")' in result.out
    assert "next: amago eval --checkpoint a" in result.out
    facts = json.loads(amago("show", "latest", "--json").out)
    assert facts["differences"] == {"task.goals": ["", "eat cow"]}
    assert (facts["state"], facts["checkpoints"], facts["metrics"], facts["reports"]) == (
        "stopped",
        {},
        {},
        [],
    )


def test_show_ignores_a_damaged_pointer(amago: Amago) -> None:
    make_run("a")
    checkpoints = Path("runs/a/checkpoints")
    (checkpoints / "10").mkdir(parents=True)
    (checkpoints / "latest").write_bytes(b"\xff\xfe\x00")
    (checkpoints / "best").write_text("10\n")
    assert json.loads(amago("show", "a", "--json").out)["checkpoints"] == {"10": ["best"]}


def test_a_file_is_no_directory_of_runs(amago: Amago) -> None:
    Path("file").write_text("")
    result = amago("runs", "--runs-dir", "file")
    assert (result.code, result.err) == (2, "amago: file is not a directory; give the directory of the runs\n")


def test_show_suggests_a_run(amago: Amago) -> None:
    make_run("calm-otter-7")
    result = amago("show", "calm-oter-7")
    assert result.code == 2
    assert "did you mean calm-otter-7?" in result.err


def test_goals_lists_the_vocabulary(amago: Amago) -> None:
    result = amago("goals")
    assert "collect  coal, diamond, drink" in result.out
    assert "eat cow x2" in result.out
    goals = json.loads(amago("goals", "--json").out)
    assert len(goals) == 191
    assert goals[-1]["name"] == "travel (60, 60)"


def test_envs(amago: Amago) -> None:
    lines = amago("envs").out.splitlines()
    assert lines[0].split("  ")[0] == "environment"
    assert any(line.startswith("dark-key-door") and "as many as fit into 500 steps" in line for line in lines)
    assert "  amago train gym --id CartPole-v1" in lines
    entries = {entry["name"]: entry for entry in json.loads(amago("envs", "--json").out)}
    assert list(entries) == environment_names()
    assert [entries[name]["instructions"] for name in ("crafter", "maze", "tmaze")] == ["words", "world", None]
    assert (entries["frozen-lake"]["attempts"], entries["frozen-lake"]["horizon"]) == (8, None)
    assert entries["tmaze"]["example"] == "amago train tmaze"


def test_runs_and_show_name_the_environment(amago: Amago) -> None:
    changes = {"a": {"env.name": "tmaze", "env.max_steps": 9}, "b": {"env.name": "gym", "env.id": "X-v1"}}
    for name, changed in changes.items():
        config = override(Config(), changed).model_dump(mode="json")
        create_run(Path("runs"), name, config, {"preset": "small"})
    out = amago("runs").out
    assert "tmaze" in out and "X-v1" in out
    page = amago("show", "a").out
    assert "environment  tmaze (attempts 1, max_steps 9, active no)" in page
    assert 'env.name = "tmaze" (preset: "crafter")' in page and "env.max_steps = 9 (preset: 400)" in page


def test_version_and_bare_command(amago: Amago) -> None:
    assert amago("--version").out.startswith("amago ")
    bare = amago()
    assert bare.code == 0
    assert "Usage: amago" in bare.out


def test_a_mistyped_verb_is_corrected(amago: Amago) -> None:
    result = amago("trian")
    assert result.code == 2
    assert "Did you mean 'train'?" in result.err


@pytest.mark.parametrize(
    ("words", "index", "expected"),
    [
        ("amago sh", 1, "show"),
        ("amago show ca", 2, "calm-otter-7"),
        ("amago train --resume ca", 3, "calm-otter-7"),
    ],
)
def test_completion(amago: Amago, monkeypatch: pytest.MonkeyPatch, words: str, index: int, expected: str) -> None:
    make_run("calm-otter-7")
    monkeypatch.setenv("_AMAGO_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(index))
    assert amago().out.split() == [expected]
