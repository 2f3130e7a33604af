"""Whole runs on a small world, in this process: repeatable, resumable, and stopped in every way."""

import json
import multiprocessing
import shutil
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from walk_env import SlideEnv, WalkEnv
from walk_run import RATIO, WARMUP, Run, assert_same_weights, play_instead, walk_config

from agent import cycles as cycles_module
from agent.checkpoint import load, newest
from agent.envs.trial import make_trial
from agent.learner import Learner
from agent.progress import Event, Progress, ignore
from agent.train import train
from store.errors import AmagoError, CheckpointError, DivergedError
from store.layout import RunPaths
from store.rollouts import RolloutReader
from store.status import read_status
from store.windows import WindowReader


@pytest.fixture(autouse=True)
def play(monkeypatch):
    """Plays the given environment instead of the configured one: a walk, unless it is called."""

    def play(make: Callable[[int], gymnasium.Env]) -> None:
        play_instead(monkeypatch, make)

    play(WalkEnv)
    return play


@pytest.fixture
def run(tmp_path) -> Run:
    return Run(tmp_path)


def test_a_run_ends_at_its_steps_with_everything_stored(run):
    outcome = run.go(walk_config())
    assert outcome.reason == "steps" and outcome.step >= 250 and outcome.update > 0
    assert outcome.checkpoint == newest(run.paths)[0]
    saved = load(outcome.checkpoint)
    assert (saved.meta["step"], saved.meta["update"]) == (outcome.step, outcome.update)
    under_way = sum(len(rollout["actions"]) for rollout in saved.state["experience"]["collector"]["rollouts"])
    assert sum(t.length for t in run.trajectories) + under_way == outcome.step
    assert [t.info.number for t in run.trajectories] == list(range(1, len(run.trajectories) + 1))
    status = read_status(run.paths)
    assert status is not None
    assert (status.state, status.step, status.update) == ("finished", outcome.step, outcome.update)
    told = [item for item in run.told if isinstance(item, Progress)]
    assert told[-1].step == outcome.step and told[-1].rollouts == len(run.trajectories)
    assert told[-1].phase == "learning"
    assert run.warnings == []


def test_updates_keep_pace_with_steps(run):
    outcome = run.go(walk_config(steps=400))
    due = (outcome.step - WARMUP) / RATIO
    assert due - 11 <= outcome.update <= due  # twice five updates of lead


def test_one_seed_one_result(tmp_path):
    one, other, third = (Run(tmp_path, name) for name in "abc")
    outcomes = [r.go(walk_config(run__seed=seed)) for r, seed in ((one, 5), (other, 5), (third, 6))]
    assert_same_weights(outcomes[0].checkpoint, outcomes[1].checkpoint)
    metrics = one.metrics()
    assert metrics == other.metrics()
    assert {"train/critic_loss", "train/actor_loss", "rollout/return", "rollout/success"} <= metrics.keys()
    assert metrics != third.metrics()


def assert_stopping_is_not_seen(tmp_path: Path, **changes) -> None:
    """A run that stops twice equals one that does not, bit by bit.

    Weights, moments, metrics, counters, goal statistics and the rollouts themselves.
    """
    whole, parts = Run(tmp_path, "whole"), Run(tmp_path, "parts")
    whole_outcome = whole.go(walk_config(450, **changes))
    step = 0
    for steps in (130, None, 450):
        outcome = parts.go(walk_config(steps or step + 1, **changes), resume=step > 0)
        assert outcome.step > step
        step = outcome.step
    assert parts.warnings == []
    assert (outcome.step, outcome.update) == (whole_outcome.step, whole_outcome.update)
    assert_same_weights(whole_outcome.checkpoint, outcome.checkpoint)
    assert parts.metrics() == whole.metrics()
    states = [load(path).state for path in (whole_outcome.checkpoint, outcome.checkpoint)]
    assert states[0] == states[1]
    for mine, theirs in zip(parts.trajectories, whole.trajectories, strict=True):
        assert mine.info == theirs.info
        np.testing.assert_array_equal(mine.actions, theirs.actions)


