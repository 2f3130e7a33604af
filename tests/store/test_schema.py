"""Files of older versions are read, files of newer ones refused with a line that says why."""

import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest

from store.atomic import read_json, write_json
from store.errors import StorageError
from store.layout import RunPaths
from store.metrics import read_metrics
from store.rollouts import RolloutReader, RolloutWriter
from store.runs import open_run, read_config
from store.schema import SCHEMA_VERSION, check_schema
from store.shard import INDEX_DTYPE, index_dtype, upgraded
from store.status import read_status
from store.windows import WindowReader

GOLDEN = Path(__file__).parent / "golden"  # written by the amago of each version, never again


@pytest.fixture
def old(tmp_path):
    """A run of version 1, free to be changed."""
    return RunPaths(Path(shutil.copytree(GOLDEN / "v1", tmp_path / "v1")))


def test_a_run_of_version_1_opens(old):
    record = read_config(open_run(old.root.parent, "v1"))
    assert (record["schema_version"], record["name"], record["config"]["env"]["name"]) == (1, "v1", "crafter")
    status = read_status(old)
    assert status is not None and (status.state, status.step) == ("finished", 18)
    metrics = read_metrics(old)
    assert metrics["loss/actor"].value.tolist() == [0.5, 0.25] and metrics["recent/return"].step.tolist() == [5]


def test_rollouts_of_version_1_come_back(old, make, same):
    reader = RolloutReader(old.rollouts("train"))
    index = reader.index()
    assert reader.problems == [] and index.length.tolist() == [5, 3] and index.diagnosed.tolist() == [False, False]
    for i, (length, seed) in enumerate([(5, 1), (3, 2)]):
        same(reader.load(i), make(length, seed, number=i + 1))
    assert reader.spec(0) == {"name": "crafter"}
    assert WindowReader(reader.directory).window(1, 1, 3).diagnostics == {}


def test_an_old_run_goes_on_in_the_new_version(old, make, same):
    """Shards of two versions lie side by side."""
    writer = RolloutWriter(old, "train", spec={"name": "crafter"})
    assert writer.append(make(4, 9, noted=True)) == 3
    writer.close()
    reader = RolloutReader(old.rollouts("train"))
    assert reader.index().diagnosed.tolist() == [False, False, True]
    same(reader.load(2), make(4, 9, noted=True, number=3))
    same(reader.load(0), make(5, 1, number=1))


def test_a_run_of_version_2_comes_back(tmp_path, make, same):
    """Its rollouts may have diagnostics, and play no game by name."""
    paths = RunPaths(Path(shutil.copytree(GOLDEN / "v2", tmp_path / "v2")))
    assert read_config(open_run(tmp_path, "v2"))["schema_version"] == 2
    assert read_metrics(paths)["loss/actor"].value.tolist() == [0.5, 0.25]
    train, held_out = (RolloutReader(paths.rollouts(split)) for split in ("train", "eval"))
    assert train.index().diagnosed.tolist() == [False, True] and train.index().game.tolist() == ["", ""]
    same(train.load(0), make(5, 1, number=1))
    same(train.load(1), make(3, 2, noted=True, number=2))
    same(held_out.load(0), make(4, 3, noted=True, split="eval", number=1))


def test_what_is_newer_says_so(old):
    with h5py.File(old.shard("train", 1), "r+") as file:
        file.attrs["schema_version"] = SCHEMA_VERSION + 1
    reader = RolloutReader(old.rollouts("train"))
    assert len(reader.index()) == 0
    [problem] = reader.problems
    assert problem == (
        f"{old.shard('train', 1)} was made by a newer amago: it has schema version {SCHEMA_VERSION + 1}, "
        f"this one reads up to {SCHEMA_VERSION}; update amago"
    )
    write_json(old.config, {**read_json(old.config), "schema_version": SCHEMA_VERSION + 1})
    with pytest.raises(StorageError, match=r"config\.json was made by a newer amago"):
        read_config(old)


@pytest.mark.parametrize("found", [None, 0, -1, True, "2", 1.0])
def test_what_is_no_version_is_damage(found):
    with pytest.raises(StorageError, match=r"file is damaged: .* is no schema version"):
        check_schema(found, Path("file"))


def test_every_readable_version_is_upgraded():
    """Columns are added at the end, so that an older index is the beginning of a newer one."""
    assert index_dtype(SCHEMA_VERSION) == INDEX_DTYPE
    old, names = index_dtype(1), INDEX_DTYPE.names
    assert old.names is not None and names is not None
    assert names == (*old.names, "diagnosed", "game") and index_dtype(2).names == names[:-1]
    records = np.zeros(2, old)
    records["seed"] = [5, 6]
    records["cause"] = b"completed"
    newest = upgraded(records)
    assert newest.dtype == INDEX_DTYPE and newest["seed"].tolist() == [5, 6] and newest["cause"][1] == b"completed"
    assert not newest["diagnosed"].any() and newest["game"].tolist() == [b"", b""]
