"""Real kills and real full disks: what was published stays readable, and the next process continues."""

import errno
import os
import re
import signal

import numpy as np
import pytest
from limits import largest_file

from store.atomic import read_json, write_json
from store.errors import StorageError
from store.layout import RunPaths
from store.metrics import MetricsWriter, read_metrics
from store.rollouts import RolloutReader, RolloutWriter
from store.status import Status, write_status

WRITE_ROLLOUTS = """
import sys
from pathlib import Path
from conftest import make_trajectory
from store.layout import RunPaths
from store.rollouts import RolloutWriter
writer = RolloutWriter(RunPaths(Path(sys.argv[1])), "train", spec={}, max_seconds=0)
while True:
    print(writer.append(make_trajectory(20, image=True)), flush=True)
"""

WRITE_METRICS = """
import sys
from pathlib import Path
from store.layout import RunPaths
from store.metrics import MetricsWriter
resumed = int(sys.argv[2])
writer = MetricsWriter(RunPaths(Path(sys.argv[1])), resumed)
for step in range(resumed + 1, 10**9):
    writer.log(step, step, {f"train/{step // 50}": step, "train/loss": step})
    writer.flush()
    print(step, flush=True)
"""

WRITE_METRICS_UNTIL_FULL = """
import random
import sys
from pathlib import Path
from store.errors import StorageError
from store.layout import RunPaths
from store.metrics import MetricsWriter
writer = MetricsWriter(RunPaths(Path(sys.argv[1])), 0)
try:
    for step in range(10**9):
        writer.log(step, 0, {f"train/{key}": random.random() for key in range(500)})
        writer.flush()
        flushed = step
except StorageError as error:
    print(error)
    print(flushed)
    try:
        writer.close()
    except StorageError:
        sys.exit(StorageError.exit_code)
"""


def kill(process):
    process.send_signal(signal.SIGKILL)
    output, errors = process.communicate()
    assert errors == ""
    return [int(line) for line in output.splitlines()]


def wait_for_lines(process, count):
    return [process.stdout.readline() for _ in range(count)]


def test_killed_rollout_writers_lose_nothing_that_was_sealed(paths, start):
    """A kill may leave a gap in the numbers, of the rollout that was being written."""
    sealed: list[int] = []
    for number_of_lines in (1, 4, 2):
        process = start(WRITE_ROLLOUTS, paths.root)
        confirmed = [*map(int, wait_for_lines(process, number_of_lines)), *kill(process)]
        reader = RolloutReader(paths.rollouts("train"))
        numbers = [trajectory.info.number for trajectory in reader]
        assert reader.problems == []
        assert confirmed[0] > max(sealed, default=0)  # it continued behind everything that was there
        assert numbers == sorted(set(numbers)) and set(numbers) >= {*sealed, *confirmed}
        assert len(numbers) <= len(sealed) + len(confirmed) + 1
        sealed = numbers
    RolloutWriter(paths, "train", spec={}).close()
    assert not list(paths.rollouts("train").glob("*.tmp"))


def test_killed_metrics_writers_lose_nothing_that_was_flushed(paths, start):
    flushed = 0
    for number_of_lines in (1, 120, 30):
        process = start(WRITE_METRICS, paths.root, flushed)
        first = int(wait_for_lines(process, number_of_lines)[0])
        flushed = max([first + number_of_lines - 1, *kill(process)])
        loss = read_metrics(paths)["train/loss"]
        assert loss.step.tolist() == list(range(1, len(loss) + 1)) and len(loss) in (flushed, flushed + 1)
        assert np.array_equal(loss.value, loss.step)
    assert [path.suffix for path in sorted(paths.metrics_dir.glob("*.h5"))] == [".h5"] * 3


def test_reading_beside_a_writer_never_misses_what_was_flushed(paths, start):
    process = start(WRITE_METRICS, paths.root, 0)
    for _ in range(60):
        flushed = int(process.stdout.readline())
        loss = read_metrics(paths)["train/loss"]
        assert len(loss) >= flushed
        assert np.array_equal(loss.step, np.arange(1, len(loss) + 1))
        assert np.array_equal(loss.value, loss.step)
    assert kill(process)


