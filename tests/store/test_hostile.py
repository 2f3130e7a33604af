"""Files of a stranger: each is refused in one line, nothing hangs, and nothing outside of the run is touched."""

import json
import os
import subprocess
import sys

import h5py
import numpy as np
import pytest

from store import hdf5
from store.atomic import read_json, write_bytes, write_json
from store.errors import StorageError
from store.hdf5 import encode_file, get_dataset, get_group, get_rows, get_table, get_text, read_rows, reading
from store.layout import RunPaths
from store.lock import RunLock
from store.rollouts import RolloutReader, RolloutWriter
from store.runs import read_config
from store.shard_reader import read_spec

PAIR = np.dtype([("a", "<i4"), ("b", "<f8")])


@pytest.fixture
def build(tmp_path):
    """Makes an HDF5 file by hand and returns its path."""

    def build_file(edit):
        path = tmp_path / "made.h5"
        with h5py.File(path, "w", libver=("v110", "v110")) as file:
            edit(file)
        return path

    return build_file


def bomb(file):
    file.create_dataset("x", (2**29,), "u1", chunks=(2**20,), compression="gzip")


def large_chunk(file):
    file.create_dataset("x", (8,), "u1", maxshape=(None,), chunks=(2**27,), compression="gzip")


def double_deflate(file):
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_chunk((100,))
    properties.set_deflate(9)
    properties.set_deflate(9)
    space = h5py.h5s.create_simple((100,))
    h5py.h5d.create(file.id, b"x", h5py.h5t.NATIVE_UINT8, space, properties)


def unknown_filter(file):
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_chunk((100,))
    properties.set_filter(32015, h5py.h5z.FLAG_OPTIONAL, ())  # zstd, a plug-in
    h5py.h5d.create(file.id, b"x", h5py.h5t.NATIVE_UINT8, h5py.h5s.create_simple((100,)), properties)


def references(file):
    file.create_dataset("x", (1,), h5py.ref_dtype)[0] = file.ref


def variable_length(file):
    file.create_dataset("x", (1,), h5py.vlen_dtype(np.dtype("i4")))


def nested_variable_length(file):
    file.create_dataset("x", (1,), np.dtype([("a", "<i4"), ("b", h5py.string_dtype())]))


def named_type(file):
    file["x"] = np.dtype("<f8")


def empty(file):
    file["x"] = h5py.Empty("f4")


