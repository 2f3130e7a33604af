"""Hindsight relabelling against the step-by-step rule of the environment, hand numbers and naive loops."""

import json
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, chisquare

from agent.config import RelabelMode
from agent.goals.detection import advance
from agent.relabel import GoalStatistics, Hindsight, Relabelled, relabel
from agent.relabel.hindsight import num_synthetic, relabel_as
from agent.relabel.picking import pick, pick_distinct
from store.errors import CheckpointError
from store.trajectory import Trajectory, TrajectoryInfo, validate

NUM_GOALS = 6
MODES: tuple[RelabelMode, ...] = ("some", "all", "all_or_nothing")
Achieved = Sequence[Sequence[int]]  # for every step, the goals it reaches

INFO = TrajectoryInfo(
    environment="table",
    seed=0,
    actor=0,
    split="train",
    cause="",
    wanted=False,
    policy_update=0,
    step=0,
    epsilon=0,
)


def play(instruction: Sequence[int], achieved: Achieved) -> Trajectory:
    """What is stored of an environment that follows the rule step by step and stops when all is done."""
    progress, rewards, events = [0], [], []
    for t, goals in enumerate(achieved):
        progress.append(advance(tuple(instruction), progress[-1], tuple(goals)))
        rewards.append(progress[-1] - progress[-2])
        events += [(t, goal) for goal in goals]
        if progress[-1] == len(instruction) > 0:
            break
    length = len(rewards)
    terminated = np.zeros(length, bool)
    terminated[-1] = progress[-1] == len(instruction) > 0
    trajectory = Trajectory(
        observations={"x": np.arange(length + 1, dtype=np.float32)},
        actions=np.zeros(length, np.int64),
        rewards=np.array(rewards, np.float32),
        terminated=terminated,
        truncated=np.zeros(length, bool),
        is_first=np.arange(length + 1) == 0,
        progress=np.array(progress, np.uint8),
        instruction=np.array(instruction, np.int16),
        events=np.array(events, np.int32).reshape(-1, 2),
        info=INFO,
    )
    validate(trajectory)
    return trajectory


def statistics_of(*trajectories: Trajectory) -> GoalStatistics:
    statistics = GoalStatistics(NUM_GOALS)
    for trajectory in trajectories:
        statistics.observe(trajectory)
    return statistics


def relabel_once(trajectory: Trajectory, mode: RelabelMode, seed: int) -> Relabelled:
    return relabel(Hindsight(trajectory), mode, statistics_of(trajectory), np.random.default_rng(seed))


def assert_paid_as_played(labels: Relabelled, achieved: Achieved) -> None:
    played = play(labels.instruction.tolist(), achieved[: labels.length])
    assert played.length == labels.length
    for field in ("rewards", "progress", "terminated"):
        expected = getattr(played, field)
        assert getattr(labels, field).dtype == expected.dtype
        np.testing.assert_array_equal(getattr(labels, field), expected)


goal = st.integers(0, NUM_GOALS - 1)
instructions = st.lists(goal, min_size=1, max_size=5)
tables = st.lists(st.lists(goal, max_size=3, unique=True).map(sorted), min_size=1, max_size=40)
seeds = st.integers(0, 2**32)


@given(instructions, tables)
def test_replaying_the_own_instruction_gives_the_environments_rewards(instruction, achieved):
    trajectory = play(instruction, achieved)
    labels = relabel_as(trajectory, trajectory.instruction)
    assert labels.length == trajectory.length
    np.testing.assert_array_equal(labels.rewards, trajectory.rewards)
    np.testing.assert_array_equal(labels.progress, trajectory.progress)
    np.testing.assert_array_equal(labels.terminated, trajectory.terminated)


@given(instructions, tables, st.sampled_from(MODES), seeds)
def test_relabelled_rewards_are_what_the_environment_would_have_paid(instruction, achieved, mode, seed):
    assert_paid_as_played(relabel_once(play(instruction, achieved), mode, seed), achieved)


