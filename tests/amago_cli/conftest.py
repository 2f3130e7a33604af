"""Runs the command in this process, with stand-ins for the parts that train and play."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from agent.config import Config, override
from agent.envs.base import EnvSpec, Game
from agent.progress import EvalProgress, Event, Progress, Tally
from store.runs import create_run
from store.trajectory import Trajectory, TrajectoryInfo


@dataclass
class Result:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


@pytest.fixture
def amago(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Callable[..., Result]:
    """Call `amago` with arguments, in an empty working directory."""
    from amago_cli.app import main

    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> Result:
        monkeypatch.setattr(sys, "argv", ["amago", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        code = ended.value.code
        assert isinstance(code, int)
        return Result(code, captured.out, captured.err)

    return call


PROGRESS = Progress(
    phase="learning",
    step=41_216,
    update=322,
    rollouts=37,
    steps_per_second=812.3,
    updates_per_second=6.34,
    elapsed=62.0,
    remaining=121.0,
    fraction=0.34,
    success=Tally(3, 40),
    wanted=Tally(3, 20),
    subgoals=(("collect sapling", Tally(12, 20)), ("place plant", Tally(0, 0))),
    losses={"critic": float("nan")},
)


@pytest.fixture
def progress() -> Progress:
    """A report in the middle of a run; one of its goals had no trial yet, one of its losses is not finite."""
    return PROGRESS


@dataclass
class Outcome:
    """As `agent.train.Outcome`."""

    reason: str
    step: int
    update: int
    elapsed: float
    checkpoint: Path


@dataclass
class FakeTraining:
    """Stands for `agent.train`: remembers its calls, reports once, ends as told."""

    during: Callable[[], None] = lambda: None
    error: Exception | None = None
    calls: list[dict[str, Any]] = field(default_factory=list)

    def train(self, config: Any, paths: Any, *, resume: bool, notify: Any, stop: Any) -> Outcome:
        self.calls.append({"config": config, "paths": paths, "resume": resume})
        if self.error:
            raise self.error
        notify(PROGRESS)
        notify(Event("warning", "a worker was replaced"))
        self.during()
        reason = "steps" if config.run.steps and not stop.is_set() else "stopped"
        return Outcome(reason, 1000, 7, 90.0, paths.checkpoint(1000))


@pytest.fixture
def training(monkeypatch: pytest.MonkeyPatch) -> FakeTraining:
    """`agent.train` replaced."""
    fake = FakeTraining()
    module = types.ModuleType("agent.train")
    module.train = fake.train  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "agent.train", module)
    return fake


@dataclass
class FakeEvaluation:
    """Stands for `agent.evaluate`: the agent completes every instruction, the random policy none."""

    calls: list[dict[str, Any]] = field(default_factory=list)
    during: Callable[[], None] = lambda: None
    finished_at_stop: int = 1  # episodes of each instruction
    completes: Callable[[Path | None], bool] = lambda checkpoint: checkpoint is not None
    attempt_returns: Callable[[bool], tuple[float, ...]] = lambda completed: (0.0, float(completed))

    def evaluate(
        self,
        checkpoint: Path | None,
        config: Any,
        instructions: list[tuple[int, ...]] | None,
        *,
        notify: Any,
        stop: Any,
        **how: Any,
    ) -> list[Trajectory]:
        self.calls.append({"checkpoint": checkpoint, "config": config, "instructions": instructions, **how})
        notify(EvalProgress(1, 2, 30.0))
        self.during()
        episodes = range(self.finished_at_stop if stop.is_set() else how["episodes"])
        played = list(self._played(instructions, how["games"], episodes, self.completes(checkpoint)))
        for each in reversed(played):  # in another order than that of the result
            how["finished"](each)
        return played

    def _played(
        self, instructions: list[tuple[int, ...]] | None, games: tuple[str, ...], episodes: range, completed: bool
    ) -> Iterator[Trajectory]:
        for ids in instructions or ():
            yield from (episode(ids, len(ids) * completed, 2 * n + 1) for n in episodes)
        for game in games or ([""] if instructions is None else ()):
            for n in episodes:
                alone = trial(self.attempt_returns(completed), 2 * n + 1)
                yield replace(alone, info=replace(alone.info, game=game))


@pytest.fixture
def evaluation(monkeypatch: pytest.MonkeyPatch) -> FakeEvaluation:
    """`agent.evaluate` replaced."""
    fake = FakeEvaluation()
    module = types.ModuleType("agent.evaluate")
    module.evaluate = fake.evaluate  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "agent.evaluate", module)
    return fake


def episode(instruction: tuple[int, ...], finished: int, seed: int, steps: int = 6) -> Trajectory:
    """Steps that finish one subgoal each until `finished`."""
    progress = np.minimum(np.arange(steps + 1), finished).astype(np.uint8)
    ended = np.arange(steps) == steps - 1
    done = finished == len(instruction)
    return Trajectory(
        observations={"view": np.zeros((steps + 1, 9, 7), np.uint8)},
        actions=np.zeros(steps, np.int64),
        rewards=np.zeros(steps, np.float32),
        terminated=ended & done,
        truncated=ended & (not done),
        is_first=np.arange(steps + 1) == 0,
        progress=progress,
        instruction=np.array(instruction, np.int16),
        events=np.zeros((0, 2), np.int32),
        info=TrajectoryInfo(
            environment="crafter",
            seed=seed,
            actor=0,
            split="eval",
            cause="completed" if done else "time limit",
            wanted=False,
            policy_update=0,
            step=0,
            epsilon=0.0,
        ),
    )


def trial(returns: tuple[float, ...], seed: int) -> Trajectory:
    """Attempts of three steps each without an instruction, which end with these rewards."""
    steps = 3 * len(returns)
    alone = episode((), 0, seed, steps)
    rewards = np.zeros(steps, np.float32)
    rewards[2::3] = returns
    return replace(alone, rewards=rewards, is_first=np.arange(steps + 1) % 3 == 0)


VIEW = spaces.Dict({"view": spaces.MultiDiscrete([9, 7])})
SPEC = EnvSpec("crafter", VIEW, spaces.Discrete(3), 60, 5, "crafter", None)


@pytest.fixture
def checkpoint(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The one checkpoint of a run "a" that wants "collect sapling, place plant"."""
    return make_checkpoint(monkeypatch, tmp_path, {"task.goals": "collect sapling, place plant"}, SPEC)