def group(file):
    file.create_group("x")


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (bomb, "claims 536,870,912 bytes"),
        (large_chunk, "in chunks of 134,217,728"),
        (double_deflate, "packed with filters"),
        (unknown_filter, "packed with filters"),
        (references, "variable length"),
        (variable_length, "variable length"),
        (nested_variable_length, "variable length"),
        (named_type, "not a dataset"),
        (empty, "not a dataset"),
        (group, "not a dataset"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_dataset_that_is_not_ours(build, edit, message):
    with pytest.raises(StorageError, match=message), reading(build(edit)) as file:
        get_dataset(file, "x")


@pytest.mark.parametrize(
    "value",
    [np.zeros(4, PAIR), np.zeros(4, np.complex64), np.zeros(4, "S3"), np.zeros(3), np.float64(1)],
    ids=["compound", "complex", "text", "length", "scalar"],
)
def test_rows_are_plain_numbers_of_the_right_count(build, value):
    with (
        pytest.raises(StorageError, match="expected 4 rows of numbers"),
        reading(build(lambda file: file.__setitem__("x", value))) as file,
    ):
        get_rows(file, "x", 4)


@pytest.mark.parametrize(
    ("base", "values", "message"),
    [
        (h5py.h5t.STD_I64LE, np.zeros(4, np.int64), "truth values of 8 bytes"),
        (h5py.h5t.STD_I8LE, np.array([0, 1, 7, 0], np.int8), "neither true nor false"),
    ],
    ids=["width", "content"],
)
def test_truth_values_are_bytes_of_0_and_1(build, base, values, message):
    """Read as the bytes they are: wider ones would not fit, and numpy never looks at others again."""

    def edit(file):
        kind = h5py.h5t.enum_create(base)
        for value, name in enumerate((b"FALSE", b"TRUE")):
            kind.enum_insert(name, value)
        data = h5py.h5d.create(file.id, b"x", kind, h5py.h5s.create_simple((4,)))
        data.write(h5py.h5s.ALL, h5py.h5s.ALL, values, kind)

    with reading(build(lambda file: file.__setitem__("x", np.array([True, False, True])))) as file:
        assert read_rows(get_rows(file, "x", 3), 1, 3).tolist() == [False, True]
    with pytest.raises(StorageError, match=message), reading(build(edit)) as file:
        read_rows(get_rows(file, "x", 4), 0, 4)


@pytest.mark.parametrize(
    "dtype",
    [
        np.dtype([("a", "<i4"), ("b", "<f4")]),
        np.dtype([("a", "<i4"), ("c", "<f8")]),
        np.dtype([("a", ">i4"), ("b", "<f8")]),
        np.dtype({"names": ["a", "b"], "formats": ["<i4", "<f8"], "offsets": [0, 8]}),
        np.dtype([("a", "<i4", 2), ("b", "<f8")]),
        np.dtype([("a", PAIR), ("b", "<f8")]),
    ],
    ids=["type", "name", "byte order", "gap", "array", "nested"],
)
def test_a_table_has_exactly_our_columns(build, dtype):
    with (
        pytest.raises(StorageError, match="other columns"),
        reading(build(lambda file: file.__setitem__("x", np.zeros(2, dtype)))) as file,
    ):
        get_table(file, "x", PAIR)


def test_a_table_is_small_enough_to_be_read_whole(build):
    def large(file):
        rows = np.random.default_rng(0).bytes(60_000)
        file["padding"] = np.frombuffer(rows, np.uint8)  # the file is large enough for deflate to hold so much
        file.create_dataset("x", (6 * 2**20,), PAIR, chunks=(2**14,), compression="gzip")

    with pytest.raises(StorageError, match="x claims"), reading(build(large)) as file:
        get_table(file, "x", PAIR)


def test_a_crowded_group(build):
    def crowd(file):
        for number in range(1001):
            file.create_group(f"x/{number}")

    with pytest.raises(StorageError, match="1,001 members"), reading(build(crowd)) as file:
        get_group(file, "x")


@pytest.mark.parametrize(
    "text",
    [np.array([2**33]), np.array([b"{}", b"{}"]), np.zeros((0,), "S2"), np.zeros((), "S2")],
    ids=["a number", "two", "none", "scalar"],
)
def test_the_description_is_one_text(build, text):
    path = build(lambda file: file.__setitem__("environment", text))
    with pytest.raises(StorageError, match="environment is not one text"):
        read_spec(path)


def test_a_deeply_nested_description(build):
    path = build(lambda file: file.__setitem__("environment", np.array([b"[" * 200_000])))
    with pytest.raises(StorageError, match="is damaged"):
        read_spec(path)


def test_deeply_nested_groups_are_not_walked(build):
    path = build(lambda file: file.create_group("observations/" + "a/" * 500))
    with pytest.raises(StorageError, match="a is not a dataset"), reading(path) as file:
        get_dataset(get_group(file, "observations"), "a")


def test_texts_come_back(tmp_path):
    path = tmp_path / "a.h5"
    path.write_bytes(encode_file({}, {"x": np.array([b'{"name": "crafter"}'])}))
    with reading(path) as file:
        assert json.loads(get_text(file, "x")) == {"name": "crafter"}


@pytest.fixture
def shard(paths, make):
    writer = RolloutWriter(paths, "train", spec={}, max_seconds=0)
    writer.append(make(3))
    return paths.shard("train", 1)


def test_a_fifo_in_place_of_a_shard_or_record_is_named_and_does_not_hang(paths, shard):
    shard.unlink()
    for path in (shard, paths.config):
        os.mkfifo(path)
    reader = RolloutReader(shard.parent)
    assert len(reader.index()) == 0 and "is a FIFO in place of a file" in reader.problems[0]
    with pytest.raises(StorageError, match=r"config\.json is a FIFO"):
        read_config(paths)


def test_a_link_in_place_of_a_shard_or_record_is_not_followed(paths, shard, tmp_path):
    elsewhere = tmp_path / "elsewhere.h5"
    shard.rename(elsewhere)
    shard.symlink_to(elsewhere)
    write_json(tmp_path / "other.json", {"schema_version": 1, "config": {}})
    paths.config.symlink_to(tmp_path / "other.json")
    reader = RolloutReader(shard.parent)
    assert len(reader.index()) == 0 and "is a symbolic link in place of a file" in reader.problems[0]
    with pytest.raises(StorageError, match=r"config\.json is a symbolic link"):
        read_config(paths)


def test_writing_follows_no_link(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    run = tmp_path / "run"
    run.mkdir()
    for name in ("a.json", "a.json.tmp", "run.lock"):
        (run / name).symlink_to(victim)
    write_bytes(run / "a.json", b"{}")
    with pytest.raises(StorageError, match=r"run\.lock"):
        RunLock(RunPaths(run))
    assert victim.read_text() == "precious"
    assert read_json(run / "a.json") == {} and not (run / "a.json").is_symlink()


def test_a_lock_that_the_environment_insists_on_is_done_without(shard, caplog, monkeypatch):
    """HDF5_USE_FILE_LOCKING overrules what we ask for: on a file system without locks nothing could be opened."""
    hdf5._remark_on_locks.cache_clear()
    whole = h5py.File

    def refuse(name, *arguments, **options):
        if isinstance(name, os.PathLike):
            raise OSError(37, "No locks available")
        return whole(name, *arguments, **options)

    monkeypatch.setattr(h5py, "File", refuse)
    for _ in range(2):
        assert len(RolloutReader(shard.parent).index()) == 1
    assert [record.getMessage() for record in caplog.records] == [
        f"files in {shard.parent} cannot be locked (No locks available): they are read without locks"
    ]


def test_a_real_lock_does_not_keep_readers_out(shard):
    text = """
import fcntl, sys
from pathlib import Path
from store.rollouts import RolloutReader
with open(sys.argv[1], "r+b") as file:
    fcntl.flock(file, fcntl.LOCK_EX)
    print(len(RolloutReader(Path(sys.argv[1]).parent).index()))
"""
    environment = {**os.environ, "HDF5_USE_FILE_LOCKING": "TRUE"}
    command = [sys.executable, "-c", text, shard]
    answer = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert answer.stdout == "1\n" and answer.stderr.count("cannot be locked") == 1
