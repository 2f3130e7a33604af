"""Real `amago train` processes that are killed with -9 and go on."""

import random
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

from agent.checkpoint import newest, read_meta
from store.layout import RunPaths
from store.metrics import read_metrics
from store.rollouts import RolloutReader

SCRIPT = "from amago_cli.app import main; main()"
NEW = (
    "crafter", "--run", "k", "--preset", "tiny", "--device", "cpu", "--workers", "1",
    "--set", "env.max_steps=60", "--set", "run.checkpoint_every=0.01", "--set", "run.log_every=0.2",
)  # fmt: skip


class KilledRun:
    """A run in `runs_dir`, what has been seen of it, and the checks that must hold whatever happens to it."""

    def __init__(self, runs_dir: Path) -> None:
        self.paths = RunPaths(runs_dir / "k")
        self.step = self.update = 0  # of the newest checkpoint seen
        self.actions: dict[int, np.ndarray] = {}  # of each sealed trajectory seen, by number

    def start(self, *options: str) -> subprocess.Popen:
        resume = ("--resume", "k") if self.paths.config.exists() else NEW
        where = ("--runs-dir", str(self.paths.root.parent))
        command = [sys.executable, "-c", SCRIPT, "train", *resume, *where, *options]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def kill(self, trainer: subprocess.Popen) -> None:
        """Kill with -9; nothing that it started may live on."""
        children = psutil.Process(trainer.pid).children(recursive=True) if trainer.poll() is None else []
        trainer.kill()
        trainer.communicate()
        _, alive = psutil.wait_procs(children, timeout=20)
        assert alive == []

    def learned(self) -> bool:
        """Whether a checkpoint newer than the last one seen holds updates."""
        path, _ = newest(self.paths)
        return path is not None and read_meta(path)["update"] > self.update

    def check(self) -> None:
        """Nothing sealed is lost, no counter goes back, no checkpoint is damaged."""
        path, problems = newest(self.paths)
        assert path is not None and problems == []
        meta = read_meta(path)
        assert meta["step"] >= self.step and meta["update"] >= self.update
        self.step, self.update = meta["step"], meta["update"]
        reader = RolloutReader(self.paths.rollouts("train"))
        trajectories = list(reader)
        assert reader.problems == []
        assert [t.info.number for t in trajectories] == list(range(1, len(trajectories) + 1))
        found = {t.info.number: t.actions for t in trajectories}
        for number, actions in self.actions.items():
            np.testing.assert_array_equal(found[number], actions)
        self.actions = found
        for series in read_metrics(self.paths).values():
            assert (np.diff(series.step) >= 0).all() and (np.diff(series.update) >= 0).all()

    def finish(self) -> str:
        """Go on to a few hundred steps more, undisturbed; returns what it said."""
        trainer = self.start("--steps", str(self.step + 300))
        said, _ = trainer.communicate()
        assert trainer.returncode == 0, said
        before = self.step
        self.check()
        assert self.step >= before + 300
        return said


def wait_for(happens, trainer: subprocess.Popen) -> None:
    deadline = time.monotonic() + 90
    while not happens():
        assert trainer.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)


def wait_for_line(beginning: str, trainer: subprocess.Popen) -> None:
    assert trainer.stdout is not None
    assert any(line.startswith(beginning) for line in trainer.stdout), f"it ended without '{beginning}'"


def test_a_killed_run_goes_on_with_nothing_lost(tmp_path):
    run = KilledRun(tmp_path)
    trainer = run.start()
    wait_for(run.learned, trainer)
    run.kill(trainer)
    run.check()
    assert run.actions and run.update > 0
    step, update = run.step, run.update
    said = run.finish()
    assert f"resuming from checkpoint {step}: update {update}" in said
    assert run.update > update


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_twenty_kills_at_random_moments(tmp_path):
    run, moments = KilledRun(tmp_path), random.Random(0)
    trainer = run.start()
    wait_for(run.learned, trainer)
    run.kill(trainer)
    run.check()
    for kill in range(1, 21):
        before = (run.step, run.update, len(run.actions))
        trainer, while_starting = run.start(), kill % 4 == 0
        if not while_starting:
            wait_for_line("learning", trainer)
        seconds = moments.uniform(0.0, 4.0)
        time.sleep(seconds)
        run.kill(trainer)
        run.check()
        gained = [now - then for now, then in zip((run.step, run.update, len(run.actions)), before, strict=True)]
        when = f"{seconds:.1f} s after {'its start' if while_starting else 'learning again'}"
        print(f"kill {kill:2d}, {when}: +{gained[0]} steps, +{gained[1]} updates, +{gained[2]} rollouts")
    run.finish()
    print(f"20 kills: {run.step} steps, {run.update} updates, {len(run.actions)} rollouts, none lost")
