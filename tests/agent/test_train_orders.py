"""What happens to a run from outside while it trains, and what it remembers of itself."""

from pathlib import Path

import pytest
from walk_env import WalkEnv
from walk_run import Run, assert_same_weights, play_instead, walk_config

from agent import interim
from agent.envs.vector import WorkerError
from agent.goals.vocabularies import vocabulary
from agent.progress import EvalProgress, Event, Progress
from store.control import give_order
from store.events import read_events
from store.metrics import read_metrics
from store.rollouts import RolloutReader
from store.status import read_status


@pytest.fixture(autouse=True)
def _walk(monkeypatch):
    play_instead(monkeypatch, WalkEnv)


def ordered(runs_dir: Path, name: str, *orders: str) -> Run:
    """A run that gets these orders as soon as it has written its first checkpoint."""
    run = Run(runs_dir, name)
    waiting = list(orders)

    def give(item) -> None:
        while waiting and isinstance(item, Event) and item.kind == "checkpoint":
            give_order(run.paths, waiting.pop(0))

    run.when_told = give
    return run


def test_orders_do_not_change_the_result_of_a_deterministic_run(tmp_path):
    config = walk_config(run__evaluate_episodes=3)
    whole = Run(tmp_path, "whole")
    held_up = ordered(tmp_path, "held_up", "resume", "pause", "checkpoint", "evaluate", "pause", "resume", "evaluate")
    outcomes = [whole.go(config), held_up.go(config)]
    assert_same_weights(outcomes[0].checkpoint, outcomes[1].checkpoint)
    metrics = held_up.metrics()
    evaluated = {key: metrics.pop(key) for key in ("eval/return", "eval/success")}
    assert metrics == whole.metrics()
    assert [len(rows) for rows in evaluated.values()] == [2, 2]

    kinds = [event.kind for event in read_events(held_up.paths)]
    happened = [kind for kind in kinds if kind != "achievement"]
    evaluation = ["checkpoint", "evaluation"]
    assert happened == [
        "start", "checkpoint", "paused", "checkpoint", *evaluation, "resumed", *evaluation, "checkpoint", "end",
    ]  # fmt: skip
    told = [item for item in held_up.told if isinstance(item, Progress | EvalProgress)]
    phases = list(dict.fromkeys(item.phase for item in told if isinstance(item, Progress)))
    assert {"paused", "evaluating", "learning"} <= set(phases)
    held = {item.elapsed for item in told if isinstance(item, Progress) and item.phase == "paused"}
    assert len(held) == 1  # three times told, after a checkpoint and an evaluation: no training time has passed


def test_evaluation_episodes_are_held_out_and_stored(tmp_path):
    run = ordered(tmp_path, "r", "evaluate")
    run.go(walk_config(run__evaluate_episodes=3))
    episodes = list(RolloutReader(run.paths.rollouts("eval")))
    assert len(episodes) == 3
    assert all(t.info.split == "eval" and t.info.seed % 2 == 1 for t in episodes)
    series = read_metrics(run.paths)
    (successes,) = series["eval/success"].value * 3
    assert successes == sum(t.completed for t in episodes)
    assert series["eval/return"].value == pytest.approx([sum(t.ret for t in episodes) / 3])
    (event,) = [event for event in read_events(run.paths) if event.kind == "evaluation"]
    assert event.text.startswith(f"{successes:.0f} of 3 held-out episodes succeeded, mean return ")
    assert {(t.info.step, t.info.policy_update) for t in episodes} == {(event.step, event.update)}
    assert (series["eval/success"].step[0], series["eval/success"].update[0]) == (event.step, event.update)


def test_evaluations_come_at_their_pace(tmp_path):
    run = Run(tmp_path)
    run.go(walk_config(450, task__goals="", run__evaluate_every=0.0001, run__evaluate_episodes=2))
    assert run.events("evaluation")
    assert all(not t.info.wanted for t in RolloutReader(run.paths.rollouts("eval")))


def test_an_evaluation_that_cannot_be_played_is_a_warning(tmp_path, monkeypatch):
    def lost(*_):
        raise WorkerError("world 7 was lost")

    monkeypatch.setattr(interim, "play", lost)
    run = ordered(tmp_path, "r", "evaluate")
    assert run.go(walk_config()).reason == "steps"
    assert run.events("warning") == ["evaluation given up: world 7 was lost"]


@pytest.mark.parametrize("orders", [("stop",), ("pause", "stop"), ("evaluate", "stop")])
def test_an_order_to_stop_is_a_clean_stop(tmp_path, orders):
    run = ordered(tmp_path, "r", *orders)
    outcome = run.go(walk_config(10**6))
    assert outcome.reason == "stopped" and outcome.checkpoint.is_dir()
    status = read_status(run.paths)
    assert status is not None and (status.state, status.step) == ("stopped", outcome.step)
    assert run.events("end") == ["stopped on request"]
    assert not run.events("evaluation", "resumed")


def test_a_goal_is_reached_for_the_first_time_once(tmp_path):
    run = Run(tmp_path)
    for steps in (100, 400):
        run.go(walk_config(steps), resume=steps > 100)
    reached = {int(goal) for trajectory in run.trajectories for goal in trajectory.events[:, 1]}
    names = vocabulary("crafter").names
    assert sorted(run.events("achievement")) == sorted(f"{names[goal]} for the first time" for goal in reached)
    assert len(reached) == 7
    assert [event.kind for event in read_events(run.paths) if event.kind in ("start", "resume", "end")] == [
        "start", "end", "resume", "end",
    ]  # fmt: skip


def test_the_status_tells_what_a_viewer_shows(tmp_path):
    run = Run(tmp_path)
    outcome = run.go(walk_config())
    status = read_status(run.paths)
    assert status is not None
    assert (status.device, status.fraction, status.elapsed) == ("cpu", 1.0, pytest.approx(outcome.elapsed, abs=1.0))
    assert status.memory_bytes > 10**7 and status.rollouts == len(run.trajectories)
    memory = read_metrics(run.paths)["system/memory_bytes"].value
    assert memory[-1] == status.memory_bytes
