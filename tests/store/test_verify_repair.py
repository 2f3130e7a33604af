"""Damage is found and named; repair keeps what is sound, loses nothing and leaves no trace of itself in a sound run."""

import os
import shutil
import zlib

import h5py
import numpy as np
import pytest

from store.errors import StorageError
from store.events import EventLog, read_events
from store.metrics import MetricsWriter, read_metrics
from store.repair import plan_repair
from store.rollouts import RolloutReader, RolloutWriter
from store.runs import create_run
from store.status import Status, read_status, write_status
from store.verify import verify

SPEC = {"name": "crafter"}


@pytest.fixture
def run(tmp_path, make):
    """A run with everything in it; its second shard holds trajectories 4, 5 and 6 of 3,000 steps each."""
    paths = create_run(tmp_path / "räume und runs", "a", {"env": {"name": "crafter"}})
    write_status(paths, Status(state="stopped", pid=1, host="h", started=0.0, heartbeat=0.0))
    EventLog(paths).append("start", "begun", 0, 0)
    EventLog(paths).append("end", "done", 9, 1)
    metrics = MetricsWriter(paths, 0)
    metrics.log(1, 1, {"loss": 0.5})
    metrics.close()
    for split, length, shards in (("train", 3000, 3), ("eval", 4, 1)):
        writer = RolloutWriter(paths, split, spec=SPEC, max_seconds=1e9)
        for seed in range(3 * shards):
            writer.append(make(length, seed, split=split))
            if seed % 3 == 2:
                writer.seal()
    return paths


def problems(paths):
    return {damage.path.relative_to(paths.root).as_posix(): damage.problem for damage in verify(paths)}


def repair(paths):
    texts = []
    for mending in plan_repair(paths):
        texts.append(mending.text)
        mending.apply()
    return texts


def numbers(paths, split="train"):
    reader = RolloutReader(paths.rollouts(split))
    found = [trajectory.info.number for trajectory in reader]
    assert reader.problems == []
    return found


def flip(path, where):
    content = bytearray(path.read_bytes())
    content[where] ^= 16
    path.write_bytes(content)


