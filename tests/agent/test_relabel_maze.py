"""Hindsight relabelling of mazes that were played, against the maze itself: there every step reaches a goal."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.config import RelabelMode
from agent.envs.maze import MazeEnv
from agent.envs.maze_places import PlaceSampler
from agent.relabel import GoalStatistics, Hindsight, Relabelled, relabel
from store.trajectory import Trajectory, TrajectoryInfo, validate

SIZE, NUM_GOALS = 7, 3
MODES: tuple[RelabelMode, ...] = ("some", "all", "all_or_nothing")
seeds = st.integers(0, 2**31 - 2)


def play(seed: int, instruction: tuple[int, ...], actions: np.ndarray, size: int = SIZE) -> Trajectory:
    """What is stored of these actions in the world of `seed`, up to the end of the attempt."""
    env = MazeEnv(size, NUM_GOALS, max_steps=len(actions))
    observations = [env.reset(seed=seed, options={"instruction": instruction})[0]]
    rewards, progress, events, terminated, truncated, cause = [], [0], [], False, False, ""
    for t, action in enumerate(actions):
        observation, reward, terminated, truncated, info = env.step(action)
        observations.append(observation)
        rewards.append(reward)
        progress.append(info["progress"])
        events += [(t, goal) for goal in info["achieved"]]
        cause = info["cause"]
        if terminated or truncated:
            break
    length = len(rewards)
    last = np.arange(length) == length - 1
    trajectory = Trajectory(
        observations={key: np.stack([o[key] for o in observations]) for key in observations[0]},
        actions=actions[:length],
        rewards=np.array(rewards, np.float32),
        terminated=last & terminated,
        truncated=last & truncated,
        is_first=np.arange(length + 1) == 0,
        progress=np.array(progress, np.uint8),
        instruction=np.array(instruction, np.int16),
        events=np.array(events, np.int32).reshape(-1, 2),
        info=TrajectoryInfo(
            environment="maze", seed=seed, actor=0, split="train", cause=cause, wanted=False,
            policy_update=0, step=0, epsilon=0,
        ),
    )  # fmt: skip
    validate(trajectory)
    return trajectory


def random_play(seed: int, max_steps: int, size: int = SIZE) -> Trajectory:
    rng = np.random.default_rng(seed)
    instruction, _ = PlaceSampler(size, NUM_GOALS).sample(rng, seed)
    return play(seed, instruction, rng.integers(4, size=max_steps), size)


def relabel_once(trajectory: Trajectory, mode: RelabelMode, seed: int) -> Relabelled:
    statistics = GoalStatistics(SIZE * SIZE)
    statistics.observe(trajectory)
    return relabel(Hindsight(trajectory), mode, statistics, np.random.default_rng(seed))


@given(seeds, st.integers(1, 60), st.sampled_from(MODES), seeds)
@settings(max_examples=300, deadline=None)
def test_relabelled_rewards_are_what_the_maze_pays_for_the_new_instruction(world, max_steps, mode, seed):
    trajectory = random_play(world, max_steps)
    labels = relabel_once(trajectory, mode, seed)
    assert len(labels.instruction) == len(trajectory.instruction)
    again = play(world, tuple(labels.instruction.tolist()), trajectory.actions)
    assert again.length == labels.length
    for field in ("rewards", "progress", "terminated"):
        expected = getattr(again, field)
        assert getattr(labels, field).dtype == expected.dtype
        np.testing.assert_array_equal(getattr(labels, field), expected)
    for key, array in again.observations.items():
        np.testing.assert_array_equal(trajectory.observations[key][: labels.length + 1], array)


@given(seeds, st.integers(1, 60), seeds)
@settings(deadline=None)
def test_as_many_goals_are_written_as_steps_allow(world, max_steps, seed):
    trajectory = random_play(world, max_steps)
    labels = relabel_once(trajectory, "all", seed)
    assert labels.progress[-1] == min(len(trajectory.instruction), trajectory.length)


@given(seeds, st.integers(1, 60), seeds)
@settings(deadline=None)
def test_none_changes_nothing(world, max_steps, seed):
    trajectory = random_play(world, max_steps)
    labels = relabel_once(trajectory, "none", seed)
    for field in ("instruction", "rewards", "progress", "terminated"):
        assert getattr(labels, field) is getattr(trajectory, field)
    assert labels.length == trajectory.length


def test_every_step_is_a_candidate_except_those_that_were_paid():
    trajectory = random_play(3, 150, size=11)
    source = Hindsight(trajectory)
    assert trajectory.length == len(trajectory.events) == 150
    np.testing.assert_array_equal(source.steps, np.flatnonzero(trajectory.rewards == 0))
    np.testing.assert_array_equal(source.goals, trajectory.events[source.steps, 1])
