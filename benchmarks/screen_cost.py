"""What the live screen costs: its share of a core, its bytes, and what it takes from the training beside it.

    python -m benchmarks.screen_cost --seconds 30

A tiny training runs in the background all the time; the screen, in a pseudo terminal of 80 x 24 or 140 x 45, is shown
for every second stretch of `--seconds`. So training with and without it is compared within one run.
"""

from __future__ import annotations

import argparse
import json
import os
import pty
import select
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path
from typing import NamedTuple

import psutil

SETTLE = 10.0  # seconds until a screen has drawn everything once, and a training is at its pace
_PROGRAM = "from amago_cli.app import main; main()"
_AMAGO = [sys.executable, "-c", _PROGRAM]


class Cost(NamedTuple):
    """What a screen used over its stretch."""

    cpu_share: float  # of one core
    bytes_per_second: float
    steps_per_second: float  # of the training beside it


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--size", default="80x24", choices=("80x24", "140x45"))
    parser.add_argument("--pairs", type=int, default=2, help="stretches with the screen, each after one without")
    arguments = parser.parse_args()
    columns, rows = map(int, arguments.size.split("x"))
    with tempfile.TemporaryDirectory() as folder:
        training = _start_training(Path(folder))
        try:
            _wait_for_learning(Path(folder))
            without, beside = [], []
            for _ in range(arguments.pairs):
                without.append(_steps_per_second(Path(folder), arguments.seconds))
                beside.append(_watched(Path(folder), arguments.seconds, rows, columns))
                print(f"without {without[-1]:.0f} steps/s, with {beside[-1].steps_per_second:.0f}, {beside[-1]}")
        finally:
            training.terminate()
            training.wait()
    pairs = len(beside)
    ratio = sum(cost.steps_per_second for cost in beside) / sum(without)
    result = {
        "size": arguments.size,
        "cpu_share": round(sum(cost.cpu_share for cost in beside) / pairs, 4),
        "bytes_per_second": round(sum(cost.bytes_per_second for cost in beside) / pairs),
        "training_with_screen_over_without": round(ratio, 3),
    }
    print(json.dumps(result))


def _start_training(folder: Path) -> subprocess.Popen[bytes]:
    command = [*_AMAGO, "train", "crafter", "--preset", "tiny", "--run", "cost", "--runs-dir", str(folder)]
    goals = ["--goals", "collect sapling, place plant", "--minutes", "60"]
    log = (folder / "training.log").open("wb")
    return subprocess.Popen([*command, *goals], stdin=subprocess.DEVNULL, stdout=log, stderr=log)


def _wait_for_learning(folder: Path) -> None:
    while _status(folder)["update"] == 0:
        time.sleep(0.5)
    time.sleep(SETTLE)


def _status(folder: Path) -> dict:
    try:
        return json.loads((folder / "cost" / "status.json").read_text("utf-8"))
    except FileNotFoundError:
        return {"update": 0, "step": 0}


def _steps_per_second(folder: Path, seconds: float) -> float:
    begun = _status(folder)
    time.sleep(seconds)
    ended = _status(folder)
    return (ended["step"] - begun["step"]) / max(ended["heartbeat"] - begun["heartbeat"], 1e-9)


def _watched(folder: Path, seconds: float, rows: int, columns: int) -> Cost:
    leader, follower = pty.openpty()
    termios.tcsetwinsize(follower, (rows, columns))
    screen = subprocess.Popen(
        [*_AMAGO, "watch", "cost", "--runs-dir", str(folder)],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        start_new_session=True,
        env={**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"},
    )
    try:
        _drain(leader, SETTLE)
        begun, used = _status(folder), _cpu_seconds(screen.pid)
        started = time.monotonic()
        written = _drain(leader, seconds)
        lasted = time.monotonic() - started
        used = _cpu_seconds(screen.pid) - used
        ended = _status(folder)
        pace = (ended["step"] - begun["step"]) / max(ended["heartbeat"] - begun["heartbeat"], 1e-9)
        return Cost(used / lasted, written / lasted, pace)
    finally:
        screen.terminate()
        _drain(leader, 3.0)
        screen.wait()
        os.close(leader)
        os.close(follower)


def _drain(descriptor: int, seconds: float) -> int:
    """Read what is written for so long, as a terminal would; how many bytes it was."""
    end, count = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        if select.select([descriptor], [], [], 0.1)[0]:
            count += len(os.read(descriptor, 65536))
    return count


def _cpu_seconds(pid: int) -> float:
    times = psutil.Process(pid).cpu_times()
    return times.user + times.system


if __name__ == "__main__":
    main()