@given(instructions, tables, seeds)
def test_all_writes_as_many_slots_as_there_are_candidates(instruction, achieved, seed):
    trajectory = play(instruction, achieved)
    rewarded = np.flatnonzero(trajectory.rewards)
    candidates = np.setdiff1d(trajectory.events[:, 0], rewarded)
    num_written = len(rewarded) + min(len(instruction) - len(rewarded), len(candidates))
    labels = relabel_once(trajectory, "all", seed)
    assert labels.progress[-1] >= num_written
    assert labels.instruction[num_written:].tolist() == instruction[num_written:]
    assert set(labels.instruction[:num_written]) <= set(trajectory.events[:, 1])
    assert bool(labels.terminated[-1]) == (labels.progress[-1] == len(instruction))


@given(instructions, tables, seeds)
def test_reached_subgoals_stay_in_their_order(instruction, achieved, seed):
    trajectory = play(instruction, achieved)
    reached = iter(relabel_once(trajectory, "some", seed).instruction.tolist())
    assert all(subgoal in reached for subgoal in instruction[: int(trajectory.progress[-1])])


def test_nothing_changes_without_something_to_write():
    mode_none = play([5, 4], [[0], [1]])
    no_candidates = play([5, 4], [[], [5], []])
    completed = play([0, 1], [[0], [3], [1]])
    no_instruction = play([], [[0], [1]])
    cases: list[tuple[Trajectory, RelabelMode]] = [
        (mode_none, "none"),
        (no_candidates, "all"),
        (completed, "all"),
        (no_instruction, "all"),
    ]
    for trajectory, mode in cases:
        labels = relabel_once(trajectory, mode, seed=0)
        assert labels.instruction is trajectory.instruction
        assert labels.rewards is trajectory.rewards
        assert labels.progress is trajectory.progress
        assert labels.terminated is trajectory.terminated
        assert labels.length == trajectory.length


def test_several_attempts_are_left_alone():
    trajectory = play([5], [[0], [1], [2]])
    trajectory.is_first[2] = True
    assert relabel_once(trajectory, "all", seed=0).instruction is trajectory.instruction


def test_a_goal_reached_before_the_sampled_time_advances_there():
    trajectory = play([5, 5], [[0], [], [], [0], [1], []])
    labels = relabel_as(trajectory, np.array([0, 1], np.int16))
    assert labels.length == 5
    assert labels.rewards.tolist() == [1, 0, 0, 0, 1]
    assert labels.progress.tolist() == [0, 1, 1, 1, 1, 2]
    assert labels.terminated.tolist() == [False, False, False, False, True]


def test_every_outcome_of_a_small_trajectory():
    """Two of the steps 0 (goal 0), 1 (goal 1) and 4 (goal 0) are picked, always paid at the earliest time."""
    trajectory = play([5, 5], [[0], [1], [], [], [0]])
    payments = {(0, 1): [1, 1], (0, 0): [1, 0, 0, 0, 1], (1, 0): [0, 1, 0, 0, 1]}
    seen = set()
    for seed in range(60):
        labels = relabel_once(trajectory, "all", seed)
        outcome = tuple(labels.instruction.tolist())
        assert labels.rewards.tolist() == payments[outcome]
        seen.add(outcome)
    assert seen == set(payments)


def test_real_successes_mix_with_synthetic_ones_in_order_of_time_before_the_tail():
    trajectory = play([2, 3, 4, 4], [[], [0], [2], [], [1], [3]])
    labels = relabel_once(trajectory, "all", seed=0)
    assert labels.instruction.tolist() == [0, 2, 1, 3]
    assert labels.rewards.tolist() == [0, 1, 1, 0, 1, 1]
    assert labels.terminated[-1]

    only_one_candidate = play([2, 3, 4, 5], [[], [0], [2], [], [], [3]])
    labels = relabel_once(only_one_candidate, "all", seed=0)
    assert labels.instruction.tolist() == [0, 2, 3, 5]
    assert labels.length == 6
    assert not labels.terminated.any()


