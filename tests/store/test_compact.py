"""Merging shards loses, doubles and changes nothing, for readers that look at any moment and kills at any moment."""

from dataclasses import replace

import numpy as np
import pytest

from store import compact as compact_module
from store.compact import merge, plan_groups
from store.retention import newest, protected, stored_bytes
from store.rollouts import RolloutReader, RolloutWriter


def write(paths, trajectories, split="train", spec=None):
    writer = RolloutWriter(paths, split, spec=spec or {}, max_seconds=0)
    for trajectory in trajectories:
        writer.append(trajectory)


def compact(paths, split="train", keep=None, limit=compact_module.MERGED_BYTES):
    stays = None if keep is None else np.array(keep)
    groups = [group for group in plan_groups(paths.rollouts(split), stays, limit) if group.changes]
    return [(len(group.paths), group.dropped, merge(paths, split, group)) for group in groups]


def test_many_shards_become_one_with_the_same_content(paths, make, same):
    stored = [make(5 + seed, seed) for seed in range(6)]
    write(paths, stored)
    before = list(RolloutReader(paths.rollouts("train")))
    [(shards, dropped, freed)] = compact(paths)
    assert (shards, dropped) == (6, 0) and freed > 0
    assert [path.name for path in paths.rollouts("train").iterdir()] == ["000001.h5"]
    for old, new in zip(before, RolloutReader(paths.rollouts("train")), strict=True):
        same(old, new)
    assert compact(paths) == []
    write(paths, [make(3, 7)])
    assert RolloutReader(paths.rollouts("train")).index().number.tolist() == [1, 2, 3, 4, 5, 6, 7]


def test_groups_stay_within_the_limit(paths, make):
    write(paths, [make(10, seed) for seed in range(5)])
    limit = 2 * make(10).num_bytes
    assert [shards for shards, _, _ in compact(paths, limit=limit)] == [2, 2]
    assert [path.name for path in sorted(paths.rollouts("train").iterdir())] == ["000001.h5", "000003.h5", "000005.h5"]


def test_different_environments_and_damaged_shards_are_not_merged(paths, make):
    write(paths, [make(4, 0)], spec={"name": "a"})
    write(paths, [make(4, 1)], spec={"name": "b"})
    write(paths, [make(4, 2), make(4, 3)], spec={"name": "b"})
    paths.shard("train", 3).write_bytes(b"damaged")
    assert [shards for shards, _, _ in compact(paths)] == [2]
    reader = RolloutReader(paths.rollouts("train"))
    assert reader.index().number.tolist() == [1, 2, 4] and len(reader.problems) == 1
    assert [reader.spec(i)["name"] for i in range(3)] == ["a", "b", "b"]


class Killed(BaseException):
    """Stands for kill -9."""


@pytest.mark.parametrize("removed", [0, 1, 2])
def test_a_kill_between_publishing_and_removing_doubles_nothing(paths, make, monkeypatch, removed):
    write(paths, [make(5, seed) for seed in range(4)])
    [group] = plan_groups(paths.rollouts("train"))
    doomed = group.paths[1 + removed]
    monkeypatch.setattr(type(doomed), "unlink", unlink_until(doomed, type(doomed).unlink))
    with pytest.raises(Killed):
        merge(paths, "train", group)
    monkeypatch.undo()
    assert len(list(paths.rollouts("train").iterdir())) == 4 - removed
    assert RolloutReader(paths.rollouts("train")).index().number.tolist() == [1, 2, 3, 4]
    assert len(list(RolloutReader(paths.rollouts("train")))) == 4
    compact(paths)
    assert len(list(paths.rollouts("train").iterdir())) == 1
    assert RolloutReader(paths.rollouts("train")).index().number.tolist() == [1, 2, 3, 4]


def unlink_until(doomed, unlink):
    def unlink_or_die(path, missing_ok=False):
        if path == doomed:
            raise Killed
        unlink(path, missing_ok=missing_ok)

    return unlink_or_die


