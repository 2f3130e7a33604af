"""The command with nothing replaced: train, resume, evaluate, stop."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

Amago = Callable[..., Any]

TINY = ("--preset", "tiny", "--device", "cpu", "--set", "env.max_steps=60", "--set", "run.log_every=0.2")
SCRIPT = "from amago_cli.app import main; main()"


def test_train_resume_evaluate_show_in_one_process(amago: Amago) -> None:
    inline = (*TINY, "--deterministic", "--workers", "0", "--goals", "collect sapling, place plant")
    first = ended(amago("train", "crafter", *inline, "--run", "a", "--steps", "400", "--json"))
    assert (first["reason"], first["step"] >= 400) == ("steps", True)

    second = ended(amago("train", "--resume", "a", "--steps", "700", "--json"))
    assert second["step"] >= 700 and second["update"] > first["update"]

    report = json.loads(amago("eval", "--checkpoint", "a", "--episodes", "2", "--json").out)
    assert report["header"]["step"] == second["step"]
    for policy in ("agent", "random"):
        assert [row["success"]["trials"] for row in report[policy]["instructions"]] == [2, 2, 2]
    assert all(episode["seed"] % 2 == 1 for episode in report["agent"]["episodes"])

    facts = json.loads(amago("show", "a", "--json").out)
    assert facts["state"] == "finished"
    assert facts["checkpoints"][str(second["step"])][0] == "latest"
    assert facts["metrics"]["rollout/length"][1] <= 60
    assert len(facts["reports"]) == 1


def test_attempts_without_instructions(amago: Amago) -> None:
    changes = ("--set", "env.size=3", "--set", "env.max_steps=4", "--attempts", "3", "--set", "run.log_every=0.2")
    inline = ("--preset", "tiny", "--device", "cpu", "--deterministic", "--workers", "0", *changes)
    result = amago("train", "frozen-lake", *inline, "--run", "a", "--steps", "400", "--json")
    last = ended(result)
    reports = [record for record in map(json.loads, result.out.splitlines()) if record["type"] == "progress"]
    assert reports[-1]["success"]["trials"] > 0 and len(reports[-1]["attempts"]) == 2
    assert reports[-1]["wanted"] is None and reports[-1]["mean_return"] is not None
    assert ended(amago("train", "--resume", "a", "--steps", "500", "--json"))["step"] > last["step"]

    report = json.loads(amago("eval", "--checkpoint", "a", "--episodes", "5", "--json").out)
    for policy in ("agent", "random"):
        assert report[policy]["success"]["trials"] == report[policy]["returns"]["count"] == 5
        assert [row["returns"]["count"] for row in report[policy]["attempts"]] == [5, 5, 5]
        assert report[policy]["instructions"] == []
    seeds = [[episode["seed"] for episode in report[policy]["episodes"]] for policy in ("agent", "random")]
    assert seeds[0] == seeds[1] and all(seed % 2 == 1 for seed in seeds[0])

    metrics = json.loads(amago("show", "a", "--json").out)["metrics"]
    assert metrics["rollout/attempts"][1] == 3
    assert {"rollout/first_attempt_return", "rollout/last_attempt_return", "rollout/success"} <= metrics.keys()
    assert not {"rollout/death_ratio", "rollout/unlocked_wake_up"} & metrics.keys()


def test_worlds_with_instructions_of_their_own(amago: Amago) -> None:
    small = ("--set", "env.size=5", "--set", "env.max_steps=20")
    inline = ("--preset", "tiny", "--device", "cpu", "--deterministic", "--workers", "0", *small)
    ended(amago("train", "maze", *inline, "--run", "a", "--steps", "400", "--json"))
    report = json.loads(amago("eval", "--checkpoint", "a", "--episodes", "12", "--json").out)["agent"]
    assert [row["text"] for row in report["instructions"]] == ["1 goal", "2 goals", "3 goals"]
    assert sum(row["success"]["trials"] for row in report["instructions"]) == report["success"]["trials"] == 12
    assert all(episode["instruction"].startswith("cell (") for episode in report["episodes"])


def test_an_environment_without_success(amago: Amago) -> None:
    inline = ("--preset", "tiny", "--device", "cpu", "--deterministic", "--workers", "0", "--set", "env.max_steps=2")
    result = amago("train", "gym", "--id", "Pendulum-v1", *inline, "--run", "a", "--steps", "600")
    assert result.code == 0
    assert " | return -" in result.out and "success" not in result.out
    report = json.loads(amago("eval", "--checkpoint", "a", "--episodes", "3", "--json").out)["agent"]
    assert report["success"] is None and report["returns"]["max"] < 0
    checkpoints = json.loads(amago("show", "a", "--json").out)["checkpoints"]
    assert list(checkpoints.values())[-1] == ["latest", "best"]  # the best of negative scores


def ended(result: Any) -> dict[str, Any]:
    """The last record of a training run that went well."""
    assert result.code == 0, result.err
    return json.loads(result.out.splitlines()[-1])


def test_ctrl_c_leaves_a_checkpoint_and_no_process(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, "train", "crafter", *TINY, "--run", "a"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as trainer:
        assert trainer.stdout is not None
        next(line for line in trainer.stdout if line.startswith("learning"))
        children = psutil.Process(trainer.pid).children(recursive=True)
        os.killpg(trainer.pid, signal.SIGINT)  # a terminal sends it to the whole group
        rest = trainer.stdout.read()
    assert trainer.returncode == 130
    assert "stopped on request" in rest
    assert (tmp_path / "runs" / "a" / "checkpoints" / "latest").is_file()
    deadline = time.monotonic() + 20
    while any(child.is_running() for child in children) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not [child for child in children if child.is_running()]
