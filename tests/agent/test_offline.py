"""Training from stored rollouts alone: it learns what they teach, ends when told to, and goes on where it stopped."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest
import torch
from gymnasium import spaces

from agent import cycles as cycles_module
from agent.catalog import make_env
from agent.checkpoint import load, load_model, newest
from agent.collate import as_batch
from agent.config import Config, override
from agent.envs.base import EnvSpec
from agent.presets import preset
from agent.progress import Event, ignore
from agent.relabel import GoalStatistics
from agent.replay import Replay
from agent.shelf import Shelf
from agent.train import Outcome, train
from store.errors import AmagoError, StorageError
from store.layout import RunPaths, numbered_files
from store.metrics import read_metrics
from store.rollouts import RolloutReader, RolloutWriter
from store.runs import create_run
from store.status import read_status
from store.trajectory import Trajectory, TrajectoryInfo

NUM_SIGNS, LENGTH = 4, 12
SPEC = EnvSpec(
    name="minari:signs-v0",
    observation_space=spaces.Dict({"sign": spaces.MultiDiscrete(np.array([NUM_SIGNS]), np.uint8)}),
    action_space=spaces.Discrete(NUM_SIGNS),
    max_steps=LENGTH,
    max_instruction=0,
    vocabulary="",
    success_return=None,
)


def scripted(seed: int) -> Trajectory:
    """Whoever played did what the sign said, and was paid for it, in two of three steps; else anything."""
    rng = np.random.default_rng(seed)
    signs = rng.integers(NUM_SIGNS, size=(LENGTH + 1, 1))
    said = (signs[:-1, 0] + 1) % NUM_SIGNS
    actions = np.where(rng.random(LENGTH) < 2 / 3, said, rng.integers(NUM_SIGNS, size=LENGTH))
    return Trajectory(
        observations={"sign": signs.astype(np.uint8)},
        actions=actions,
        rewards=(actions == said).astype(np.float32),
        terminated=np.arange(LENGTH) == LENGTH - 1,
        truncated=np.zeros(LENGTH, bool),
        is_first=np.arange(LENGTH + 1) == 0,
        progress=np.zeros(LENGTH + 1, np.uint8),
        instruction=np.zeros(0, np.int16),
        events=np.zeros((0, 2), np.int32),
        info=TrajectoryInfo(
            environment=SPEC.name,
            seed=seed,
            actor=0,
            split="train",
            cause="ended",
            wanted=False,
            policy_update=0,
            step=(seed + 1) * LENGTH,
            epsilon=0.0,
        ),
    )


def config(**changes: object) -> Config:
    base = {
        "env.name": "stored",
        "env.dataset": "signs-v0",
        "replay.offline": True,
        "loss.actor": "ind",
        "loss.discounts": (0.5,),
        "loss.num_steps": 1,
        "model.context": LENGTH,
        "model.num_layers": 1,
        "optimizer.batch_size": 16,
        "optimizer.learning_rate": 3e-3,
        "optimizer.warmup_updates": 5,
        "collect.publish_every": 10,
        "run.updates": 120,
        "run.keep_checkpoints": 100,
        "run.device": "cpu",
    }
    return override(preset("tiny"), {**base, **{key.replace("__", "."): value for key, value in changes.items()}})


@pytest.fixture
def paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunPaths:
    """A run that holds 60 rollouts. To play anything fails."""
    paths = create_run(tmp_path, "offline", config().model_dump(mode="json"))
    writer = RolloutWriter(paths, "train", spec=SPEC.to_json())
    for seed in range(60):
        writer.append(scripted(seed))
    writer.close()
    return paths


def go(paths: RunPaths, config: Config, *, resume: bool = False, notify=ignore) -> Outcome:
    return train(config, paths, resume=resume, notify=notify, stop=threading.Event())


def accuracy(paths: RunPaths, step: int) -> float:
    """How often the most likely action of a checkpoint is what the sign says, in rollouts it has not seen."""
    model, _ = load_model(paths.checkpoint(step), SPEC)
    shelf = Shelf(10_000, 10**9)
    for seed in range(1000, 1010):
        shelf.add(scripted(seed))
    replay = Replay(shelf, LENGTH, 0, 0)
    batch = as_batch(replay.sample(20, np.random.default_rng(0), "none", GoalStatistics(0)))
    with torch.no_grad():
        states = model.representation(batch.inputs).states
        choices = model.policy(model.actor, states[:, :-1], None).choices(2)
    chosen = choices.weights[..., -1, :].argmax(-1)
    said = (batch.inputs.observations["sign"][:, :-1, 0].long() + 1) % NUM_SIGNS
    return float((chosen == said).float().mean())


def test_it_learns_what_the_rollouts_teach(paths: RunPaths) -> None:
    outcome = go(paths, config())
    assert (outcome.reason, outcome.update, outcome.step) == ("updates", 120, 120)
    assert accuracy(paths, 0) < 0.6 and accuracy(paths, 120) > 0.95
    curve = read_metrics(paths)["train/critic_loss"]
    assert curve.step.tolist() == list(range(10, 130, 10))  # the step counter counts updates
    status = read_status(paths)
    assert status and (status.state, status.update) == ("finished", 120)


def test_nothing_is_played_and_nothing_is_added(paths: RunPaths, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: object) -> None:
        raise AssertionError("something was to be played")

    for name in ("make_env", "InlineExperience", "ProcessExperience"):
        monkeypatch.setattr(cycles_module, name, forbidden)
    before = [path.read_bytes() for _, path in numbered_files(paths.rollouts("train"))]
    go(paths, config(run__updates=10))
    assert [path.read_bytes() for _, path in numbered_files(paths.rollouts("train"))] == before


def test_a_run_in_two_parts_ends_like_one_in_one(paths: RunPaths, tmp_path: Path) -> None:
    whole = create_run(tmp_path / "whole", "offline", {})
    whole.rollouts("train").parent.mkdir()
    paths.rollouts("train").rename(whole.rollouts("train"))
    go(whole, config(run__updates=40, run__deterministic=True))
    whole.rollouts("train").rename(paths.rollouts("train"))
    go(paths, config(run__updates=20, run__deterministic=True))
    go(paths, config(run__updates=40, run__deterministic=True), resume=True)
    ends = [load(newest(each)[0] or Path()) for each in (whole, paths)]
    assert ends[0].meta["update"] == ends[1].meta["update"] == 40
    for name, tensor in ends[0].weights.items():
        assert torch.equal(tensor, ends[1].weights[name]), name
    assert read_metrics(paths)["train/critic_loss"].step.tolist() == [10, 20, 30, 40]


def test_a_budget_that_is_used_up_is_said(paths: RunPaths) -> None:
    go(paths, config(run__updates=10))
    with pytest.raises(AmagoError, match=r"used up its updates.*--updates 20"):
        go(paths, config(run__updates=10), resume=True)


def test_without_rollouts_there_is_nothing_to_learn_from(tmp_path: Path) -> None:
    paths = create_run(tmp_path, "empty", {})
    with pytest.raises(StorageError, match="no stored rollouts to learn from"):
        go(paths, config())


def test_a_damaged_shard_is_left_out_and_said(paths: RunPaths) -> None:
    writer = RolloutWriter(paths, "train", spec=SPEC.to_json())
    writer.append(scripted(61))
    writer.close()
    _, last = numbered_files(paths.rollouts("train"))[-1]
    last.write_bytes(last.read_bytes()[:200])
    told: list[str] = []
    go(paths, config(run__updates=10), notify=lambda report: isinstance(report, Event) and told.append(report.text))
    assert any("its rollouts are left out" in text for text in told)


def test_rollouts_beyond_the_replay_are_not_left_out_in_silence(paths: RunPaths) -> None:
    told: list[str] = []
    settings = config(run__updates=10, replay__max_steps=10 * LENGTH)
    go(paths, settings, notify=lambda report: isinstance(report, Event) and told.append(report.text))
    assert any("only the newest 120 of 720 stored steps" in text for text in told)


def test_rollouts_that_cannot_be_are_refused(paths: RunPaths) -> None:
    impossible = scripted(61)
    impossible.actions[3] = NUM_SIGNS  # would be an index beyond a table
    writer = RolloutWriter(paths, "train", spec=SPEC.to_json())
    writer.append(impossible)
    writer.close()
    with pytest.raises(StorageError, match="rollout 61 is impossible"):
        go(paths, config(run__updates=10))


def test_what_cannot_be_played_says_so() -> None:
    with pytest.raises(AmagoError, match=r"signs-v0 cannot be played here.*only stored rollouts"):
        make_env(config().env)


def test_stored_rollouts_are_counted_for_relabelling_but_not_as_played(paths: RunPaths) -> None:
    assert len(RolloutReader(paths.rollouts("train")).index()) == 60
    go(paths, config(run__updates=10))
    state = load(newest(paths)[0] or Path()).state["archive"]
    assert state["statistics"]["num_trajectories"] == 60 and state["last_number"] == 60
    assert state["recent"]["count"] == 0