def test_a_reader_finds_what_has_moved_since_its_index(paths, make, same):
    write(paths, [make(5 + seed, seed) for seed in range(4)])
    reader = RolloutReader(paths.rollouts("train"))
    reader.index()
    before = [reader.load(i) for i in range(4)]
    iterating = iter(reader)
    first = next(iterating)
    compact(paths, keep=[False, True, True, True])
    same(first, before[0])
    for i, moved in enumerate(iterating, 1):
        same(moved, before[i])
    same(reader.load(3), before[3])
    with pytest.raises(ValueError, match="has changed; read the index again"):
        reader.load(0)


def test_a_polling_reader_sees_every_trajectory_once_at_all_times(paths, make, start):
    """The compaction runs in another process, again and again over new small shards."""
    rounds, per_round = 4, 6
    text = """
import sys
from pathlib import Path
from conftest import make_trajectory
from store.compact import merge, plan_groups
from store.layout import RunPaths
from store.rollouts import RolloutWriter
paths = RunPaths(Path(sys.argv[1]))
writer = RolloutWriter(paths, "train", spec={}, max_seconds=0)
for seed in range(int(sys.argv[3])):
    print(writer.append(make_trajectory(5, seed)), flush=True)
for round_ in range(int(sys.argv[2]) - 1):
    for group in plan_groups(paths.rollouts("train")):
        merge(paths, "train", group)
    for seed in range(int(sys.argv[3])):
        print(writer.append(make_trajectory(5, seed)), flush=True)
"""
    process = start(text, paths.root, rounds, per_round)
    reader, polls, sealed = RolloutReader(paths.rollouts("train")), 0, 0
    while sealed < rounds * per_round:
        sealed = int(process.stdout.readline())
        for look in (reader, RolloutReader(paths.rollouts("train"))):
            index = look.index()
            assert look.problems == []
            assert index.number.tolist() == list(range(1, len(index) + 1)) and len(index) >= sealed
            assert look.load(len(index) // 2).info.number == index.number[len(index) // 2]
        polls += 1
    assert polls == rounds * per_round and process.wait() == 0


def test_newest_and_protected(paths, make):
    """Seeds 0, 2, 4 carry the wanted instruction (3, 7), but finish only 3; lengths 5, 6, 7, 8, 9."""
    write(paths, [make(5 + seed, seed) for seed in range(5)])
    index = RolloutReader(paths.rollouts("train")).index()
    assert newest(index.length, 17).tolist() == [False, False, False, True, True]
    assert newest(index.length, 16).tolist() == [False, False, False, False, True]
    assert newest(index.length, 0).tolist() == [False] * 5
    assert protected(index).tolist() == [True, False, False, False, False]  # the first that reached goal 3
    sizes = [path.stat().st_size for path in index.paths]
    assert stored_bytes(index).tolist() == sizes
    compact(paths)
    merged = RolloutReader(paths.rollouts("train")).index()
    size = merged.paths[0].stat().st_size
    assert stored_bytes(merged).tolist() == pytest.approx([size * length / 35 for length in range(5, 10)])


def test_completed_wanted_instructions_are_protected(paths, make):
    done = [replace(make(5, seed), instruction=np.array([3], np.int16)) for seed in range(4)]
    write(paths, done)
    index = RolloutReader(paths.rollouts("train")).index()
    assert index.completed.all()
    assert protected(index).tolist() == [True, False, True, False]  # wanted are those of even seeds


def test_dropping_keeps_the_rest(paths, make):
    write(paths, [make(5, seed) for seed in range(4)])
    [(shards, dropped, _)] = compact(paths, keep=[True, False, False, True])
    assert (shards, dropped) == (4, 2)
    assert RolloutReader(paths.rollouts("train")).index().number.tolist() == [1, 4]
    assert compact(paths, keep=[False, False])[0][1] == 2
    assert list(paths.rollouts("train").iterdir()) == []
