"""`amago eval` as a process killed with -9: what it had played is there, readable, and said to be incomplete."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from store.rollouts import RolloutReader

Amago = Callable[..., Any]

INLINE = ("--preset", "tiny", "--device", "cpu", "--deterministic", "--workers", "0", "--set", "env.max_steps=60")
SCRIPT = "from amago_cli.app import main; main()"
PATIENCE = 120.0  # seconds, for a busy machine


@pytest.fixture
def trained(amago: Amago, tmp_path: Path) -> Path:
    """A run of a few steps."""
    result = amago(
        "train", "crafter", *INLINE, "--goals", "collect sapling, place plant", "--run", "a", "--steps", "300"
    )
    assert result.code == 0, result.err
    return tmp_path / "runs" / "a"


def kill_once_kept(run: Path, *arguments: str) -> dict[str, Any]:
    """Evaluate more episodes than anybody waits for, kill the process after its first report; that report."""
    command = [sys.executable, "-c", SCRIPT, "eval", "--checkpoint", "a", "--runs-dir", str(run.parent), *arguments]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + PATIENCE
        while not (found := list((run / "reports").glob("*.json"))) and time.monotonic() < deadline:
            assert process.poll() is None, "it ended before it was killed"
            time.sleep(0.05)
    finally:
        process.kill()
        process.wait()
    assert found, "no report while the evaluation went on"
    return json.loads(found[0].read_text())


def test_finished_episodes_survive_and_the_report_knows_where_they_are(amago: Amago, trained: Path) -> None:
    document = kill_once_kept(trained, "--episodes", "100000", "--no-random")
    episodes = document["agent"]["episodes"]
    assert document["header"]["interrupted"] is True
    assert document["agent"]["success"]["trials"] == len(episodes) > 0
    stored = {each.info.number: each for each in RolloutReader(trained / "rollouts" / "eval")}
    assert all(stored[each["number"]].info.seed == each["seed"] for each in episodes)
    assert all(stored[each["number"]].length == each["steps"] for each in episodes)


def test_the_next_evaluation_is_whole_and_apart(amago: Amago, trained: Path) -> None:
    kept = len(kill_once_kept(trained, "--episodes", "100000", "--no-random")["agent"]["episodes"])
    report = json.loads(amago("eval", "--checkpoint", "a", "--episodes", "2", "--json").out)
    assert report["header"]["interrupted"] is False
    numbers = [each["number"] for each in report["agent"]["episodes"]]
    assert len(set(numbers)) == 6 and min(numbers) > kept
    assert len(list((trained / "reports").glob("*.json"))) == 2
