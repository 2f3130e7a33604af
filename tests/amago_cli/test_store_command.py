"""`amago store`: each verb on a small real run, also on one that cannot be written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from store.layout import RunPaths
from store.lock import RunLock
from store.metrics import MetricsWriter
from store.rollouts import RolloutReader, RolloutWriter
from store.runs import create_run
from store.trajectory import Trajectory, TrajectoryInfo

Amago = Callable[..., Any]


@pytest.fixture
def run(tmp_path: Path) -> RunPaths:
    """Six train shards of one rollout of 6 steps each, two evaluations, one metric."""
    paths = create_run(tmp_path / "runs", "a", {})
    for split, number in (("train", 6), ("eval", 2)):
        writer = RolloutWriter(paths, split, spec={}, max_seconds=0)
        for seed in range(number):
            writer.append(rollout(seed, split))
    metrics = MetricsWriter(paths, 0)
    metrics.log(10, 1, {"loss": float("nan"), "rollout/return, mean": 0.5})
    metrics.close()
    return paths


def rollout(seed: int, split: str) -> Trajectory:
    """The first reaches its goal; the second carries out the wanted instruction of one goal; the others nothing."""
    steps, finished = 6, seed < 2
    progress = (np.arange(steps + 1) > 2).astype(np.uint8) * np.uint8(finished)
    return Trajectory(
        observations={"image": np.random.default_rng(seed).integers(0, 256, (steps + 1, 10, 14, 3), np.uint8)},
        actions=np.zeros(steps, np.int64),
        rewards=np.zeros(steps, np.float32),
        terminated=np.zeros(steps, np.bool_),
        truncated=np.arange(steps) == steps - 1,
        is_first=np.arange(steps + 1) == 0,
        progress=progress,
        instruction=np.array([3], np.int16),
        events=np.zeros((0, 2), np.int32),
        info=TrajectoryInfo(
            environment="crafter",
            seed=seed,
            actor=0,
            split=split,
            cause="time limit",
            wanted=seed == 1,
            policy_update=0,
            step=6 * seed,
            epsilon=0.0,
        ),
    )


def test_info(amago: Amago, run: RunPaths) -> None:
    page = amago("store", "info", "a").out
    [train] = [line.split() for line in page.splitlines() if line.startswith("train")]
    assert train[1:4] == ["6", "6", "36"] and "metrics: 2 rows of 2 keys in 1 file" in page
    assert "only indexes were read; to open every file fully: amago store verify a" in page.splitlines()[-1]
    facts = json.loads(amago("store", "info", "a", "--json").out)
    assert facts["splits"]["train"]["steps"] == 36 and facts["splits"]["eval"]["last_number"] == 2
    sizes = [path.stat().st_size for path in run.rollouts("train").iterdir()]
    assert facts["splits"]["train"]["bytes"] == sum(sizes)
    assert facts["splits"]["train"]["bytes_per_step"] == sum(sizes) / 36
    assert facts["bytes"] == sum(path.stat().st_size for path in run.root.rglob("*") if path.is_file())


def test_verify_names_the_damaged_and_repair_mends(amago: Amago, run: RunPaths) -> None:
    assert amago("store", "verify", "a").out == "run a is sound\n"
    shard = run.shard("train", 2)
    shard.write_bytes(shard.read_bytes()[:-100])
    found = amago("store", "verify", "a")
    assert found.code == 5 and f"{shard} is damaged" in found.out and "next: amago store repair a" in found.out
    record = json.loads(amago("store", "verify", "a", "--json").out)
    assert record["sound"] is False and record["damaged"][0]["path"] == str(shard)
    tried = amago("store", "repair", "a", "--dry-run")
    assert tried.code == 0 and "1 thing mended (dry run" in tried.out and not run.damaged.exists()
    assert "1 thing mended\n" in amago("store", "repair", "a").out
    assert amago("store", "verify", "a").code == 0
    assert (run.damaged / "rollouts/train/000002.h5").is_file()


def test_a_running_run_is_left_alone(amago: Amago, run: RunPaths) -> None:
    with RunLock(run):
        for verb in ("repair", "compact"):
            refused = amago("store", verb, "a")
            assert refused.code == 3 and "is being trained by process" in refused.err
        assert amago("store", "verify", "a").code == 0


def test_compact_merges_and_keeps_what_tells_of_the_run(amago: Amago, run: RunPaths) -> None:
    assert "train: 6 shards into 1 (dry run" in amago("store", "compact", "a", "--dry-run").out
    assert len(list(run.rollouts("train").iterdir())) == 6
    assert "train: 6 shards into 1\n" in amago("store", "compact", "a").out
    assert amago("store", "verify", "a").code == 0
    dropped = amago("store", "compact", "a", "--keep-steps", "12").out
    assert "train: 1 shard into 1, 2 rollouts dropped" in dropped
    assert RolloutReader(run.rollouts("train")).index().number.tolist() == [1, 2, 5, 6]  # 1 first reached, 2 was wanted
    assert len(RolloutReader(run.rollouts("eval")).index()) == 2
    amago("store", "compact", "a", "--keep-bytes", "0")
    assert RolloutReader(run.rollouts("train")).index().number.tolist() == [1, 2]


@pytest.mark.parametrize("which", ["latest", "best"])
def test_checkpoints_and_their_pointers(amago: Amago, run: RunPaths, which: Literal["latest", "best"]) -> None:
    from agent import checkpoint
    from agent.checkpoint import Checkpoint, save

    for step in (1, 2):
        meta = {"step": step, "update": 0, "elapsed": 0.0, "config": {}, "environment": {}}
        save(run, Checkpoint({}, {}, {}, meta))
    assert amago("store", "verify", "a").code == 0
    run.pointer(which).write_text("7\n")
    assert "leads to no checkpoint" in amago("store", "verify", "a").out
    (run.checkpoint(2) / checkpoint.STATE).write_text("{ }")
    assert "state.json does not match its digest" in amago("store", "verify", "a").out
    amago("store", "repair", "a")
    assert amago("store", "verify", "a").code == 0
    assert run.pointer(which).read_text() == "1\n"
    assert (run.damaged / "checkpoints/2" / checkpoint.STATE).is_file()
    os.mkfifo(run.checkpoint(1) / "extra")
    assert "extra is not a plain file" in amago("store", "verify", "a").out


def test_a_run_on_a_read_only_medium_can_be_looked_at(amago: Amago, run: RunPaths, tmp_path: Path) -> None:
    mount = ["mount", "--bind", str(run.root.parent), str(run.root.parent)]
    remount = ["mount", "-o", "remount,bind,ro", str(run.root.parent)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting needs privileges")
    try:
        subprocess.run(remount, check=True)
        for verb in ("info", "verify"):
            assert amago("store", verb, "a").code == 0
        assert amago("store", "repair", "a", "--dry-run").code == 0
        refused = amago("store", "repair", "a")
        assert refused.code == 5 and "no permission to write" in refused.err
    finally:
        subprocess.run(["umount", str(run.root.parent)], check=True)


def test_paths_with_spaces_and_other_letters(amago: Amago, run: RunPaths, tmp_path: Path) -> None:
    elsewhere = tmp_path / "Läufe von früher"
    run.root.parent.rename(elsewhere)
    for verb in ("info", "verify", "compact", "repair"):
        assert amago("store", verb, "a", "--runs-dir", str(elsewhere)).code == 0


def test_help_of_the_verbs_loads_nothing_heavy() -> None:
    text = "import sys; sys.argv = ['amago', 'store', '--help']; from amago_cli.app import main\n"
    text += "try: main()\nexcept SystemExit: print({'numpy', 'h5py', 'torch', 'PIL', 'pyarrow'} & set(sys.modules))"
    answer = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert answer.stdout.endswith("set()\n")
