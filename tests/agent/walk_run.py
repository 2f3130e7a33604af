"""Whole runs on a walk, in the test's own process, and what was told about them."""

import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import gymnasium
import pytest
import torch

from agent import collector, cycles, evaluate
from agent.checkpoint import load
from agent.config import Config, override
from agent.presets import preset
from agent.progress import Event, ignore
from agent.train import Outcome, train
from store.events import read_events
from store.layout import RunPaths
from store.metrics import read_metrics
from store.rollouts import RolloutReader
from store.runs import create_run
from store.trajectory import Trajectory

WARMUP, RATIO = 60, 15.0  # steps before the first update, steps per update


def walk_config(steps: int = 250, **changes) -> Config:
    base = {
        "env.max_steps": 24,  # longer than the context: windows overflow
        "task.goals": "collect coal, collect diamond",
        "task.max_length": 2,
        "model.context": 8,
        "model.d_model": 8,
        "model.d_encoder": 8,
        "loss.actor": "ind",
        "loss.critic": "ind",
        "replay.warmup_steps": WARMUP,
        "replay.steps_per_update": RATIO,
        "collect.actors": 3,
        "collect.workers": 0,
        "exploration.anneal_steps": 500,
        "run.steps": steps,
        "run.device": "cpu",
        "run.deterministic": True,
        "run.log_every": 0.2,
    }
    return override(preset("tiny"), {**base, **{key.replace("__", "."): value for key, value in changes.items()}})


class Run:
    """One run directory and what was told about it."""

    def __init__(self, runs_dir: Path, name: str = "r") -> None:
        self.paths: RunPaths = create_run(runs_dir, name, {})
        self.told: list = []
        self.when_told: Callable = ignore

    def go(self, config: Config, resume: bool = False, stop: threading.Event | None = None) -> Outcome:
        return train(config, self.paths, resume=resume, notify=self._hear, stop=stop or threading.Event())

    def _hear(self, item) -> None:
        self.told.append(item)
        self.when_told(item)

    @property
    def warnings(self) -> list[str]:
        return [item.text for item in self.told if isinstance(item, Event) and item.kind == "warning"]

    def events(self, *kinds: str) -> list[str]:
        """The texts of the events of these kinds."""
        return [event.text for event in read_events(self.paths) if event.kind in kinds]

    @property
    def trajectories(self) -> list[Trajectory]:
        return list(RolloutReader(self.paths.rollouts("train")))

    def metrics(self) -> dict[str, list[tuple[int, int, float]]]:
        """Everything logged but the speeds, as (step, update, value)."""
        return {
            key: list(zip(series.step.tolist(), series.update.tolist(), series.value.tolist(), strict=True))
            for key, series in read_metrics(self.paths).items()
            if not key.startswith("system/")
        }


def play_instead(monkeypatch: pytest.MonkeyPatch, make: Callable[[int], gymnasium.Env]) -> None:
    """Let runs play what `make` makes of a number of steps, instead of the configured environment."""
    for module in (collector, cycles, evaluate):
        monkeypatch.setattr(module, "make_env", lambda config: partial(make, config.max_steps))


def assert_same_weights(one: Path, other: Path) -> None:
    mine, theirs = load(one), load(other)
    for some, others in ((mine.weights, theirs.weights), (mine.optimizer, theirs.optimizer)):
        assert some.keys() == others.keys()
        for name, tensor in some.items():
            assert torch.equal(tensor, others[name]), name
