"""What goes into the shards comes out again, bit by bit and in order."""

from dataclasses import replace

import h5py
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from store.layout import RunPaths
from store.rollouts import RolloutReader, RolloutWriter
from store.trajectory import Trajectory, TrajectoryInfo


def write(paths, trajectories, **options):
    writer = RolloutWriter(paths, "train", spec={"name": "crafter"}, **options)
    numbers = [writer.append(trajectory) for trajectory in trajectories]
    writer.close()
    return numbers


def read(paths):
    return RolloutReader(paths.rollouts("train"))


def numbered(trajectory, number):
    return replace(trajectory, info=replace(trajectory.info, number=number))


def test_first_middle_last_and_shortest_come_back(paths, make, same):
    stored = [make(length, seed) for seed, length in enumerate([1, 7, 300, 2, 1])]
    assert write(paths, stored) == [1, 2, 3, 4, 5]
    reader = read(paths)
    assert len(reader.index()) == 5 and reader.problems == []
    for i, trajectory in enumerate(stored):
        same(reader.load(i), numbered(trajectory, i + 1))
    for i, trajectory in enumerate(reader):
        same(trajectory, numbered(stored[i], i + 1))


def test_images_come_back_and_lie_in_chunks_of_eight(paths, make, same):
    stored = make(20, image=True)
    write(paths, [stored])
    same(read(paths).load(0), numbered(stored, 1))
    with h5py.File(paths.shard("train", 1)) as file:
        image = file["observations/image"]
        assert image.chunks == (8, 64, 64, 3) and image.compression == "gzip"


def test_the_index_holds_what_tables_need(paths, make):
    first, second = make(3, 1), make(4, 2)
    second = replace(second, instruction=np.array([5], np.int16))
    second = replace(second, info=replace(second.info, cause="death by zombie"))
    write(paths, [first, second], max_seconds=0)
    reader = read(paths)
    index = reader.index()
    assert index.number.tolist() == [1, 2] and index.length.tolist() == [3, 4]
    assert index.seed.tolist() == [1, 2] and index.wanted.tolist() == [False, True]
    assert index.step.tolist() == [10, 20] and index.policy_update.tolist() == [2, 4]
    assert index.cause.tolist() == ["time limit", "death by zombie"]
    assert index.progress.tolist() == [1, 1] and index.completed.tolist() == [False, True]
    assert [index.instruction(i) for i in range(2)] == [(3, 7), (5,)]
    assert index.ret.tolist() == [first.ret, second.ret]
    assert index.num_events.tolist() == [2, 2]
    assert reader.spec(1) == {"name": "crafter"}


def test_diagnostics_come_back_where_there_are_some(paths, make, same):
    """Trajectories without them take no rows, wherever they stand among the others."""
    noted = [False, True, False, True, True]
    stored = [make(3 + seed, seed, noted=noted[seed]) for seed in range(5)]
    write(paths, stored)
    reader = read(paths)
    assert reader.index().diagnosed.tolist() == noted and reader.problems == []
    for i, trajectory in enumerate(stored):
        same(reader.load(i), numbered(trajectory, i + 1))
    with h5py.File(paths.shard("train", 1)) as file:
        assert file["diagnostics/values"].shape == (4 + 6 + 7, 4)


def test_a_shard_without_diagnostics_has_no_place_for_them(paths, make):
    write(paths, [make(), make(seed=1)])
    with h5py.File(paths.shard("train", 1)) as file:
        assert "diagnostics" not in file


def test_an_empty_or_missing_directory_is_empty(paths):
    assert len(read(paths).index()) == 0 and list(read(paths)) == []
    RolloutWriter(paths, "train", spec={}).close()
    assert len(read(paths).index()) == 0 and read(paths).problems == []


def test_shards_are_sealed_by_size(paths, make):
    size = make(5).num_bytes
    write(paths, [make(5, seed) for seed in range(7)], max_bytes=2 * size, max_seconds=1e9)
    index = read(paths).index()
    assert [path.name for path in index.paths] == [f"{n:06d}.h5" for n in (1, 2, 3, 4)]
    assert index.shard.tolist() == [0, 0, 1, 1, 2, 2, 3] and index.row.tolist() == [0, 1, 0, 1, 0, 1, 0]


def test_a_resumed_writer_continues_numbers_and_cleans_up(paths, make):
    write(paths, [make(seed=0), make(seed=1)])
    leftover = paths.rollouts("train") / "000002.h5.tmp"
    leftover.write_bytes(b"half a shard")
    assert write(paths, [make(seed=2)]) == [3]
    assert not leftover.exists() and paths.shard("train", 2).exists()
    assert read(paths).index().seed.tolist() == [0, 1, 2]


def test_a_resumed_writer_passes_over_a_damaged_last_shard(paths, make):
    write(paths, [make(), make()], max_seconds=0)
    paths.shard("train", 2).write_bytes(b"damaged")
    assert write(paths, [make()]) == [3]
    assert paths.shard("train", 2).read_bytes() == b"damaged" and paths.shard("train", 3).exists()


WRITE = """
import sys, time
from pathlib import Path
from conftest import make_trajectory
from store.layout import RunPaths
from store.rollouts import RolloutWriter
root, go, first = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
writer = RolloutWriter(RunPaths(root), "eval", spec={})
print("ready", flush=True)
while not go.exists():
    time.sleep(0.01)
for seed in range(first, first + 20):
    print(writer.append(make_trajectory(3, seed, split="eval")), flush=True)
writer.close()
"""


