"""A damaged or hostile shard is named and passed over; it never raises, leaves its file or hangs."""

import h5py
import numpy as np
import pytest

from store.errors import StorageError
from store.rollouts import RolloutReader, RolloutWriter
from store.shard import INDEX_DTYPE


@pytest.fixture
def shards(paths, make):
    """Three shards of one trajectory each; the tests damage the second."""
    writer = RolloutWriter(paths, "train", spec={"name": "crafter"}, max_seconds=0)
    for seed in range(3):
        writer.append(make(6, seed))
    return [paths.shard("train", number) for number in (1, 2, 3)]


def survivors(shards):
    reader = RolloutReader(shards[0].parent)
    return [trajectory.info.number for trajectory in reader], reader.problems


def change(path, edit):
    with h5py.File(path, "r+") as file:
        edit(file)


def set_length(file):
    index = file["index"][()]
    index["length"] = 1000
    file["index"][...] = index


def set_negative_length(file):
    index = file["index"][()]
    index["length"] = -1
    file["index"][...] = index


def set_huge_count(file):
    index = file["index"][()]
    index["num_events"] = 2**62
    file["index"][...] = index


def set_other_index(file):
    del file["index"]
    file["index"] = np.zeros(3, np.dtype([("number", "<i8")]))


def set_wide_index(file):
    del file["index"]
    file["index"] = np.zeros((1, 1), INDEX_DTYPE)


def set_pickled_objects(file):
    del file["rewards"]
    file.create_dataset("rewards", (6,), h5py.string_dtype())


def set_soft_link(file):
    del file["rewards"]
    file["rewards"] = h5py.SoftLink("/actions")


def set_external_link(file):
    del file["rewards"]
    file["rewards"] = h5py.ExternalLink("000001.h5", "/rewards")


def set_external_group(file):
    del file["observations"]
    file["observations"] = h5py.ExternalLink("000001.h5", "/observations")


def set_external_data(file):
    del file["rewards"]
    file.create_dataset("rewards", (6,), "<f4", external=[("/etc/passwd", 0, 24)])


def set_virtual_data(file):
    del file["rewards"]
    layout = h5py.VirtualLayout((6,), "<f4")
    layout[:] = h5py.VirtualSource("000001.h5", "rewards", (6,))
    file.create_virtual_dataset("rewards", layout)


def set_bomb(file):
    del file["index"]
    file.create_dataset("index", (2**40,), INDEX_DTYPE, chunks=(2**14,), compression="gzip")


def set_diagnosed(file):
    index = file["index"][()]
    index["diagnosed"] = True
    file["index"][...] = index


def set_short_diagnostics(file):
    set_diagnosed(file)
    file["diagnostics/values"] = np.zeros((5, 2), np.float16)


def set_wide_diagnostics(file):
    set_diagnosed(file)
    file["diagnostics/values"] = np.zeros((6, 2), np.float64)


def set_other_split(file):
    file.attrs["split"] = np.bytes_(b"test")


def set_long_attribute(file):
    file.attrs["kind"] = "variable length"


def set_impossible_progress(file):
    file["progress"][3] = 200


EDITS = {
    set_length: "expected 1000 rows|expected 1001 rows",
    set_negative_length: "impossible length",
    set_huge_count: "impossible num_events",
    set_other_index: "index has other columns",
    set_wide_index: "index has other columns",
    set_pickled_objects: "rewards has entries of variable length",
    set_soft_link: "rewards leads out of its place",
    set_external_link: "rewards leads out of its place",
    set_external_group: "observations leads out of its place",
    set_external_data: "rewards keeps its data in another file",
    set_virtual_data: "rewards keeps its data in another file",
    set_bomb: "index claims",
    set_diagnosed: "diagnostics is missing",
    set_short_diagnostics: "values has type float16 and shape (5, 2), expected 6 rows",
    set_wide_diagnostics: "trajectory field diagnostics/values",
    set_other_split: "split is 'test'",
    set_long_attribute: "attribute kind is neither a number nor short text",
    set_impossible_progress: "trajectory field progress",
}


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.__name__)
def test_a_shard_that_lies_is_passed_over(shards, edit):
    change(shards[1], edit)
    numbers, problems = survivors(shards)
    assert numbers == [1, 3]
    [problem] = problems
    assert problem.startswith(f"{shards[1]} is damaged: ")
    assert any(text in problem for text in EDITS[edit].split("|")), problem


@pytest.mark.parametrize(
    "name", ["index", "instruction", "events", "observations", "is_first", "actions", "rewards", "truncated"]
)
def test_a_missing_part_is_named(shards, name):
    change(shards[1], lambda file: file.__delitem__(name))
    numbers, problems = survivors(shards)
    assert numbers == [1, 3]
    assert f"{name} is missing" in problems[0]


@pytest.mark.parametrize("content", [b"", b"not HDF5", b"\x89HDF\r\n\x1a\n", b"\x89HDF\r\n\x1a\n" + bytes(2000)])
def test_a_file_that_is_not_hdf5_is_passed_over(shards, content):
    shards[1].write_bytes(content)
    numbers, problems = survivors(shards)
    assert numbers == [1, 3] and len(problems) == 1


def test_truncated_and_flipped_files_never_raise_and_never_hang(shards):
    good = shards[1].read_bytes()
    rng = np.random.default_rng(0)
    for round_ in range(60):
        damaged = bytearray(good)
        for position in rng.integers(0, len(good), 1 + round_ % 4):
            damaged[position] = rng.integers(0, 256)
        size = rng.integers(0, len(good)) if round_ % 3 == 0 else len(good)
        shards[1].write_bytes(damaged[:size])
        numbers, problems = survivors(shards)
        assert {1, 3} <= set(numbers)
        assert len(numbers) + len(problems) == 3


def test_loading_names_the_damaged_shard(shards):
    reader = RolloutReader(shards[0].parent)
    assert len(reader.index()) == 3
    change(shards[1], set_soft_link)
    with pytest.raises(StorageError, match=r"000002\.h5 is damaged"):
        reader.load(1)
    shards[1].unlink()
    with pytest.raises(StorageError, match=r"000002\.h5 does not exist any more"):
        reader.load(1)
    assert len(reader.index()) == 2


def test_a_repaired_shard_is_looked_at_again(shards):
    good = shards[1].read_bytes()
    shards[1].write_bytes(good[:100])
    reader = RolloutReader(shards[0].parent)
    assert len(reader.index()) == 2 and len(reader.problems) == 1
    shards[1].write_bytes(good)
    assert len(reader.index()) == 3 and reader.problems == []


def test_foreign_files_in_the_directory_are_ignored(shards):
    directory = shards[0].parent
    for name in ("notes.txt", "000009.h5.tmp", "final.h5"):
        (directory / name).write_bytes(b"x")
    assert survivors(shards) == ([1, 2, 3], [])


def test_a_directory_in_place_of_a_shard_is_passed_over(shards):
    shards[1].unlink()
    shards[1].mkdir()
    numbers, problems = survivors(shards)
    assert numbers == [1, 3] and len(problems) == 1


def test_another_program_that_holds_a_shard_open_disturbs_nobody(shards, paths, make, start):
    text = "import h5py, sys, time; f = h5py.File(sys.argv[1]); print('open', flush=True); time.sleep(60)"
    holder = start(text, shards[0])
    assert holder.stdout.readline() == "open\n"
    assert survivors(shards) == ([1, 2, 3], [])
    writer = RolloutWriter(paths, "train", spec={}, max_seconds=0)
    assert writer.append(make(2)) == 4
