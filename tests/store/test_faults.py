"""A campaign of faults: writers killed at any moment, files cut and bits flipped at any place, disks that fill up.

What was sealed is never lost, damage is found and named, and repair brings the run back to a sound state.
"""

import signal
import time

import h5py
import numpy as np
import pytest
from limits import largest_file

from store.errors import StorageError
from store.metrics import MetricsWriter, read_metrics
from store.repair import plan_repair
from store.rollouts import RolloutReader, RolloutWriter
from store.runs import create_run
from store.verify import verify

WRITE = """
import sys
from pathlib import Path
from conftest import make_trajectory
from store.events import EventLog
from store.layout import RunPaths
from store.metrics import MetricsWriter
from store.rollouts import RolloutWriter
from store.status import Status, write_status
paths, resumed = RunPaths(Path(sys.argv[1])), int(sys.argv[2])
writer = RolloutWriter(paths, "train", spec={}, max_seconds=0)
metrics = MetricsWriter(paths, resumed)
events = EventLog(paths)
step = resumed
while True:
    number = writer.append(make_trajectory(20, step))
    step += 1
    metrics.log(step, step, {"loss": step})
    metrics.flush()
    events.append("checkpoint", "x" * 300, step, step)
    write_status(paths, Status(state="running", pid=1, host="h", started=0.0, heartbeat=0.0, step=step))
    print(number, step, flush=True)
"""


@pytest.fixture
def run(tmp_path):
    return create_run(tmp_path, "a", {})


def problems(paths):
    return [damage.problem for damage in verify(paths)]


def repair(paths):
    for mending in plan_repair(paths):
        mending.apply()


def kill_campaign(run, start, kills, seed):
    """Each writer goes on where the one before was killed, at a random moment after its first line."""
    rng = np.random.default_rng(seed)
    numbers, step = set(), 0
    for _ in range(kills):
        process = start(WRITE, run.root, step)
        lines = [process.stdout.readline()]
        time.sleep(rng.uniform(0, 0.1))
        process.send_signal(signal.SIGKILL)
        output, errors = process.communicate()
        assert errors == ""
        lines += [line for line in output.splitlines(keepends=True) if line.endswith("\n")]
        numbers |= {int(line.split()[0]) for line in lines}
        step = int(lines[-1].split()[1])
        check_nothing_lost(run, numbers, step)
    repair(run)
    assert problems(run) == [] and not list(run.root.rglob("*.tmp"))
    check_nothing_lost(run, numbers, step)


def check_nothing_lost(run, numbers, step):
    """All rollouts that were said to be stored are, each once; a number that a killed writer took may be missing."""
    reader = RolloutReader(run.rollouts("train"))
    found = [trajectory.info.number for trajectory in reader]
    assert reader.problems == [] and found == sorted(set(found)) and numbers.issubset(found)
    assert read_metrics(run)["loss"].step[-1] >= step
    assert [problem for problem in problems(run) if "events.jsonl" not in problem] == []  # a torn last line may be


def test_killed_writers(run, start):
    kill_campaign(run, start, kills=3, seed=0)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_hundred_killed_writers(run, start):
    kill_campaign(run, start, kills=100, seed=1)


def poll_beside_writer(run, start, seconds):
    """What a writer says is sealed, a reader finds at once, whole and unchanged; returns how often it looked."""
    process = start(WRITE, run.root, 0)
    reader, polls, begin = RolloutReader(run.rollouts("train")), 0, time.monotonic()
    seen = {}
    while polls < 25 or time.monotonic() < begin + seconds:
        number, step = map(int, process.stdout.readline().split())
        index = reader.index()
        assert (
            reader.problems == [] and index.number.tolist() == list(range(1, len(index) + 1)) and len(index) >= number
        )
        for place in {len(index) - 1, polls % len(index)}:
            trajectory = reader.load(place)
            assert trajectory.length == 20
            content = hash((trajectory.actions.tobytes(), trajectory.observations["view"].tobytes()))
            assert seen.setdefault(trajectory.info.number, content) == content
        assert read_metrics(run)["loss"].step[-1] >= step
        polls += 1
    assert process.poll() is None
    return polls


def test_a_reader_beside_a_live_writer(run, start):
    assert poll_beside_writer(run, start, seconds=0) == 25


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_reader_beside_a_writer_for_minutes(run, start):
    assert poll_beside_writer(run, start, seconds=180) > 25


@pytest.fixture
def sealed(run, make):
    """Two shards of four trajectories each, of which the campaigns damage the first."""
    writer = RolloutWriter(run, "train", spec={}, max_seconds=1e9)
    for seed in range(8):
        writer.append(make(30, seed, image=True))
        if seed % 4 == 3:
            writer.seal()
    return run


def is_same(found, stored):
    """Whether a trajectory is the stored one, to the bit."""
    pairs = [(found.observations[name], stored.observations[name]) for name in stored.observations]
    pairs += [(getattr(found, name), getattr(stored, name)) for name in ("actions", "rewards", "progress", "events")]
    return found.info == stored.info and all(a.tobytes() == b.tobytes() for a, b in pairs)


def damage_campaign(run, damage, rounds, make):
    """Whatever is done to the shard: what is read is right, what is wrong is found, and repair ends it."""
    stored = {seed + 1: make(30, seed, image=True, number=seed + 1) for seed in range(8)}
    shard = run.shard("train", 1)
    good = shard.read_bytes()
    found_damage = 0
    for round_ in range(rounds):
        shard.write_bytes(damage(good, np.random.default_rng(round_)))
        found_damage += bool(problems(run))
        repair(run)
        assert problems(run) == []
        survivors = list(RolloutReader(run.rollouts("train")))
        assert {5, 6, 7, 8} <= {trajectory.info.number for trajectory in survivors}
        assert all(is_same(trajectory, stored[trajectory.info.number]) for trajectory in survivors)
    return found_damage


def cut(good, rng):
    return good[: rng.integers(len(good))]


def flip(good, rng):
    content = bytearray(good)
    for place in rng.integers(0, len(good), 3):
        content[place] ^= 1 << rng.integers(8)
    return bytes(content)


def test_cut_files(sealed, make):
    assert damage_campaign(sealed, cut, 4, make) == 4


def test_flipped_bits(sealed, make):
    assert damage_campaign(sealed, flip, 6, make) >= 5  # a bit in unused space does no harm


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("damage", [cut, flip])
def test_a_hundred_damaged_files(sealed, make, damage):
    assert damage_campaign(sealed, damage, 100, make) >= 90


def test_a_disk_that_fills_up_while_repairing_or_writing_leaves_the_old_files(sealed, make):
    shard = sealed.shard("train", 1)
    with h5py.File(shard, "r") as file:
        place = file["observations/image"].id.get_chunk_info(0).byte_offset
    damaged = bytearray(shard.read_bytes())
    damaged[place + 100] ^= 1
    shard.write_bytes(damaged)
    [mending] = plan_repair(sealed)
    writer = MetricsWriter(sealed, 0)
    with largest_file(50_000):
        with pytest.raises(StorageError, match="disk full"):
            mending.apply()
        writer.log(1, 1, {str(key): np.random.default_rng(key).random() for key in range(9000)})
        with pytest.raises(StorageError, match="disk full"):
            writer.flush()
    assert shard.read_bytes() == damaged and not list(sealed.root.rglob("*.tmp"))
    writer.close()
    repair(sealed)
    assert problems(sealed) == [] and len(read_metrics(sealed)) == 9000
    assert [trajectory.info.number for trajectory in RolloutReader(shard.parent)] == [2, 3, 4, 5, 6, 7, 8]
