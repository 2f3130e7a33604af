"""Success counted over windows of rollouts, and the metrics of a cycle."""

import json
from dataclasses import replace

import numpy as np
import pytest
from gymnasium import spaces

from agent.envs.base import EnvSpec
from agent.goals.vocabularies import SUCCESS
from agent.goals.vocabulary import GOALS, achievement_goal, goal_id
from agent.progress import Tally
from agent.tallies import (
    WINDOW,
    RecentRollouts,
    achievement_rates,
    counted_attempts,
    crafter_score,
    has_success,
    rollout_metrics,
    succeeded,
)
from store.trajectory import Trajectory, TrajectoryInfo

WANTED = (goal_id("collect wood"), goal_id("place table"))
CRAFTER = EnvSpec("crafter", spaces.Dict({"place": spaces.Discrete(3)}), spaces.Discrete(2), 10, 5, "crafter", None)
NO_GOALS = replace(CRAFTER, name="lake", max_instruction=0, vocabulary="", success_return=1.0)
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


def trial(*attempts: list[float], cause: str = "time limit") -> Trajectory:
    """A rollout of attempts without an instruction, given by their rewards."""
    rewards = np.concatenate([np.array(rewards, np.float32) for rewards in attempts])
    starts = np.cumsum([0, *(len(rewards) for rewards in attempts)])[:-1]
    alone = rollout(instruction=(), length=len(rewards), cause=cause)
    return replace(alone, rewards=rewards, is_first=np.isin(np.arange(len(rewards) + 1), starts))


def test_success_may_be_a_goal_that_nobody_asks_for():
    """Reached by step 1 of the first attempt of two: the first succeeded, the last did not."""
    spec = replace(NO_GOALS, vocabulary=SUCCESS, success_return=None)
    played = replace(trial([0.0, 0.0], [0.0]), events=np.array([[1, 0]], np.int32))
    assert has_success(spec)
    assert [succeeded(spec, attempt, 0) for attempt in played.attempts] == [True, False]
    recent = RecentRollouts((), spec)
    recent.add(played)
    recent.add(replace(played, events=np.array([[2, 0]], np.int32)))
    assert recent.success == Tally(1, 2)


def test_attempts_that_explore_are_not_judged():
    spec = replace(NO_GOALS, free_attempts=1)
    played = trial([0.0, 0.0], [0.5], [1.0])
    assert [attempt.ret for attempt in counted_attempts(spec, played)] == [0.5, 1.0]
    assert [attempt.ret for attempt in counted_attempts(spec, trial([0.25]))] == [0.25]
    recent = RecentRollouts((), spec)
    recent.add(played)
    assert recent.attempts == (0.5, 1.0)
    found = rollout_metrics([trial([0.0], [1.0])], spec)
    assert found["rollout/success"] == 1 and "rollout/first_attempt_return" not in found


def test_by_hand():
    recent = RecentRollouts(WANTED, CRAFTER)
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
    recent = RecentRollouts((), CRAFTER)
    recent.add(rollout(finished=2))
    assert recent.wanted is None and recent.subgoals == () and recent.success == Tally(1, 1)


def test_the_window_forgets_and_the_score_needs_all_of_it():
    recent = RecentRollouts(WANTED, CRAFTER)
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
    old, new = RecentRollouts(WANTED, CRAFTER), RecentRollouts(WANTED, CRAFTER)
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
    metrics = rollout_metrics(rollouts, CRAFTER)
    assert metrics["rollout/return"] == pytest.approx(2 / 3)
    assert metrics["rollout/length"] == 4.0
    assert metrics["rollout/epsilon"] == 0.25
    assert metrics["rollout/death_ratio"] == pytest.approx(1 / 3)
    assert metrics["rollout/success"] == 0.5
    assert metrics["rollout/subgoals_ratio"] == 0.75
    assert metrics["rollout/wanted_success"] == 0.0
    unlocked = {key: value for key, value in metrics.items() if "unlocked" in key}
    assert len(unlocked) == 22 and sorted(unlocked.values())[-2:] == [0.0, pytest.approx(2 / 3)]


