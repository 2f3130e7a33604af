"""What of the replay is in memory and what on disk, and that nobody who draws from it can tell."""

from dataclasses import replace

import numpy as np
import pytest
from test_replay import MAX_INSTRUCTION, make_trajectory, observed

from agent.goals.vocabulary import NO_GOAL
from agent.replay import Replay, SequenceArrays
from agent.shelf import Shelf
from store.compact import merge, plan_groups
from store.layout import RunPaths
from store.rollouts import RolloutWriter
from store.trajectory import Trajectory
from store.windows import WindowReader

OBSERVATION_BYTES = 3 * 2 + 4  # a grid and a light


@pytest.fixture
def paths(tmp_path) -> RunPaths:
    return RunPaths(tmp_path)


def store(paths: RunPaths, trajectories: list[Trajectory]) -> None:
    """Each in a shard of its own."""
    writer = RolloutWriter(paths, "train", spec={}, max_seconds=0)
    for trajectory in trajectories:
        writer.append(trajectory)
    writer.close()


def cold_shelf(paths: RunPaths, trajectories: list[Trajectory], max_bytes: int) -> Shelf:
    shelf = Shelf(10_000, max_bytes, WindowReader(paths.rollouts("train")))
    for trajectory in trajectories:
        shelf.add(trajectory)
    return shelf


def warm_shelf(trajectories: list[Trajectory], max_steps: int = 10_000, max_bytes: int = 10**9) -> Shelf:
    shelf = Shelf(max_steps, max_bytes)
    for trajectory in trajectories:
        shelf.add(trajectory)
    return shelf


def memory(trajectories: list[Trajectory], warm: int) -> int:
    """Bytes, if only the newest `warm` have their observations in memory."""
    left_out = sum(trajectory.length + 1 for trajectory in trajectories[: len(trajectories) - warm])
    return warm_shelf(trajectories).num_bytes - left_out * OBSERVATION_BYTES


def draw(shelf: Shelf, trajectories: list[Trajectory], batch_size: int = 200, seed: int = 0) -> SequenceArrays:
    replay = Replay(shelf, 8, MAX_INSTRUCTION, NO_GOAL, reward_share=0.3)
    return replay.sample(batch_size, np.random.default_rng(seed), "some", observed(*trajectories))


def assert_equal(first: SequenceArrays, second: SequenceArrays) -> None:
    """To the bit, types included."""
    for field, array in vars(first).items():
        other = getattr(second, field)
        for a, b in zip(array.values(), other.values(), strict=True) if field == "observations" else [(array, other)]:
            assert a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def is_cold(shelf: Shelf) -> list[bool]:
    return [len(shelf[i].trajectory.observations["grid"]) == 0 for i in range(len(shelf))]


def test_the_oldest_trajectories_leave_first():
    trajectories = [make_trajectory(i, 10) for i in range(5)]
    shelf = warm_shelf(trajectories, max_steps=35)
    assert (len(shelf), shelf.num_steps, shelf.ends.tolist()) == (3, 30, [10, 20, 30])
    assert shelf.num_bytes == warm_shelf(trajectories[2:]).num_bytes
    assert shelf.num_bytes > sum(trajectory.num_bytes for trajectory in trajectories[2:])
    assert set(draw(shelf, trajectories).trajectories) == {2, 3, 4}


def test_the_newest_trajectory_stays_however_long_it_is():
    shelf = warm_shelf([make_trajectory(0, 10), make_trajectory(1, 50)], max_steps=20)
    assert (len(shelf), shelf.num_steps) == (1, 50)
    shelf.add(make_trajectory(2, 30))
    assert (len(shelf), shelf.num_steps) == (1, 30)


@pytest.mark.parametrize("action_size", [None, 3])
def test_batches_are_the_same_from_memory_and_from_disk(paths, action_size):
    trajectories = [make_trajectory(i, 5 + 7 * i, action_size=action_size) for i in range(1, 8)]
    for trajectory in trajectories:
        trajectory.rewards[-1] = 1
    store(paths, trajectories)
    cold, warm = cold_shelf(paths, trajectories, memory(trajectories, 3)), warm_shelf(trajectories)
    assert is_cold(cold) == [True] * 4 + [False] * 3
    assert cold.num_steps == warm.num_steps
    for seed in range(3):
        assert_equal(draw(cold, trajectories, seed=seed), draw(warm, trajectories, seed=seed))