@pytest.mark.parametrize("crossing", [("ind", "ind"), ("dep", "dep")])
def test_stopping_and_going_on_is_not_stopping(tmp_path, crossing):
    actor, critic = crossing
    assert_stopping_is_not_seen(tmp_path, loss__actor=actor, loss__critic=critic)


def test_rollouts_replayed_from_disk_teach_the_same(tmp_path, monkeypatch):
    """A run that stops finds its rollouts sealed, and replays them from disk; one that does not has them in memory."""
    from_disk = []
    read = WindowReader.observations

    def counted(self, number, start, stop):
        from_disk.append(number)
        return read(self, number, start, stop)

    monkeypatch.setattr(WindowReader, "observations", counted)
    assert_stopping_is_not_seen(tmp_path, replay__max_bytes=15_000, replay__by="step")
    assert len(set(from_disk)) > 5


SLIDES: dict[str, dict] = {
    "gaussian": {"model__memory": "gru"},
    "mixture": {"model__continuous": "mixture", "loss__critic": "ind", "loss__value_labels": "hl_gauss"},
    "beta": {"model__continuous": "beta", "optimizer__micro_batches": 2},
    "bits": {"model__memory": "none", "loss__advantage_filter": "exp"},
}


def slide(max_steps: int, *, bits: bool) -> gymnasium.Env:
    """Two attempts at the same world."""
    return make_trial(partial(SlideEnv, max_steps // 2, bits=bits), 2, None)


@pytest.mark.parametrize("kind", SLIDES)
def test_stopping_and_going_on_with_other_actions(tmp_path, play, kind):
    """Of several attempts in one rollout, with numbers that one bit of difference would change."""
    play(partial(slide, bits=kind == "bits"))
    assert_stopping_is_not_seen(
        tmp_path, **{"task__goals": "", "loss__actor": "dep", "loss__critic": "dep", **SLIDES[kind]}
    )
    stored = list(RolloutReader(RunPaths(tmp_path / "whole").rollouts("train")))
    assert stored and all(len(trajectory.attempts) == 2 for trajectory in stored)


def test_exploration_goes_on_where_it_was(run):
    anneal = {"exploration__anneal_steps": 300}
    run.go(walk_config(200, **anneal))
    run.go(walk_config(450, **anneal), resume=True)
    epsilons = [t.info.epsilon for t in run.trajectories if t.info.step > 300 + 3 * 24]
    assert max(epsilons) <= 0.05  # annealed over 300 steps of the whole run


def test_a_run_goes_on_when_nothing_has_ended_within_its_lead(run, play):
    """Rollouts longer than warm-up and lead together: there is nothing to learn from before the first one ends."""
    config = walk_config(500, env__max_steps=150, task__goals="", replay__warmup_steps=5, replay__steps_per_update=4.0)
    play(ImmortalWalk)
    outcome = run.go(config)
    assert outcome.step >= 500 and outcome.update > 0


class ImmortalWalk(WalkEnv):
    """Ends by its time limit only."""

    def _cause(self, fell: bool) -> str:
        return "time limit" if self.steps >= self.max_steps else ""


def test_a_stop_writes_a_checkpoint(run):
    stop = threading.Event()

    def listener(item) -> None:
        run.told.append(item)
        if isinstance(item, Progress) and item.update > 3:
            stop.set()

    outcome = train(walk_config(10**6, run__log_every=0.01), run.paths, resume=False, notify=listener, stop=stop)
    assert outcome.reason == "stopped" and outcome.update > 3
    assert load(outcome.checkpoint).meta["update"] == outcome.update
    status = read_status(run.paths)
    assert status is not None and status.state == "stopped"
    assert multiprocessing.active_children() == []


def test_minutes_are_a_budget_too(run):
    outcome = run.go(walk_config(10**6, run__minutes=0.005))
    assert outcome.reason == "minutes" and outcome.elapsed >= 0.3
    again = run.go(walk_config(10**6, run__minutes=(outcome.elapsed + 0.3) / 60), resume=True)
    assert again.reason == "minutes" and again.elapsed >= outcome.elapsed


def test_a_diverging_run_says_so_and_leaves_its_checkpoint(run, monkeypatch):
    outcome = run.go(walk_config(150))
    update = Learner.update

    def poisoned(self, batch, rng):
        batch.rewards[0, 0] = float("nan")
        return update(self, batch, rng)

    monkeypatch.setattr(Learner, "update", poisoned)
    with pytest.raises(DivergedError, match="first bad tensor: rewards"):
        run.go(walk_config(10**6), resume=True)
    status = read_status(run.paths)
    assert status is not None and status.state == "diverged" and "not finite" in status.message
    path, problems = newest(run.paths)
    assert path is not None and problems == []
    assert all(tensor.isfinite().all() for tensor in load(path).weights.values())
    assert load(path).meta["update"] == outcome.update


def test_a_crash_is_told_in_the_status(run, monkeypatch):
    def broken(self, batch, rng):
        raise RuntimeError("out of memory")

    monkeypatch.setattr(Learner, "update", broken)
    with pytest.raises(RuntimeError, match="out of memory"):
        run.go(walk_config())
    status = read_status(run.paths)
    assert status is not None and (status.state, status.message) == ("crashed", "out of memory")


class TestResume:
    def test_from_an_earlier_checkpoint_when_the_newest_is_damaged(self, run):
        step = run.go(walk_config(60)).step
        last = run.go(walk_config(step + 1), resume=True).checkpoint
        count = len(run.trajectories)
        (last / "weights.safetensors").write_bytes(b"nonsense")
        outcome = run.go(walk_config(450), resume=True)
        assert len(run.warnings) == 1 and "damaged" in run.warnings[0] and "using an earlier one" in run.warnings[0]
        assert outcome.step >= 450 and newest(run.paths)[0] == outcome.checkpoint
        numbers = [t.info.number for t in run.trajectories]
        assert len(numbers) > count and numbers == sorted(set(numbers))

    def test_without_a_checkpoint_it_begins_anew(self, run):
        outcome = run.go(walk_config(200), resume=True)
        assert outcome.step >= 200
        assert any("has no checkpoint yet" in text for text in run.warnings)

    def test_rollouts_of_a_beginning_without_a_checkpoint_keep_their_numbers(self, run):
        """As after a kill before the first checkpoint: a number must say which rollout is meant."""
        run.go(walk_config(60))
        left = len(run.trajectories)
        shutil.rmtree(run.paths.checkpoints)
        run.go(walk_config(60), resume=True)
        assert [t.info.number for t in run.trajectories] == list(range(1, 2 * left + 1))

    def test_with_the_rollouts_deleted_there_is_no_burst_of_updates(self, run, monkeypatch):
        before = run.go(walk_config(300))
        shutil.rmtree(run.paths.rollouts("train"))
        made: list[tuple[int, int]] = []  # (step, update)
        learn = cycles_module.Cycles._learn

        def spied(self) -> None:
            learn(self)
            made.append((self.step, self.update))

        monkeypatch.setattr(cycles_module.Cycles, "_learn", spied)
        run.go(walk_config(550), resume=True)
        assert any("stored rollouts are missing" in text for text in run.warnings)
        first_step, first_update = made[0]
        assert first_step >= before.step + WARMUP - RATIO  # the warm-up again
        assert first_update == before.update + 1
        for step, count in made:
            assert (count - before.update - 1) * RATIO <= step - first_step + 10 * RATIO

    def test_a_young_replay_is_not_taken_for_a_damaged_one(self, run, play):
        """Soon after warm-up the rollouts that have ended hold less than the warm-up's steps."""
        config = walk_config(230, replay__steps_per_update=10.0, env__max_steps=60, replay__warmup_steps=200)
        play(ImmortalWalk)
        outcome = run.go(config)
        assert outcome.update > 0
        assert sum(t.length for t in run.trajectories) < outcome.step
        more = {"replay__steps_per_update": 10.0, "env__max_steps": 60, "replay__warmup_steps": 200}
        run.go(walk_config(400, **more), resume=True)
        assert run.warnings == []

    def test_rollouts_sealed_after_the_checkpoint_count_once(self, run):
        """As after a kill: the newest checkpoint is gone, its rollouts are there."""
        first = run.go(walk_config(60))
        earlier = load(first.checkpoint)
        second = run.go(walk_config(first.step + 1), resume=True)
        stored = run.trajectories
        shutil.rmtree(second.checkpoint)
        run.told.clear()
        seen: dict = {}

        def listener(item) -> None:
            if isinstance(item, Event) and item.kind == "checkpoint" and not seen:
                path, _ = newest(run.paths)
                assert path is not None
                seen.update(load(path).meta, state=load(path).state)

        stop = threading.Event()
        stop.set()
        train(walk_config(400), run.paths, resume=True, notify=listener, stop=stop)
        assert seen["state"]["archive"]["last_number"] == len(stored)
        assert seen["state"]["archive"]["recent"]["count"] == len(stored)
        assert seen["state"]["archive"]["statistics"]["num_trajectories"] == len(stored)
        under_way = seen["state"]["experience"]["collector"]["rollouts"]
        assert seen["step"] == sum(t.length for t in stored) + sum(len(r["actions"]) for r in under_way)
        assert seen["step"] > earlier.meta["step"]
        finished = {(t.info.actor, t.info.seed) for t in stored}
        assert finished.isdisjoint((r["actor"], r["task"]["seed"]) for r in under_way)

    def test_weights_of_another_model_are_refused(self, run):
        run.go(walk_config(60))
        with pytest.raises(CheckpointError, match="do not fit the configured model"):
            run.go(walk_config(400, model__d_head=32), resume=True)
        status = read_status(run.paths)
        assert status is not None and status.state == "crashed"

    def test_a_budget_that_is_used_up_is_refused(self, run):
        outcome = run.go(walk_config(60))
        with pytest.raises(
            AmagoError, match=rf"has used up its steps; .*`--steps {2 * outcome.step}` beside `--resume r`"
        ):
            run.go(walk_config(60), resume=True)
        assert newest(run.paths)[0] == outcome.checkpoint
        status = read_status(run.paths)
        assert status is not None and status.state == "finished"

    def test_without_a_sound_checkpoint_nothing_is_begun_anew(self, run):
        run.go(walk_config(60))
        for folder in run.paths.checkpoints.glob("[0-9]*"):
            (folder / "meta.json").write_text("garbage")
        stored = len(run.trajectories)
        with pytest.raises(CheckpointError, match="no sound checkpoint to go on from"):
            run.go(walk_config(400), resume=True)
        assert len(run.trajectories) == stored
        status = read_status(run.paths)
        assert status is not None and status.state == "crashed" and "no sound checkpoint" in status.message
        assert "no sound checkpoint" in run.events("end")[-1]

    def test_checkpoints_are_pruned(self, run):
        step = 0
        for _ in range(3):
            step = run.go(walk_config(step + 1, run__keep_checkpoints=2), resume=step > 0).step
        assert len([path for path in run.paths.checkpoints.iterdir() if path.name.isdecimal()]) == 2


def test_the_state_of_a_checkpoint_is_plain_json(run):
    state = load(run.go(walk_config(60)).checkpoint).state
    assert json.loads(json.dumps(state)) == state
    assert {"experience", "archive", "rng"} <= state.keys()


def test_nobody_needs_to_listen(run):
    assert train(walk_config(60), run.paths, resume=False, notify=ignore, stop=threading.Event()).step >= 60
