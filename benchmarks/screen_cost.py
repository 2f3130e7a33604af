"""What the live screen costs: its share of a core, its bytes, and what it takes from the training beside it.

    python -m benchmarks.screen_cost
    python -m benchmarks.screen_cost --size 140x45 --blocks 6

One training runs in the background all the time. The screen, in a pseudo terminal, comes and goes in blocks of four
phases: without, with, with, without. A block compares its two middle phases with its two outer ones, so that whatever
drifts steadily over a block (a machine that warms up, rollouts that get longer) cancels. The steps of a phase are the
run's own, over the time between the two heartbeats that tell them. A screen's start, and the seconds after each
change, belong to no phase. Of the blocks' ratios the median counts, with an interval that needs no assumption on their
distribution; the same figure for the outer phases alone, the later over the earlier, shows what the machine does by
itself.

Of the terminal only the reading is done here: what a real one needs to draw comes on top, on the machine it runs on.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import pty
import select
import statistics
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import psutil

from store.layout import RunPaths
from store.status import read_status

SETTLE = 5.0  # seconds after a change that are not measured: the screen draws everything once
CONFIDENCE = 0.95
CPU_BUDGET, TRAINING_BUDGET = 0.05, 0.97

_AMAGO = [sys.executable, "-c", "from amago_cli.app import main; main()"]


class Phase(NamedTuple):
    """A stretch of training; of a screen, if there was one, what it used."""

    steps_per_second: float
    cpu_share: float = 0.0  # of one core
    bytes_per_second: float = 0.0


class Block(NamedTuple):
    """Four phases, one after another."""

    before: Phase
    beside: tuple[Phase, Phase]  # with the screen
    after: Phase

    @property
    def ratio(self) -> float:
        """Speed of training with the screen over without."""
        with_it, without = (phase.steps_per_second for phase in self.beside), (self.before, self.after)
        return sum(with_it) / sum(phase.steps_per_second for phase in without)


class Screen:
    """`amago watch` on a pseudo terminal that reads all it writes."""

    def __init__(self, paths: RunPaths, columns: int, rows: int) -> None:
        self._leader, self._follower = pty.openpty()
        termios.tcsetwinsize(self._follower, (rows, columns))
        command = [*_AMAGO, "watch", paths.name, "--runs-dir", str(paths.root.parent)]
        environment = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        self._process = subprocess.Popen(
            command,
            stdin=self._follower,
            stdout=self._follower,
            stderr=self._follower,
            start_new_session=True,
            env=environment,
        )

    def drain(self, seconds: float) -> int:
        """Read for so long; how many bytes came."""
        end, count = time.monotonic() + seconds, 0
        while (left := end - time.monotonic()) > 0:
            if select.select([self._leader], [], [], left)[0]:
                count += len(os.read(self._leader, 65536))
        return count

    def cpu_seconds(self) -> float:
        """What it has used so far."""
        times = psutil.Process(self._process.pid).cpu_times()
        return times.user + times.system

    def close(self) -> None:
        """Leave it as its person would."""
        os.write(self._leader, b"q")
        while self._process.poll() is None:
            self.drain(0.1)
        os.close(self._leader)
        os.close(self._follower)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=15.0, help="of a phase")
    parser.add_argument("--blocks", type=int, default=9, help="of four phases each")
    parser.add_argument("--size", default="80x24", choices=("80x24", "140x45"))
    parser.add_argument("--preset", default="crafter", help="of the training: tiny for one that reports all the time")
    arguments = parser.parse_args()
    columns, rows = map(int, arguments.size.split("x"))
    with tempfile.TemporaryDirectory() as folder, _training(Path(folder), arguments.preset) as paths:
        blocks = []
        for number in range(1, arguments.blocks + 1):
            blocks.append(_measure_block(paths, arguments.seconds, columns, rows))
            print(f"block {number}: training with the screen over without {blocks[-1].ratio:.3f}", flush=True)
    beside = [phase for block in blocks for phase in block.beside]
    ratios = [block.ratio for block in blocks]
    drift = [block.after.steps_per_second / block.before.steps_per_second for block in blocks]
    cpu_share = statistics.mean(phase.cpu_share for phase in beside)
    result = {
        "size": arguments.size,
        "preset": arguments.preset,
        "cpu_share": round(cpu_share, 4),
        "bytes_per_second": round(statistics.mean(phase.bytes_per_second for phase in beside)),
        "training_with_screen_over_without": _summary(ratios),
        "later_over_earlier_without_screen": _summary(drift),
        "within_budget": cpu_share < CPU_BUDGET and statistics.median(ratios) >= TRAINING_BUDGET,
    }
    print(json.dumps(result))


def median_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> tuple[float, float] | None:
    """From order statistics, at least so sure; None for fewer values than that takes (6 for 95 %)."""
    count = len(values)
    left_out = -1  # values at either end that are outside
    outside = 0.0
    while (outside := outside + 2 * math.comb(count, left_out + 1) / 2**count) <= 1 - confidence:
        left_out += 1
    ordered = sorted(values)
    return (ordered[left_out], ordered[-1 - left_out]) if left_out >= 0 else None


def _summary(ratios: Sequence[float]) -> dict[str, object]:
    interval = median_interval(ratios)
    return {
        "median": round(statistics.median(ratios), 3),
        "interval": [round(end, 3) for end in interval] if interval else None,
    }


def _measure_block(paths: RunPaths, seconds: float, columns: int, rows: int) -> Block:
    before = _alone(paths, seconds)
    screen = Screen(paths, columns, rows)
    try:
        beside = _watched(paths, screen, seconds), _watched(paths, screen, seconds)
    finally:
        screen.close()
    return Block(before, beside, _alone(paths, seconds))


def _alone(paths: RunPaths, seconds: float) -> Phase:
    time.sleep(SETTLE)
    begun = _progress(paths)
    time.sleep(seconds)
    return Phase(_pace(begun, _progress(paths)))


def _watched(paths: RunPaths, screen: Screen, seconds: float) -> Phase:
    screen.drain(SETTLE)
    begun, used, started = _progress(paths), screen.cpu_seconds(), time.monotonic()
    written = screen.drain(seconds)
    used, lasted = screen.cpu_seconds() - used, time.monotonic() - started
    return Phase(_pace(begun, _progress(paths)), used / lasted, written / lasted)


def _progress(paths: RunPaths) -> tuple[int, float]:
    """Steps, and the moment at which the run had made them."""
    status = read_status(paths)
    assert status is not None
    return status.step, status.heartbeat


def _pace(begun: tuple[int, float], ended: tuple[int, float]) -> float:
    steps, seconds = ended[0] - begun[0], ended[1] - begun[1]
    if not steps:
        raise SystemExit("the training made no step in a whole phase: take longer phases with --seconds")
    return steps / seconds


@contextmanager
def _training(folder: Path, preset: str) -> Iterator[RunPaths]:
    """A run that learns; ended with the block."""
    command = [*_AMAGO, "train", "crafter", "--preset", preset, "--run", "cost", "--runs-dir", str(folder), "--plain"]
    paths = RunPaths(folder / "cost")
    with (folder / "training.log").open("wb") as log:
        trainer = subprocess.Popen([*command, "--minutes", "600"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        while (status := read_status(paths)) is None or status.update == 0:
            if trainer.poll() is not None:
                raise SystemExit((folder / "training.log").read_text("utf-8"))
            time.sleep(0.5)
        yield paths
    finally:
        trainer.terminate()
        trainer.wait()


if __name__ == "__main__":
    main()