def test_memory_is_counted_by_hand(paths):
    """Of two trajectories of 100 steps the older leaves its 101 observations to the disk, for want of one byte."""
    trajectories = [make_trajectory(i, 100) for i in (1, 2)]
    store(paths, trajectories)
    whole = warm_shelf(trajectories).num_bytes
    assert is_cold(cold_shelf(paths, trajectories, whole)) == [False, False]
    shelf = cold_shelf(paths, trajectories, whole - 1)
    assert is_cold(shelf) == [True, False]
    assert shelf.num_bytes == whole - 101 * OBSERVATION_BYTES


def test_what_is_not_on_disk_yet_stays_in_memory(paths):
    trajectories = [make_trajectory(i, 20) for i in range(1, 6)]
    shelf = cold_shelf(paths, trajectories, memory(trajectories, 1))
    assert is_cold(shelf) == [False] * 5
    store(paths, trajectories[:2])
    shelf.add(make_trajectory(6, 1))
    assert is_cold(shelf) == [True, True, False, False, False, False]


def test_even_what_stays_in_memory_has_its_bound(paths):
    """How much is left of all does not depend on what has been sealed: a resumed run has the same trajectories."""
    trajectories = [make_trajectory(i, 100) for i in range(1, 6)]
    bound = memory(trajectories[2:], 0)
    unsealed = cold_shelf(paths, trajectories, bound)
    store(paths, trajectories)
    sealed = cold_shelf(paths, trajectories, bound)
    assert len(unsealed) == len(sealed) == 3
    assert is_cold(sealed) == [True, True, False]
    assert draw(sealed, trajectories).trajectories.tolist() == draw(unsealed, trajectories).trajectories.tolist()


def test_a_compaction_goes_unnoticed(paths):
    trajectories = [make_trajectory(i, 20) for i in range(1, 8)]
    store(paths, trajectories)
    shelf = cold_shelf(paths, trajectories, memory(trajectories, 2))
    draw(shelf, trajectories)
    for group in list(plan_groups(paths.rollouts("train"))):
        merge(paths, "train", group)
    assert_equal(draw(shelf, trajectories, seed=1), draw(warm_shelf(trajectories), trajectories, seed=1))
    assert shelf.lost == 0


def test_what_vanishes_from_the_disk_leaves_the_replay(paths):
    """All that are gone leave at once, when the first of them is missed."""
    trajectories = [make_trajectory(i, 20) for i in range(1, 7)]
    store(paths, trajectories)
    shelf = cold_shelf(paths, trajectories, memory(trajectories, 2))
    assert is_cold(shelf) == [True] * 4 + [False] * 2
    for number in (1, 3):
        paths.shard("train", number).unlink()
    paths.shard("train", 4).write_bytes(b"damaged")
    batch = draw(shelf, trajectories)
    assert set(batch.trajectories.tolist()) == {2, 5, 6}
    assert (len(shelf), shelf.num_steps, shelf.lost) == (3, 60, 3)
    assert shelf.num_bytes == memory([trajectories[i] for i in (1, 4, 5)], 2)
    assert batch.token_valid[:, 0].all()


def test_observations_of_another_kind_are_not_taken(paths):
    """Somebody has put another file in the shard's place."""
    trajectories = [make_trajectory(i, 20) for i in range(1, 5)]
    store(paths, trajectories)
    shelf = cold_shelf(paths, trajectories, memory(trajectories, 1))
    stranger = replace(trajectories[0], observations={"grid": np.zeros((21, 3, 2), np.uint16)})
    paths.shard("train", 1).unlink()
    other = RunPaths(paths.root / "other")
    store(other, [stranger])
    other.shard("train", 1).rename(paths.shard("train", 1))
    assert set(draw(shelf, trajectories).trajectories.tolist()) == {2, 3, 4}
    assert shelf.lost == 1