def chunk_of(shard, name, row):
    """Where in the file the chunk lies that holds this row, in its middle."""
    with h5py.File(shard, "r") as file:
        dataset = file[name]
        assert dataset.chunks[0] < len(dataset)
        info = dataset.id.get_chunk_info(row // dataset.chunks[0])
        return info.byte_offset + info.size // 2


def files(paths):
    return {path: path.read_bytes() for path in paths.root.rglob("*") if path.is_file()}


def test_a_sound_run_is_sound_and_left_alone(run):
    before = files(run)
    assert problems(run) == {} and repair(run) == []
    assert files(run) == before


def test_a_flipped_bit_costs_the_trajectories_it_lies_in(run, same, make):
    shard = run.shard("train", 2)
    flip(shard, chunk_of(shard, "observations/view", 8000))  # in the third trajectory
    before = shard.read_bytes()
    [text] = problems(run).values()
    assert "000002.h5" in text and "1 of its 3 trajectories cannot be read" in text
    [text] = repair(run)
    assert text.endswith("; 2 recovered")
    assert problems(run) == {} and numbers(run) == [1, 2, 3, 4, 5, 7, 8, 9]
    assert (run.damaged / "rollouts/train/000002.h5").read_bytes() == before
    recovered = RolloutReader(run.rollouts("train"))
    recovered.index()
    same(recovered.load(4), make(3000, 4, number=5))
    assert recovered.spec(4) == SPEC


def test_other_data_that_deflate_takes_for_its_own_is_found(run):
    """Which a few flipped bits can make: only the checksum of HDF5 tells."""
    shard = run.shard("train", 2)
    with h5py.File(shard, "r+") as file:
        rewards = file["rewards"].id
        _, chunk = rewards.read_direct_chunk((0,))
        other = zlib.decompress(chunk[:-4]).replace(b"\x00", b"\x01")
        rewards.write_direct_chunk((0,), zlib.compress(other) + chunk[-4:])
    assert list(problems(run)) == ["rollouts/train/000002.h5"]


def test_a_shard_without_anything_sound_is_set_aside(run):
    shard = run.shard("train", 2)
    content = shard.read_bytes()[:2000]
    shard.write_bytes(content)
    assert list(problems(run)) == ["rollouts/train/000002.h5"]
    assert "; 0 recovered" in repair(run)[0]
    assert problems(run) == {} and numbers(run) == [1, 2, 3, 7, 8, 9]
    assert (run.damaged / "rollouts/train/000002.h5").read_bytes() == content


def test_the_same_name_twice_in_damaged_keeps_both(run):
    shard = run.shard("train", 3)
    for content in (b"first", b"second"):
        shard.write_bytes(content)
        repair(run)
    assert sorted(path.read_bytes() for path in (run.damaged / "rollouts/train").iterdir()) == [b"first", b"second"]


def test_damaged_records_and_metrics(run):
    run.status.write_text('{"state": "dancing"}')
    run.events.write_bytes(run.events.read_bytes() + b'{"time": 1, "st')
    run.metrics_file(1).write_bytes(b"no metrics")
    run.reports.mkdir()
    (run.reports / "one.json").write_text("{")
    found = problems(run)
    assert set(found) == {"status.json", "events.jsonl", "metrics/0001.h5", "reports/one.json"}
    assert "line 3 is not an event" in found["events.jsonl"]
    repair(run)
    assert problems(run) == {}
    assert [event.text for event in read_events(run)] == ["begun", "done"]
    assert read_status(run) is None and read_metrics(run) == {}
    aside = {path.relative_to(run.damaged).as_posix() for path in run.damaged.rglob("*") if path.is_file()}
    assert aside == {"status.json", "events.jsonl", "metrics/0001.h5", "reports/one.json"}


def test_a_damaged_configuration_is_named_and_kept(run):
    run.config.write_text("{")
    assert "not valid JSON" in problems(run)["config.json"]
    assert repair(run) == [] and run.config.read_text() == "{"


def test_leftovers_of_a_killed_process_go(run):
    leftovers = [run.rollouts("train") / "000004.h5.tmp", run.root / "status.json.tmp"]
    for path in leftovers:
        path.write_bytes(b"half")
    assert problems(run) == {}
    assert len(repair(run)) == 2 and not any(path.exists() for path in leftovers)


def test_what_is_no_file_is_named_and_set_aside(run, tmp_path):
    outside = tmp_path / "outside.h5"
    shutil.move(run.shard("train", 2), outside)
    run.shard("train", 2).symlink_to(outside)
    os.mkfifo(run.shard("train", 4))
    content = outside.read_bytes()
    found = problems(run)
    assert "symbolic link" in found["rollouts/train/000002.h5"] and "FIFO" in found["rollouts/train/000004.h5"]
    repair(run)
    assert problems(run) == {} and numbers(run) == [1, 2, 3, 7, 8, 9] and outside.read_bytes() == content


def test_a_directory_that_is_a_link_is_not_worked_in(run, tmp_path):
    shutil.move(run.metrics_dir, tmp_path / "metrics elsewhere")
    run.metrics_dir.symlink_to(tmp_path / "metrics elsewhere")
    (tmp_path / "metrics elsewhere/0001.h5").write_bytes(b"damaged")
    assert "metrics" in problems(run)
    with pytest.raises(StorageError, match="a link that leads out of the run"):
        list(plan_repair(run))


def test_an_index_that_lies_about_its_steps_is_found(run):
    with h5py.File(run.shard("eval", 1), "r+") as file:
        index = file["index"][()]
        index["ret"][1] += 1
        index["progress"][2] = 2
        file["index"][...] = index
    [text] = problems(run).values()
    assert "trajectory 2 has another return" in text and "2 of its 3 trajectories" in text


def test_a_shard_among_those_of_the_other_split_is_found(run):
    shutil.copy(run.shard("eval", 1), run.shard("train", 4))
    [text] = problems(run).values()
    assert "lies among the train shards but says eval" in text
    assert np.array_equal(numbers(run, "eval"), [1, 2, 3])
