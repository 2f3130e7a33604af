"""Success counted over windows of rollouts, and the metrics of a cycle."""

import json
from dataclasses import replace

import numpy as np
import pytest

from agent.goals.vocabulary import GOALS, achievement_goal, goal_id
from agent.progress import Tally
from agent.tallies import WINDOW, RecentRollouts, rollout_metrics
from store.trajectory import Trajectory, TrajectoryInfo

WANTED = (goal_id("collect wood"), goal_id("place table"))
INFO = TrajectoryInfo(
    environment="walk", seed=0, actor=0, split="train", cause="time limit", wanted=False, policy_update=0, step=0,
    epsilon=0.25,
)  # fmt: skip


def rollout(
    instruction: tuple[int, ...] = WANTED, finished: int = 0, length: int = 4, cause: str = "time limit", **info
) -> Trajectory:
    """`finished` subgoals, one a step from the first step on."""
    progress = np.minimum(np.arange(length + 1), finished).astype(np.uint8)
    events = np.array([(t, instruction[t]) for t in range(finished)], np.int32).reshape(-1, 2)
    return Trajectory(
        observations={"place": np.zeros((length + 1, 1), np.uint8)},
        actions=np.zeros(length, np.int64),
        rewards=np.diff(progress.astype(np.float32)),
        terminated=np.zeros(length, bool),
        truncated=np.arange(length) == length - 1,
        is_first=np.arange(length + 1) == 0,
        progress=progress,
        instruction=np.array(instruction, np.int16),
        events=events,
        info=replace(INFO, cause=cause, **info),
    )


def test_by_hand():
    recent = RecentRollouts(WANTED)
    for finished, wanted in ((0, True), (1, True), (2, True), (2, False)):
        recent.add(rollout(finished=finished, wanted=wanted))
    recent.add(rollout(instruction=()))
    assert recent.count == 5
    assert recent.success == Tally(2, 4)
    assert recent.wanted == Tally(1, 3)
    names = [GOALS[goal].name for goal in WANTED]
    assert recent.subgoals == ((names[0], Tally(2, 3)), (names[1], Tally(1, 3)))
    assert recent.score is None  # the window is not full


def test_without_a_wanted_instruction():
    recent = RecentRollouts(())
    recent.add(rollout(finished=2))
    assert recent.wanted is None and recent.subgoals == () and recent.success == Tally(1, 1)


def test_the_window_forgets_and_the_score_needs_all_of_it():
    recent = RecentRollouts(WANTED)
    for _ in range(WINDOW - 1):
        recent.add(rollout(finished=0, wanted=True))
    assert recent.score is None
    recent.add(rollout(finished=1, wanted=True))
    assert recent.score == pytest.approx(0.5 / WINDOW)
    for _ in range(WINDOW):
        recent.add(rollout(finished=2, wanted=True))
    assert recent.score == 1.0
    assert recent.success == recent.wanted == Tally(WINDOW, WINDOW)
    assert recent.count == 2 * WINDOW


def test_snapshots_are_json_and_go_on():
    old, new = RecentRollouts(WANTED), RecentRollouts(WANTED)
    for k in range(WINDOW + 3):
        old.add(rollout(finished=k % 3, wanted=k % 2 == 0))
    new.restore(json.loads(json.dumps(old.snapshot())))
    for recent in (old, new):
        recent.add(rollout(finished=2, wanted=True))
    assert (new.count, new.success, new.wanted, new.subgoals) == (old.count, old.success, old.wanted, old.subgoals)
    assert new.score == old.score


def test_metrics_by_hand():
    wood = achievement_goal(0)
    rollouts = [
        rollout(instruction=(wood, goal_id("place table")), finished=1, length=2, wanted=True),
        rollout(instruction=(wood,), finished=1, length=4, cause="completed"),
        rollout(instruction=(), length=6, cause="death by zombie"),
    ]
    metrics = rollout_metrics(rollouts)
    assert metrics["rollout/return"] == pytest.approx(2 / 3)
    assert metrics["rollout/length"] == 4.0
    assert metrics["rollout/epsilon"] == 0.25
    assert metrics["rollout/death_ratio"] == pytest.approx(1 / 3)
    assert metrics["rollout/success"] == 0.5
    assert metrics["rollout/subgoals_ratio"] == 0.75
    assert metrics["rollout/wanted_success"] == 0.0
    unlocked = {key: value for key, value in metrics.items() if "unlocked" in key}
    assert len(unlocked) == 22 and sorted(unlocked.values())[-2:] == [0.0, 1.0]


def test_no_rollout_no_metrics():
    assert rollout_metrics([]) == {}
    alone = rollout_metrics([rollout(instruction=())])
    assert "rollout/success" not in alone and "rollout/wanted_success" not in alone