def test_a_death_without_completion_stays_terminal():
    trajectory = play([5, 5], [[0], [], []])
    trajectory.terminated[-1] = True
    labels = relabel_once(trajectory, "all", seed=0)
    assert labels.instruction.tolist() == [0, 5]
    assert labels.terminated.tolist() == [False, False, True]


def test_the_trajectory_is_never_written_to():
    trajectory = play([5, 3, 4], [[0], [1, 2], [3], [5], [0]])
    for array in vars(trajectory).values():
        if isinstance(array, np.ndarray):
            array.setflags(write=False)
    for seed in range(20):
        relabel_once(trajectory, "some", seed)


def test_number_of_synthetic_goals():
    rng = np.random.default_rng(0)
    some = Counter(num_synthetic("some", 3, rng) for _ in range(4000))
    assert sorted(some) == [0, 1, 2, 3]
    assert chisquare(list(some.values())).pvalue > 0.01
    assert {num_synthetic("all", 3, rng) for _ in range(10)} == {3}
    all_or_nothing = Counter(num_synthetic("all_or_nothing", 3, rng) for _ in range(4000))
    assert sorted(all_or_nothing) == [0, 3]
    assert binomtest(all_or_nothing[3], 4000, 0.8).pvalue > 0.01


def test_weights_by_hand():
    statistics = GoalStatistics(NUM_GOALS)
    statistics.num_steps, statistics.num_trajectories = 1000, 10
    statistics.step_counts[:] = [0, 1, 10, 100, 1000, 500]
    statistics.trajectory_counts[:] = [0, 1, 1, 10, 10, 5]
    # (-log10 f)^4 for f = 0, .001, .01, .1, 1, .5; 0.30103^4 = 0.0082119
    np.testing.assert_allclose(statistics.weights("step"), [1e5, 81, 16, 1, 1e-3, 0.0082119], rtol=1e-4)
    np.testing.assert_allclose(statistics.weights("trajectory"), [1e5, 1, 1, 1e-3, 1e-3, 0.0082119], rtol=1e-4)


def test_goals_of_a_kind_are_as_rare_as_their_kind():
    """Three places, two of them reached by 4 in 10 and one by all: some place is reached always."""
    statistics = GoalStatistics(4, np.array([7, 7, 0, 7]))
    statistics.num_steps, statistics.num_trajectories = 1000, 10
    statistics.step_counts[:] = [3, 2, 10, 5]
    statistics.trajectory_counts[:] = [4, 4, 1, 10]
    np.testing.assert_allclose(statistics.weights("step"), [16, 16, 16, 16], rtol=1e-4)
    np.testing.assert_allclose(statistics.weights("trajectory"), [1e-3, 1e-3, 1, 1e-3], rtol=1e-4)


@given(st.lists(tables, max_size=4))
def test_counts_against_a_naive_loop(histories):
    statistics = statistics_of(*(play([], achieved) for achieved in histories))
    for g in range(NUM_GOALS):
        hits = [sum(g in goals for goals in achieved) for achieved in histories]
        assert statistics.step_counts[g] == sum(hits)
        assert statistics.trajectory_counts[g] == sum(hit > 0 for hit in hits)
    assert statistics.num_steps == sum(len(achieved) for achieved in histories)
    assert statistics.num_trajectories == len(histories)


def test_weights_follow_new_observations():
    statistics = statistics_of(play([], [[0], []]))
    assert statistics.weights("step")[0] == pytest.approx(0.0082119, rel=1e-4)
    statistics.observe(play([], [[]] * 8))
    assert statistics.weights("step")[0] == pytest.approx(1.0)


def test_statistics_survive_json():
    before = statistics_of(play([], [[0], [1, 2], []]), play([], [[2]]))
    after = GoalStatistics(NUM_GOALS)
    after.weights("step")
    after.load(json.loads(json.dumps(before.state())))
    assert after.state() == before.state()
    np.testing.assert_array_equal(after.weights("step"), before.weights("step"))
    after.observe(play([], [[2]]))
    assert after.step_counts[2] == before.step_counts[2] + 1