@pytest.fixture
def lake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The one checkpoint of a run "a" of an environment without instructions."""
    spec = replace(SPEC, name="frozen-lake", max_instruction=0, vocabulary="", success_return=1.0)
    return make_checkpoint(monkeypatch, tmp_path, {"env.name": "frozen-lake"}, spec)


@pytest.fixture
def pendulum(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The one checkpoint of a run "a" of an environment without instructions that knows no success."""
    spec = replace(SPEC, name="gym:Pendulum-v1", max_instruction=0, vocabulary="")
    return make_checkpoint(monkeypatch, tmp_path, {"env.name": "gym", "env.id": "Pendulum-v1"}, spec)


@pytest.fixture
def several_games(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The one checkpoint of a run "a" of an environment of three games, one of them held out."""
    games = (Game("coins", low=0.0, high=2.0), Game("gold", low=0.0, high=2.0), Game("silver", held_out=True))
    spec = replace(SPEC, name="gym:Games-v0", max_instruction=0, vocabulary="", games=games)
    return make_checkpoint(monkeypatch, tmp_path, {"env.name": "gym", "env.id": "Games-v0"}, spec)


def make_checkpoint(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, changes: dict[str, Any], spec: EnvSpec) -> Path:
    """A run "a" with one checkpoint, which every name means."""
    config = override(Config(), changes).model_dump(mode="json")
    paths = create_run(tmp_path / "runs", "a", config)
    folder = paths.checkpoint(1000)
    folder.mkdir(parents=True)
    meta = {"step": 1000, "config": config, "sha256": {"weights": "ab12"}, "environment": spec.to_json()}
    module = types.ModuleType("agent.checkpoint")
    module.resolve = lambda runs_dir, text: folder  # type: ignore[attr-defined]
    module.read_meta = lambda path: meta  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "agent.checkpoint", module)
    return folder