def test_two_writers_at_a_time_never_give_one_number_twice(paths, make, start, tmp_path):
    """Both have looked what there is before either has stored anything."""
    go = tmp_path / "go"
    writers = [start(WRITE, paths.root, go, first) for first in (0, 100)]
    for writer in writers:
        assert writer.stdout.readline() == "ready\n"
    go.touch()
    given = [[int(line) for line in writer.communicate(timeout=60)[0].split()] for writer in writers]
    assert sorted(given[0] + given[1]) == list(range(1, 41))
    index = RolloutReader(paths.rollouts("eval")).index()
    assert index.number.tolist() == list(range(1, 41))
    assert {int(seed) for seed in index.seed[np.isin(index.number, given[1])]} == set(range(100, 120))


@pytest.mark.parametrize("claim", ["", "-7", "x", "9" * 30], ids=["empty", "negative", "text", "long"])
def test_a_damaged_claim_of_numbers_does_no_harm(paths, make, claim):
    write(paths, [make()])
    paths.last_number("train").write_text(claim)
    write(paths, [make(seed=1)])
    assert read(paths).index().number.tolist() == [1, 2]


def test_given_numbers_are_kept_and_give_the_order(paths, make):
    assert write(paths, [make(seed=0, number=20), make(seed=1, number=10), make(seed=2)]) == [20, 10, 21]
    assert [trajectory.info.seed for trajectory in read(paths)] == [1, 0, 2]


def test_a_reader_sees_new_shards(paths, make):
    reader = read(paths)
    writer = RolloutWriter(paths, "train", spec={})
    writer.append(make())
    assert len(reader.index()) == 0
    assert writer.seal() == paths.shard("train", 1) and writer.seal() is None
    assert len(reader.index()) == 1
    writer.append(make(seed=1))
    writer.close()
    assert reader.index().seed.tolist() == [0, 1]


def test_a_trajectory_of_another_split_or_environment_is_a_bug(paths, make):
    writer = RolloutWriter(paths, "train", spec={})
    with pytest.raises(AssertionError):
        writer.append(make(split="eval"))
    writer.append(make())
    with pytest.raises(AssertionError):
        writer.append(make(image=True))


def test_many_trajectories_stay_small(paths, make):
    trajectories = [make(10, seed) for seed in range(500)]
    write(paths, trajectories)
    raw = sum(trajectory.num_bytes for trajectory in trajectories)
    assert paths.shard("train", 1).stat().st_size < 1.3 * raw


@st.composite
def trajectories(draw):
    """Up to four trajectories of one environment whose arrays are arbitrary, NaN included."""
    dtypes = st.sampled_from([np.dtype(kind) for kind in ("?", "u1", "i2", "i8", "f2", "f4", "f8")])
    row = st.lists(st.integers(0, 3), max_size=2).map(tuple)
    kinds = draw(st.dictionaries(st.sampled_from("abc"), st.tuples(dtypes, row), min_size=1, max_size=3))
    width = draw(st.sampled_from([(), (1,), (3,)]))
    return [draw(one_trajectory(kinds, width)) for _ in range(draw(st.integers(1, 4)))]


@st.composite
def one_trajectory(draw, kinds, width):
    length = draw(st.integers(1, 6))
    goals = draw(hnp.arrays(np.int16, st.integers(0, 5)))
    at = sorted(draw(st.lists(st.integers(0, length - 1), max_size=4)))
    gains = draw(hnp.arrays(np.bool_, length))
    text = st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=16)
    whole = st.integers(-(2**63), 2**63 - 1)
    return Trajectory(
        observations={name: draw(hnp.arrays(dtype, (length + 1, *row))) for name, (dtype, row) in kinds.items()},
        actions=draw(hnp.arrays(np.int32, (length, *width))),
        rewards=draw(hnp.arrays(np.float32, length)),
        terminated=draw(hnp.arrays(np.bool_, length)),
        truncated=draw(hnp.arrays(np.bool_, length)),
        is_first=draw(hnp.arrays(np.bool_, length + 1)),
        progress=np.minimum(np.cumsum([0, *gains]), len(goals)).astype(np.uint8),
        instruction=goals,
        events=np.array([(step, draw(st.integers(0, 2**31 - 1))) for step in at], np.int32).reshape(-1, 2),
        info=TrajectoryInfo(
            environment=draw(text),
            cause=draw(text),
            seed=draw(whole),
            actor=draw(whole),
            policy_update=draw(whole),
            step=draw(whole),
            epsilon=draw(st.floats(0, 1)),
            wanted=draw(st.booleans()),
            split="train",
        ),
    )


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(stored=trajectories(), bytes_per_shard=st.sampled_from([1, 500, 10**6]))
def test_any_trajectory_comes_back_to_the_bit(tmp_path_factory, same, stored, bytes_per_shard):
    paths = RunPaths(tmp_path_factory.mktemp("run"))
    write(paths, stored, max_bytes=bytes_per_shard)
    reader = read(paths)
    found = list(reader)
    assert reader.problems == [] and len(found) == len(stored)
    for i, trajectory in enumerate(stored):
        same(found[i], numbered(trajectory, i + 1))
