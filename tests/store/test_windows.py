"""Windows against the trajectories they are cut from, while shards come, are merged, go, and are damaged."""

from pathlib import Path

import h5py
import numpy as np
import pytest

from store.compact import merge, plan_groups
from store.errors import StorageError
from store.hdf5 import get_dataset
from store.rollouts import RolloutReader, RolloutWriter
from store.windows import WindowReader


def write(paths, stored, **options):
    """All in one shard, or with max_seconds=0 each in its own."""
    writer = RolloutWriter(paths, "train", spec={}, **options)
    for trajectory in stored:
        writer.append(trajectory)
    writer.close()


def windows_of(paths, **options):
    return WindowReader(paths.rollouts("train"), **options)


def compact(paths, keep=None):
    for group in list(plan_groups(paths.rollouts("train"), None if keep is None else np.array(keep))):
        merge(paths, "train", group)


def num_open(directory: Path) -> int:
    """Files in `directory` that this process has open, removed ones among them."""
    links = list(Path("/proc/self/fd").iterdir())
    return sum(link.is_symlink() and str(link.readlink()).startswith(f"{directory}/") for link in links)


def test_a_window_is_a_slice_with_its_own_events(paths, make):
    whole = make(10)
    write(paths, [make(3, 9), whole])
    reader = windows_of(paths)
    window = reader.window(2, 4, 10)
    assert window.length == 6
    assert np.array_equal(window.observations["view"], whole.observations["view"][4:11])
    assert np.array_equal(window.rewards, whole.rewards[4:10])
    assert np.array_equal(window.progress, whole.progress[4:11])
    assert window.events.tolist() == [[5, 9]]  # action 9 of the whole is action 5 of the window
    assert window.instruction.tolist() == [3, 7]
    last = reader.observations(2, 9, 11)
    assert last.keys() == whole.observations.keys()
    assert np.array_equal(last["view"], whole.observations["view"][9:])


@pytest.mark.parametrize("seconds", [0, 1e9])
def test_every_window_of_every_trajectory(paths, make, same, seconds):
    """Whole ones are equal to the bit; observations are what they are cut from, wherever chunks end."""
    write(paths, [make(3 + seed, seed, noted=seed % 2 == 1) for seed in range(4)], max_seconds=seconds)
    reader = windows_of(paths, max_open=2)
    for whole in RolloutReader(paths.rollouts("train")):
        number = whole.info.number
        same(reader.window(number, 0, whole.length), whole)
        assert reader.window(number, 1, 3).diagnostics.keys() == whole.diagnostics.keys()
        for name, array in whole.diagnostics.items():
            np.testing.assert_array_equal(reader.window(number, 1, 3).diagnostics[name], array[1:3])
        for start, stop in ((0, 1), (1, 3), (whole.length, whole.length + 1)):
            for name, array in reader.observations(number, start, stop).items():
                np.testing.assert_array_equal(array, whole.observations[name][start:stop])


def test_long_trajectories_cross_chunks(paths, make):
    whole = make(10_000)
    write(paths, [make(7, 1), whole])
    with h5py.File(paths.shard("train", 1)) as file:
        chunks = [get_dataset(file, name).chunks or (0,) for name in ("observations/view", "rewards")]
    assert 0 < chunks[0][0] < 1000 and 0 < chunks[1][0] < 10_000
    window = windows_of(paths).window(2, 100, 9900)
    np.testing.assert_array_equal(window.observations["view"], whole.observations["view"][100:9901])
    np.testing.assert_array_equal(window.actions, whole.actions[100:9900])


def test_what_is_beyond_a_trajectory_is_not_its_neighbour(paths, make):
    write(paths, [make(5), make(5, 1)])
    reader = windows_of(paths)
    for read, last in ((reader.window, 5), (reader.observations, 6)):
        read(1, 4, last)
        for start, stop in ((4, last + 1), (-1, 2)):
            with pytest.raises(StorageError, match="are wanted of a rollout of 5 steps"):
                read(1, start, stop)


def test_few_files_stay_open(paths, make):
    write(paths, [make(5, seed) for seed in range(9)], max_seconds=0)
    directory = paths.rollouts("train")
    reader = windows_of(paths, max_open=3)
    for number in (1, 2, 3, 4, 1, 9, 8, 7, 6, 5):
        reader.window(number, 0, 5)
        assert num_open(directory) <= 3
    assert num_open(directory) == 3
    reader.close()
    assert num_open(directory) == 0
    assert reader.window(1, 0, 5).info.seed == 0


def test_new_shards_are_found_when_they_are_wanted(paths, make):
    write(paths, [make(5)])
    reader = windows_of(paths)
    reader.refresh()
    write(paths, [make(6, 1)])
    assert reader.newest == 1 and 2 not in reader
    assert reader.window(2, 0, 6).info.seed == 1
    assert reader.newest == 2 and 2 in reader


def test_windows_follow_a_compaction(paths, make):
    """Open and closed shards alike; the files of the old ones are let go."""
    stored = [make(5 + seed, seed) for seed in range(4)]
    write(paths, stored, max_seconds=0)
    reader = windows_of(paths, max_open=2)
    for number in (1, 2, 3, 4):
        reader.window(number, 0, 5)
    compact(paths, keep=[True, False, True, True])
    for number in (4, 3, 1):
        assert np.array_equal(reader.window(number, 1, 4).rewards, stored[number - 1].rewards[1:4])
    with pytest.raises(StorageError, match="rollout 2 is not stored in"):
        reader.window(2, 0, 5)
    assert reader.newest == 4 and 2 not in reader
    assert num_open(paths.rollouts("train")) == 1


def test_what_has_been_removed_is_not_found(paths, make):
    write(paths, [make(5, seed) for seed in range(3)], max_seconds=0)
    reader = windows_of(paths)
    paths.shard("train", 2).unlink()
    with pytest.raises(StorageError, match="rollout 2 is not stored in"):
        reader.observations(2, 0, 3)
    assert 2 not in reader and reader.window(3, 0, 5).info.seed == 2
    assert WindowReader(paths.rollouts("eval")).newest == 0


def test_damage_is_named_and_the_rest_is_read(paths, make):
    write(paths, [make(2000, seed) for seed in range(2)], max_seconds=0)
    broken = paths.shard("train", 1)
    data = bytearray(broken.read_bytes())
    with h5py.File(broken) as file:
        place = file["observations/view"].id.get_chunk_info(0)
    data[place.byte_offset + place.size // 2] ^= 1
    broken.write_bytes(data)
    reader = windows_of(paths)
    with pytest.raises(StorageError, match=r"000001\.h5 is damaged"):
        reader.observations(1, 0, 9)
    assert len(reader.observations(1, 1990, 2001)["view"]) == 11  # another chunk
    assert len(reader.observations(2, 0, 9)["view"]) == 9
    broken.write_bytes(data[:1000])
    reader.refresh()
    assert 1 not in reader and 2 in reader


def test_links_are_not_followed(paths, make, tmp_path):
    write(paths, [make(5)])
    reader = windows_of(paths)
    elsewhere = paths.shard("train", 1).rename(tmp_path / "elsewhere.h5")
    paths.shard("train", 1).symlink_to(elsewhere)
    with pytest.raises(StorageError, match="not stored"):
        reader.window(1, 0, 5)