def test_a_killed_json_writer_leaves_the_old_or_the_new_content(tmp_path, start):
    text = """
import sys
from pathlib import Path
from store.atomic import write_json
number = 0
while True:
    number += 1
    write_json(Path(sys.argv[1]), {"number": number, "padding": [number] * 2000}, durable=False)
    print(number, flush=True)
"""
    path = tmp_path / "status.json"
    for _ in range(3):
        process = start(text, path)
        wait_for_lines(process, 5)
        last = kill(process)[-1:] or [5]
        record = read_json(path)
        assert record["padding"] == [record["number"]] * 2000
        assert record["number"] in (last[0], last[0] + 1)


def test_a_full_disk_stops_the_metrics_cleanly(tiny_disk, start):
    (tiny_disk / "filler").write_bytes(bytes(2_800_000))
    process = start(WRITE_METRICS_UNTIL_FULL, tiny_disk)
    output, errors = process.communicate()
    message, flushed = output.splitlines()
    assert (process.returncode, errors) == (5, "")
    assert re.match(rf"disk full while writing {tiny_disk}/metrics/000\d.h5; free space", message)
    metrics = read_metrics(RunPaths(tiny_disk))
    assert len(metrics) == 500
    assert all(series.step.tolist() == list(range(int(flushed) + 1)) for series in metrics.values())


def test_metrics_continue_when_space_is_free_again(tiny_disk):
    paths = RunPaths(tiny_disk)
    filler = tiny_disk / "filler"
    writer = MetricsWriter(paths, 0)
    filler.write_bytes(bytes(2_950_000))
    step = 0
    with pytest.raises(StorageError, match="disk full"):
        while True:
            step += 1
            writer.log(step, 0, {"train/loss": step} | {f"{key}": 0 for key in range(500)})
            writer.flush()
    filler.unlink()
    writer.flush()
    writer.close()
    assert read_metrics(paths)["train/loss"].step.tolist() == list(range(1, step + 1))


def test_a_full_disk_keeps_old_shards_and_the_waiting_trajectories(tiny_disk, make):
    paths = RunPaths(tiny_disk)
    writer = RolloutWriter(paths, "train", spec={}, max_seconds=0)
    writer.append(make(20, image=True))
    filler = tiny_disk / "filler"
    filler.write_bytes(bytes(2_600_000))
    with pytest.raises(StorageError, match=r"disk full while writing .*000002\.h5; .*--resume tiny"):
        writer.append(make(60, image=True))
    assert [path.name for path in paths.rollouts("train").iterdir()] == ["000001.h5"]
    filler.unlink()
    writer.close()
    assert RolloutReader(paths.rollouts("train")).index().length.tolist() == [20, 60]


def test_a_full_disk_keeps_the_old_json(tiny_disk):
    path = tiny_disk / "a.json"
    write_json(path, {"good": True})
    with pytest.raises(StorageError, match="disk full"):
        write_json(path, ["x" * 1000] * 4000)
    assert read_json(path) == {"good": True}
    assert list(tiny_disk.iterdir()) == [path]


def test_a_limit_on_file_size_is_a_full_disk(paths, make):
    """The same as above where no file system can be mounted."""
    metrics = MetricsWriter(paths, 0)
    rollouts = RolloutWriter(paths, "train", spec={}, max_seconds=0)
    values = np.random.default_rng(0).random(20_000)  # nothing to compress
    with largest_file(40_000):
        with pytest.raises(StorageError, match="disk full"):
            rollouts.append(make(20, image=True))
        with pytest.raises(StorageError, match="disk full"):
            for step, value in enumerate(values):
                metrics.log(step, 0, {"train/loss": value})
            metrics.flush()
    metrics.close()
    rollouts.close()
    assert len(read_metrics(paths)["train/loss"]) == 20_000
    assert len(list(RolloutReader(paths.rollouts("train")))) == 1


def test_an_error_of_the_disk_while_replacing_is_reported(tmp_path, monkeypatch):
    def refuse(descriptor):
        raise OSError(errno.EIO, "Input/output error")

    paths = RunPaths(tmp_path)
    monkeypatch.setattr(os, "fsync", refuse)
    status = Status(state="stopped", pid=1, host="h", started=0.0, heartbeat=0.0)
    with pytest.raises(StorageError, match=r"cannot write .*status\.json: Input/output error"):
        write_status(paths, status)
    assert list(tmp_path.iterdir()) == []
    write_status(paths, Status(state="running", pid=1, host="h", started=0.0, heartbeat=0.0))  # no fsync