def test_statistics_of_another_vocabulary_are_refused():
    with pytest.raises(CheckpointError, match="counts 6 goals, this version knows 7"):
        GoalStatistics(7).load(GoalStatistics(6).state())


def pick_probabilities(weights: Sequence[float]) -> list[float]:
    """The mixture of the four readings of the weights, written down naively."""
    median = float(np.median(weights))
    threshold = sorted(weights)[-min(5, len(weights))]
    readings = [
        (0.2, [1.0 for _ in weights]),
        (0.1, [w - min(weights) for w in weights]),
        (0.1, [max(w - median, 0.0) for w in weights]),
        (0.6, [w if w >= threshold else 0.0 for w in weights]),
    ]
    mixture = [0.0] * len(weights)
    for share, values in readings:
        if sum(values) == 0:
            values = [1.0 for _ in weights]
        for i, value in enumerate(values):
            mixture[i] += share * value / sum(values)
    return mixture


@pytest.mark.parametrize("weights", [[3.0, 1.0, 20.0, 4.0, 2.0, 10.0, 0.5], [2.0, 2.0], [1.0, 9.0, 10.0, 10.5]])
def test_pick_follows_the_mixture_of_the_four_readings(weights):
    rng = np.random.default_rng(1)
    counts = Counter(pick(np.array(weights), rng) for _ in range(10_000))
    expected = np.array(pick_probabilities(weights)) * 10_000
    assert chisquare([counts[i] for i in range(len(weights))], expected).pvalue > 0.01


def test_the_second_pick_is_one_of_what_the_first_left():
    weights = [1.0, 2.0, 5.0, 10.0]
    expected = {}
    for i, first in enumerate(pick_probabilities(weights)):
        rest = [j for j in range(4) if j != i]
        seconds = pick_probabilities([weights[j] for j in rest])
        expected |= {(i, j): 5000 * first * second for j, second in zip(rest, seconds, strict=True)}
    rng = np.random.default_rng(4)
    counts = Counter(tuple(pick_distinct(np.array(weights), 2, rng).tolist()) for _ in range(5000))
    assert chisquare([counts[pair] for pair in expected], list(expected.values())).pvalue > 0.01


def test_equal_weights_favour_no_position():
    rng = np.random.default_rng(2)
    pairs = Counter(tuple(sorted(pick_distinct(np.ones(8), 2, rng))) for _ in range(5600))
    assert len(pairs) == 28
    assert chisquare(list(pairs.values())).pvalue > 0.01


@given(st.lists(st.floats(1e-3, 1e5), min_size=1, max_size=30), st.data())
def test_picks_are_distinct(weights, data):
    count = data.draw(st.integers(0, len(weights)))
    chosen = pick_distinct(np.array(weights), count, np.random.default_rng(data.draw(seeds)))
    assert len(set(chosen.tolist())) == count
    assert all(0 <= index < len(weights) for index in chosen)


def test_rare_goals_are_chosen_as_a_naive_loop_says():
    """One synthetic goal out of four steps; a step weighs the sum of its goals, then its goal is picked."""
    achieved = [[0, 1], [], [1], [2], [0, 1]]
    trajectory = play([5], achieved)
    statistics = statistics_of(trajectory, *[play([], [[0], [], [1]])] * 30, *[play([], [[0], []])] * 20)
    expected = np.zeros(3)
    for unit in ("step", "trajectory"):
        weights = statistics.weights(unit).tolist()
        steps = [goals for goals in achieved if goals]
        step_shares = pick_probabilities([sum(weights[g] for g in goals) for goals in steps])
        for share, goals in zip(step_shares, steps, strict=True):
            for goal_share, g in zip(pick_probabilities([weights[g] for g in goals]), goals, strict=True):
                expected[g] += 0.5 * share * goal_share

    rng, source = np.random.default_rng(3), Hindsight(trajectory)
    drawn = [int(relabel(source, "all", statistics, rng).instruction[0]) for _ in range(5000)]
    assert chisquare(np.bincount(drawn, minlength=3), expected * 5000).pvalue > 0.01
