"""Windows cut from replay against naive loops, and the distributions of what is drawn."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from agent.config import DrawMode, RelabelMode
from agent.goals.vocabulary import NO_GOAL, NUM_GOALS
from agent.relabel import GoalStatistics
from agent.replay import Replay, SequenceArrays
from agent.shelf import Shelf
from store.trajectory import Trajectory, TrajectoryInfo, validate

MAX_INSTRUCTION = 5


def make_trajectory(number: int, length: int, num_goals: int = 2, action_size: int | None = None) -> Trajectory:
    """Random content; every second step reaches a goal that the instruction (0, 1, ...) does not ask for."""
    rng = np.random.default_rng(number)
    actions = rng.integers(5, size=length) if action_size is None else rng.normal(size=(length, action_size))
    steps = np.arange(0, length, 2)
    trajectory = Trajectory(
        observations={
            "grid": rng.integers(9, size=(length + 1, 3, 2)).astype(np.uint8),
            "light": rng.random((length + 1, 1), np.float32),
        },
        actions=actions.astype(np.uint8 if action_size is None else np.float32),
        rewards=np.zeros(length, np.float32),
        terminated=np.zeros(length, bool),
        truncated=np.arange(length) == length - 1,
        is_first=np.arange(length + 1) == 0,
        progress=np.zeros(length + 1, np.uint8),
        instruction=np.arange(num_goals, dtype=np.int16),
        events=np.stack([steps, rng.integers(10, 20, size=len(steps))], axis=1).astype(np.int32),
        info=TrajectoryInfo(
            environment="random", seed=0, actor=0, split="train", cause="time limit", wanted=False,
            policy_update=0, step=0, epsilon=0, number=number,
        ),
    )  # fmt: skip
    validate(trajectory)
    return trajectory


def make_replay(
    *trajectories: Trajectory,
    context: int = 8,
    reward_share: float = 0.0,
    by: DrawMode = "trajectory",
    goal_share: float = 0.0,
) -> Replay:
    shelf = Shelf(max_steps=10_000, max_bytes=10**9)
    for trajectory in trajectories:
        shelf.add(trajectory)
    return Replay(shelf, context, MAX_INSTRUCTION, NO_GOAL, reward_share, by, goal_share)


def observed(*trajectories: Trajectory) -> GoalStatistics:
    statistics = GoalStatistics(NUM_GOALS)
    for trajectory in trajectories:
        statistics.observe(trajectory)
    return statistics


def sample(replay: Replay, batch_size: int = 4, seed: int = 0, mode: RelabelMode = "none") -> SequenceArrays:
    return replay.sample(batch_size, np.random.default_rng(seed), mode, GoalStatistics(NUM_GOALS))


@settings(deadline=None)
@given(
    lengths=st.lists(st.integers(1, 30), min_size=1, max_size=4),
    context=st.integers(1, 12),
    num_goals=st.integers(0, MAX_INSTRUCTION),
    action_size=st.sampled_from([None, 1, 3]),
    seed=st.integers(0, 1000),
)
def test_windows_against_a_naive_loop(lengths, context, num_goals, action_size, seed):
    trajectories = [make_trajectory(i, length, num_goals, action_size) for i, length in enumerate(lengths)]
    batch = sample(make_replay(*trajectories, context=context), batch_size=3, seed=seed)
    assert batch.actions.dtype == batch.previous_actions.dtype == trajectories[0].actions.dtype
    for b in range(3):
        assert_row_is_window(batch, b, trajectories[batch.trajectories[b]], int(batch.starts[b]), context)


def assert_row_is_window(batch: SequenceArrays, b: int, trajectory: Trajectory, start: int, context: int) -> None:
    no_action = np.zeros_like(trajectory.actions[0])
    assert 0 <= start <= max(trajectory.length - context, 0)
    for i in range(context + 1):
        t = start + i
        is_token, is_transition = t <= trajectory.length, t < trajectory.length and i < context
        assert batch.token_valid[b, i] == is_token
        for key, array in trajectory.observations.items():
            expected = array[t] if is_token else np.zeros_like(array[0])
            np.testing.assert_array_equal(batch.observations[key][b, i], expected)
        assert batch.time[b, i] == (t if is_token else 0)
        assert batch.is_first[b, i] == (is_token and trajectory.is_first[t])
        left = trajectory.instruction.tolist() if is_token else []
        assert batch.goals[b, i].tolist() == left + [NO_GOAL] * (MAX_INSTRUCTION - len(left))
        has_previous = is_token and t > 0
        expected = trajectory.actions[t - 1] if has_previous else no_action
        np.testing.assert_array_equal(batch.previous_actions[b, i], expected)
        assert batch.previous_rewards[b, i] == (trajectory.rewards[t - 1] if has_previous else 0)
        if i < context:
            assert batch.valid[b, i] == is_transition
            expected = trajectory.actions[t] if is_transition else no_action
            np.testing.assert_array_equal(batch.actions[b, i], expected)
            assert batch.rewards[b, i] == (trajectory.rewards[t] if is_transition else 0)
            assert batch.terminated[b, i] == (is_transition and trajectory.terminated[t])
            assert batch.truncated[b, i] == (is_transition and trajectory.truncated[t])


@settings(deadline=None)
@given(reward_at=st.integers(0, 29), context=st.integers(1, 12), length=st.integers(30, 40))
def test_windows_around_a_reward_hold_it_wherever_it_fits(reward_at, context, length):
    trajectory = make_trajectory(0, length)
    trajectory.rewards[reward_at] = 1
    batch = sample(make_replay(trajectory, context=context, reward_share=1.0), batch_size=200)
    assert (batch.rewards.sum(axis=1) == 1).all()
    first, last = max(reward_at - context + 1, 0), min(reward_at, length - context)
    assert set(batch.starts.tolist()) == set(range(first, last + 1))


def test_a_share_of_the_windows_is_cut_around_rewards():
    trajectory = make_trajectory(0, 400)
    trajectory.rewards[200] = 1
    batch = sample(make_replay(trajectory, context=8, reward_share=0.5), batch_size=1000)
    assert batch.rewards.sum() == pytest.approx(500 + 500 * 8 / 393, abs=60)
    nothing_pays = sample(make_replay(make_trajectory(1, 400), context=8, reward_share=1.0), batch_size=500)
    assert len(set(nothing_pays.starts.tolist())) > 200


def test_a_share_of_the_rollouts_is_drawn_by_what_they_reached():
    """One of 100 rollouts reached a goal: half of the draws are of it, and it has its turn among the other half."""
    plain = [replace(make_trajectory(number, 10), events=np.empty((0, 2), np.int32)) for number in range(99)]
    rare = make_trajectory(99, 10)
    batch = sample(make_replay(*plain, rare, goal_share=0.5), batch_size=2000)
    assert (batch.trajectories == 99).mean() == pytest.approx(0.505, abs=0.04)
    nothing_reached = sample(make_replay(*plain, goal_share=1.0), batch_size=500)
    assert len(set(nothing_reached.trajectories.tolist())) > 80


def test_what_is_drawn_by_a_goal_is_cut_around_a_step_that_reached_it():
    trajectory = replace(make_trajectory(0, 100), events=np.array([(70, 3)], np.int32))
    batch = sample(make_replay(trajectory, context=8, goal_share=1.0), batch_size=300)
    assert set(batch.starts.tolist()) == set(range(63, 71))


@settings(deadline=None)
@given(seed=st.integers(0, 5), length=st.integers(2, 30))
def test_the_goals_reached_by_each_step_are_told_by_kind(seed, length):
    """Those of the rollout, whatever it is labelled with: goals 10 to 14 are of kind 0, 15 to 19 of kind 1."""
    kinds = np.zeros(NUM_GOALS, int)
    kinds[15:20] = 1
    trajectory = make_trajectory(seed, length)
    replay = make_replay(trajectory)
    assert sample(replay).reached.shape == (4, 8, 0)
    batch = sample(Replay(replay.shelf, 8, MAX_INSTRUCTION, NO_GOAL, kinds=kinds), mode="all")
    happened = {(step, kinds[goal]) for step, goal in trajectory.events.tolist()}
    for row, start in enumerate(batch.starts.tolist()):
        for step, kind in np.ndindex(8, 2):
            expected = bool(batch.valid[row, step]) and (start + step, kind) in happened
            assert batch.reached[row, step, kind] == expected


def test_without_instructions_what_pays_is_the_one_goal():
    trajectory = replace(make_trajectory(0, 4), instruction=np.zeros(0, np.int16))
    trajectory.rewards[:] = [0, 1, -1, 0.5]
    replay = make_replay(trajectory)
    batch = sample(Replay(replay.shelf, 6, 0, 0, kinds=np.zeros(1, int)), batch_size=1, mode="none")
    assert batch.reached[0, :, 0].tolist() == [False, True, False, True, False, False]


def test_a_window_by_hand():
    """Goals 7 then 8 are reached at steps 1 and 3; rewards and goals of each token follow."""
    trajectory = make_trajectory(0, 4)
    trajectory.instruction[:] = [7, 8]
    trajectory.rewards[:] = [0, 1, 0, 1]
    trajectory.progress[:] = [0, 0, 1, 1, 2]
    trajectory.terminated[3] = True
    batch = sample(make_replay(trajectory, context=6), batch_size=1)
    no = NO_GOAL
    goals = [[7, 8, no], [7, 8, no], [8, no, no], [8, no, no], [no, no, no], [no, no, no], [no, no, no]]
    assert batch.goals[0, :, :3].tolist() == goals
    assert batch.previous_rewards[0].tolist() == [0, 0, 1, 0, 1, 0, 0]
    assert batch.rewards[0].tolist() == [0, 1, 0, 1, 0, 0]
    assert batch.valid[0].tolist() == [True] * 4 + [False] * 2
    assert batch.token_valid[0].tolist() == [True] * 5 + [False] * 2
    assert batch.terminated[0].tolist() == [False, False, False, True, False, False]
    assert batch.time[0].tolist() == [0, 1, 2, 3, 4, 0, 0]


@settings(deadline=None)
@given(st.integers(1, 40), st.integers(1, 10), st.sampled_from(["some", "all", "all_or_nothing"]))
def test_relabelled_windows_are_consistent(length, context, mode):
    """The active goal moves on exactly after a reward, and previous rewards are the relabelled ones."""
    trajectories = [make_trajectory(i, length, num_goals=3) for i in range(3)]
    replay = make_replay(*trajectories, context=context)
    batch = replay.sample(6, np.random.default_rng(length), mode, observed(*trajectories))
    num_left = (batch.goals != NO_GOAL).sum(axis=2)
    moved_on = num_left[:, :-1] - num_left[:, 1:]
    np.testing.assert_array_equal(moved_on[batch.valid], batch.rewards[batch.valid])
    was_start = batch.starts == 0
    assert not batch.previous_rewards[was_start, 0].any()
    np.testing.assert_array_equal(batch.previous_rewards[:, 1:], batch.rewards * batch.valid)
    completed = batch.valid & (num_left[:, 1:] == 0)
    np.testing.assert_array_equal(batch.terminated, completed)
    assert not (batch.valid[:, 1:] & completed[:, :-1]).any()


def test_relabelling_cuts_before_windows_are_drawn():
    """The only goal that can be written is reached by step 9 of 17: the last window of 8 starts at step 2."""
    long = make_trajectory(0, 17, num_goals=1)
    trajectory = replace(long, events=np.array([[9, 15]], np.int32))
    batch = make_replay(trajectory).sample(100, np.random.default_rng(0), "all", observed(trajectory))
    assert set(batch.starts) == {0, 1, 2}
    is_last = batch.starts == 2
    np.testing.assert_array_equal(batch.terminated[:, -1], is_last)
    np.testing.assert_array_equal(batch.rewards[:, -1], is_last)
    assert batch.valid.all()


def test_trajectories_are_drawn_uniformly_whatever_their_length():
    batch = sample(make_replay(*(make_trajectory(i, 1 + 20 * i) for i in range(5))), batch_size=2000)
    assert chisquare(np.bincount(batch.trajectories, minlength=5)).pvalue > 0.01


def test_by_step_a_trajectory_of_three_times_the_length_comes_three_times_as_often():
    """Lengths 20, 60 and 120 of 200 steps: shares 0.1, 0.3 and 0.6; starts are even within each."""
    replay = make_replay(*(make_trajectory(i, length) for i, length in enumerate((20, 60, 120))), by="step")
    batch = sample(replay, batch_size=3000)
    assert chisquare(np.bincount(batch.trajectories), [300, 900, 1800]).pvalue > 0.01
    assert chisquare(np.bincount(batch.starts[batch.trajectories == 0], minlength=13)).pvalue > 0.01
    replay.shelf.add(make_trajectory(3, 800))
    assert np.bincount(sample(replay, batch_size=3000).trajectories)[3] == pytest.approx(2400, abs=100)


def test_starts_are_drawn_uniformly_up_to_the_last_full_window():
    batch = sample(make_replay(make_trajectory(0, 17), context=8), batch_size=2000)
    counts = np.bincount(batch.starts)
    assert len(counts) == 10
    assert chisquare(counts).pvalue > 0.01
    assert batch.valid.all()


def test_the_generator_decides_everything():
    trajectories = [make_trajectory(i, 60) for i in range(6)]
    replay, statistics = make_replay(*trajectories), observed(*trajectories)
    first, again, other = (replay.sample(8, np.random.default_rng(seed), "some", statistics) for seed in (7, 7, 8))
    for field, array in vars(first).items():
        if field != "observations":
            np.testing.assert_array_equal(array, getattr(again, field))
    np.testing.assert_array_equal(first.observations["grid"], again.observations["grid"])
    assert (first.starts != other.starts).any()


def test_free_play_has_no_goals():
    trajectory = make_trajectory(0, 20, num_goals=0)
    shelf = Shelf(max_steps=100, max_bytes=10**9)
    shelf.add(trajectory)
    replay = Replay(shelf, context=4, max_instruction=0, no_goal=0)
    assert sample(replay, batch_size=3, mode="all").goals.shape == (3, 5, 0)


def test_an_empty_replay_cannot_be_sampled():
    with pytest.raises(AssertionError, match="nothing to sample"):
        sample(make_replay())


def test_other_vocabularies_have_another_number_for_no_goal():
    shelf = Shelf(max_steps=100, max_bytes=10**9)
    shelf.add(make_trajectory(0, 20, num_goals=2))
    replay = Replay(shelf, context=4, max_instruction=3, no_goal=25)
    goals = sample(replay, batch_size=3).goals
    assert goals.shape == (3, 5, 3) and (goals == [0, 1, 25]).all()
