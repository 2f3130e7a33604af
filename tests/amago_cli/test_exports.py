"""What `amago store export` writes opens in the programs it is for, and holds what the run holds."""

from __future__ import annotations

import csv
import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from store.layout import RunPaths
from store.metrics import MetricsWriter
from store.rollouts import RolloutWriter
from store.runs import create_run
from store.trajectory import Trajectory, TrajectoryInfo

Amago = Callable[..., Any]
STEPS = 5
HEIGHT, WIDTH = 9, 13  # odd, and no multiple of 16


@pytest.fixture
def run(tmp_path: Path) -> RunPaths:
    paths = create_run(tmp_path / "runs", "a", {})
    writer = RolloutWriter(paths, "eval", spec={})
    for seed in range(3):
        writer.append(film(seed))
    writer.close()
    metrics = MetricsWriter(paths, 0)
    for step in (10, 20):
        metrics.log(step, step // 10, {"loss": math.nan, "rollout/return, mean": step / 2, "inf": math.inf})
    metrics.close()
    return paths


def film(seed: int) -> Trajectory:
    """State t of trajectory `seed` is all of one grey: 40 t + seed."""
    grey = (40 * np.arange(STEPS + 1) + seed).astype(np.uint8)
    return Trajectory(
        observations={"image": np.broadcast_to(grey[:, None, None, None], (STEPS + 1, HEIGHT, WIDTH, 3)).copy()},
        actions=np.zeros(STEPS, np.int64),
        rewards=np.zeros(STEPS, np.float32),
        terminated=np.zeros(STEPS, np.bool_),
        truncated=np.arange(STEPS) == STEPS - 1,
        is_first=np.arange(STEPS + 1) == 0,
        progress=np.zeros(STEPS + 1, np.uint8),
        instruction=np.zeros(0, np.int16),
        events=np.zeros((0, 2), np.int32),
        info=TrajectoryInfo(
            environment="gym:Film-v0",
            seed=seed,
            actor=0,
            split="eval",
            cause="time limit",
            wanted=False,
            policy_update=0,
            step=0,
            epsilon=0.0,
        ),
    )


def export(amago: Amago, form: str, path: Path, *options: str) -> Any:
    return amago("store", "export", "a", "--format", form, "--output", str(path), *options)


def test_metrics_as_text(amago: Amago, run: RunPaths, tmp_path: Path) -> None:
    path = tmp_path / "mit Leerzeichen ü.csv"
    assert export(amago, "metrics-csv", path).code == 0
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 6
    means = [row for row in rows if row["metric"] == "rollout/return, mean"]
    assert [(int(row["step"]), int(row["update"]), float(row["value"])) for row in means] == [(10, 1, 5), (20, 2, 10)]
    assert {row["value"] for row in rows if row["metric"] != "rollout/return, mean"} == {"nan", "inf"}


def test_metrics_as_parquet(amago: Amago, run: RunPaths, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    assert export(amago, "metrics-parquet", tmp_path / "m.parquet").code == 0
    table = parquet.read_table(tmp_path / "m.parquet").to_pydict()
    assert table["metric"] == ["inf"] * 2 + ["loss"] * 2 + ["rollout/return, mean"] * 2
    assert table["value"][4:] == [5, 10] and math.isnan(table["value"][2]) and table["step"] == [10, 20] * 3


def test_parquet_without_its_package_says_what_to_install(
    amago: Amago, run: RunPaths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    refused = export(amago, "metrics-parquet", tmp_path / "m.parquet")
    assert refused.code == 2 and 'pip install "amago[parquet]"' in refused.err


def test_a_picture(amago: Amago, run: RunPaths, tmp_path: Path) -> None:
    sizes = []
    for scale in (1, 2):
        options = ("--split", "eval", "--number", "2", "--step", "3", "--scale", str(scale))
        assert export(amago, "png", tmp_path / "s.png", *options).code == 0
        with Image.open(tmp_path / "s.png") as image:
            sizes.append(image.width)
            assert image.getpixel((0, 0)) == (121, 121, 121)
            assert image.width / image.height == WIDTH / HEIGHT
    assert sizes[1] > sizes[0]


def test_an_animation(amago: Amago, run: RunPaths, tmp_path: Path) -> None:
    assert export(amago, "gif", tmp_path / "f.gif", "--split", "eval", "--fps", "5").code == 0
    with Image.open(tmp_path / "f.gif") as image:
        assert image.n_frames == STEPS + 1 and image.info["duration"] == 200


def test_a_film_plays_in_a_browser(amago: Amago, run: RunPaths, tmp_path: Path) -> None:
    imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg")
    path = tmp_path / "f.mp4"
    assert export(amago, "mp4", path, "--split", "eval", "--scale", "1").code == 0
    frames, _ = imageio_ffmpeg.count_frames_and_secs(str(path))
    assert frames == STEPS + 1
    ffmpeg = imageio_ffmpeg.get_ffmpeg_exe()
    described = subprocess.run([ffmpeg, "-i", path], capture_output=True, text=True, check=False).stderr
    [stream] = [line for line in described.splitlines() if "Video:" in line]
    assert "h264" in stream and "yuv420p" in stream
    content = path.read_bytes()
    assert content.index(b"moov") < content.index(b"mdat")  # plays while it loads


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("png", "--split", "eval", "--step", "6"), "has states 0 to 5, not 6"),
        (("gif", "--split", "eval", "--number", "9"), "there is no eval trajectory 9; there are 1 to 3"),
        (("png",), "has no train trajectory"),
        (("mp3",), "unknown format 'mp3'; did you mean mp4?"),
    ],
)
def test_what_cannot_be_exported(
    amago: Amago, run: RunPaths, tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    refused = export(amago, options[0], tmp_path / "x", *options[1:])
    assert refused.code == 2 and message in refused.err and not (tmp_path / "x").exists()


def test_a_place_that_cannot_be_written(amago: Amago, run: RunPaths, tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing" / "x.csv"):
        refused = export(amago, "metrics-csv", path)
        assert refused.code == 2 and "cannot write to" in refused.err