def test_no_rollout_no_metrics():
    assert rollout_metrics([], CRAFTER) == {}
    alone = rollout_metrics([rollout(instruction=())], CRAFTER)
    assert "rollout/success" not in alone and "rollout/wanted_success" not in alone
    assert "rollout/attempts" not in alone


def test_without_instructions_the_last_attempt_tells_success():
    recent = RecentRollouts((), NO_GOALS)
    assert recent.mean_return is None and recent.attempts is None and recent.success == Tally(0, 0)
    recent.add(trial([0, 0.5], [0, 0, 0.1 * 3 + 0.7]))  # 1, give or take the rounding of sums
    recent.add(trial([0, 1], [0]))
    recent.add(trial([1], [0, 1], [0], cause="horizon"))  # the third attempt was cut short
    recent.add(trial([0], cause="horizon"))  # the only one counts all the same
    assert recent.success == Tally(2, 4)
    assert recent.mean_return == pytest.approx((1.5 + 1 + 2 + 0) / 4)
    assert recent.attempts == pytest.approx(((0.5 + 1 + 1) / 3, (1 + 0 + 1) / 3))


def test_the_score_without_instructions_is_the_mean_return():
    recent = RecentRollouts((), replace(NO_GOALS, success_return=None))
    for k in range(WINDOW):
        assert recent.score is None
        recent.add(trial([-3.0 if k % 2 else -1.0]))
    assert recent.score == pytest.approx(-2.0)
    assert recent.success is None and recent.attempts is None


def test_snapshots_hold_the_attempts():
    old, new = RecentRollouts((), NO_GOALS), RecentRollouts((), NO_GOALS)
    for k in range(WINDOW + 3):
        old.add(trial([k], [0.5, k]))
    new.restore(json.loads(json.dumps(old.snapshot())))
    for recent in (old, new):
        recent.add(trial([0], [1]))
    assert (new.success, new.mean_return, new.attempts, new.score) == (
        old.success,
        old.mean_return,
        old.attempts,
        old.score,
    )


def test_several_attempts_at_an_instruction():
    wood, table = WANTED
    twice = rollout(length=6)  # the first attempt finishes both with its last step, the second one of them
    twice = replace(
        twice,
        is_first=np.isin(np.arange(7), (0, 3)),
        progress=np.array([0, 1, 1, 0, 0, 1, 1], np.uint8),
        events=np.array([(0, wood), (2, table), (4, wood)], np.int32),
        rewards=np.array([1, 0, 1, 0, 1, 0], np.float32),
    )
    assert [attempt.progress for attempt in twice.attempts] == [2, 1]
    recent = RecentRollouts(WANTED, CRAFTER)
    recent.add(twice)
    assert (recent.success, recent.attempts) == (Tally(0, 1), (2.0, 1.0))
    metrics = rollout_metrics([twice], CRAFTER)
    assert (metrics["rollout/success"], metrics["rollout/subgoals_ratio"], metrics["rollout/attempts"]) == (0, 0.5, 2)


def test_metrics_of_attempts_by_hand():
    metrics = rollout_metrics([trial([0, 1], [1], [0]), trial([0], [2])], NO_GOALS)
    assert metrics == {
        "rollout/return": 2.0,
        "rollout/length": 3.0,
        "rollout/epsilon": 0.25,
        "rollout/success": 0.5,
        "rollout/attempts": 2.5,
        "rollout/first_attempt_return": 0.5,
        "rollout/last_attempt_return": 1.0,
    }
    assert "rollout/success" not in rollout_metrics([trial([0])], replace(NO_GOALS, success_return=None))


def test_crafters_score_is_a_geometric_mean_of_percentages():
    """Half the achievements always, the others never: exp(11/22 log 101) - 1."""
    assert crafter_score(np.repeat([1.0, 0.0], 11)) == pytest.approx(101**0.5 - 1)
    assert crafter_score(np.zeros(22)) == 0 and crafter_score(np.ones(22)) == pytest.approx(100)


def test_achievement_rates_count_rollouts_not_events():
    wood = achievement_goal(0)
    twice = rollout(instruction=(wood, wood), finished=2)
    rates = achievement_rates([twice, rollout(finished=0)])
    assert rates.shape == (22,) and rates[0] == 0.5 and rates[1:].sum() == 0
