"""What storing experience costs: room and time of each way to pack it, and how fast windows come back.

    python -m benchmarks.store_speed [--steps 200000] [--seconds 10] [--windows 3000]

A random policy plays Crafter, symbolic and as frames. Its arrays are packed in every way that HDF5 has without
plug-ins, relative to the way we use. Then its symbolic rollouts, repeated up to `--steps` (millions show what a real
run does), are stored as shards, as compacted shards, and as one compressed npz per rollout, and the same random windows
are read from each, by a process of its own. So are the observations alone, which is what replay takes from disk. All
times are of the processor, so that other programs do not disturb them. The last line is one JSON object:

    <kind>_bytes_per_step    by way of packing; OURS names the one we use
    <kind>_write_ratio       time to pack, over ours
    <kind>_read_ratio        time to unpack, over ours
    <store>_windows_per_second, _megabytes    of shards, compacted and npz: windows read, size on disk
    <store>_observations_per_second           the same windows without actions, rewards and the rest
    <store>_rss_megabytes    memory of the process that reads, imports included
    ratio_windows, ratio_observations         shards over npz, whose rollouts of a random policy are hardly longer than
                             a window: the longer rollouts are, the more of an npz is read in vain
    write_microseconds       per step, to store shards
"""

from __future__ import annotations

import argparse
import io
import json
import multiprocessing
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from time import process_time
from typing import Any

import h5py
import numpy as np
import psutil

from store.compact import merge, plan_groups
from store.layout import RunPaths
from store.rollouts import RolloutReader, RolloutWriter
from store.trajectory import Trajectory
from store.windows import WindowReader

WINDOW = 128  # steps
FIELDS = ("actions", "rewards", "terminated", "truncated", "is_first", "progress")
SHARD_BYTES = 3 * 1024**2  # of arrays: half a minute at a thousand steps a second
CHUNK_BYTES, FRAME_CHUNK_BYTES, CHUNK_ROWS = 32 * 1024, 96 * 1024, 4096  # as in store.hdf5

GZIP: dict[str, dict[str, Any]] = {
    f"gzip{level}": {"compression": "gzip", "compression_opts": level} for level in (1, 4)
}
CHECKED = {f"{name} fletcher32": {**filters, "fletcher32": True} for name, filters in GZIP.items()}
SHUFFLED = {name.replace(" ", " shuffle "): {**filters, "shuffle": True} for name, filters in CHECKED.items()}
PACKINGS: dict[str, dict[str, Any]] = {
    "none": {},
    "none fletcher32": {"fletcher32": True},
    "lzf shuffle fletcher32": {"compression": "lzf", "shuffle": True, "fletcher32": True},
    **GZIP,
    **CHECKED,
    **SHUFFLED,
}
OURS = {"symbolic": "gzip4 shuffle fletcher32", "frames": "gzip1 shuffle fletcher32"}


def play(seconds: float, observation: str) -> tuple[list[Trajectory], dict]:
    """Rollouts of a random policy, and the description of their environment."""
    from agent.config import Config, override  # here: the processes that read windows need no torch
    from benchmarks.collector_speed import collect

    config = override(Config(), {"env.observation": observation, "collect.actors": 8, "collect.workers": 1})
    _, finished, spec = collect(config, seconds, with_policy=False)
    return finished, spec


def arrays_of(trajectories: list[Trajectory]) -> dict[str, np.ndarray]:
    """What is stored of each step, end to end."""
    first = trajectories[0]
    arrays = {name: np.concatenate([t.observations[name] for t in trajectories]) for name in first.observations}
    for name in FIELDS:
        arrays[name] = np.concatenate([getattr(t, name) for t in trajectories])
    return arrays


def pack(arrays: dict[str, np.ndarray], filters: dict[str, Any]) -> tuple[int, float, float]:
    """Bytes, and seconds of the processor to write and to read."""
    image = io.BytesIO()
    begin = process_time()
    with h5py.File(image, "w") as file:
        for name, array in arrays.items():
            row_bytes = array.nbytes // len(array)
            chunk_bytes = FRAME_CHUNK_BYTES if row_bytes >= 1024 else CHUNK_BYTES
            rows = min(max(chunk_bytes // row_bytes, 1), CHUNK_ROWS, len(array))
            file.create_dataset(name, data=array, chunks=(rows, *array.shape[1:]), **filters)
    written = process_time()
    with h5py.File(image, "r") as file:
        for name in arrays:
            file[name][()]  # pyright: ignore[reportIndexIssue]
    return image.getbuffer().nbytes, written - begin, process_time() - written


def compare_packings(kind: str, trajectories: list[Trajectory]) -> dict[str, dict[str, float]]:
    """Every packing of these rollouts; times are the best of three."""
    arrays, steps = arrays_of(trajectories), sum(t.length for t in trajectories)
    tries = {name: [pack(arrays, filters) for _ in range(3)] for name, filters in PACKINGS.items()}
    best = {name: [min(column) for column in zip(*found, strict=True)] for name, found in tries.items()}
    ours = best[OURS[kind]]
    return {
        f"{kind}_bytes_per_step": {name: round(found[0] / steps, 2) for name, found in best.items()},
        f"{kind}_write_ratio": {name: round(found[1] / ours[1], 2) for name, found in best.items()},
        f"{kind}_read_ratio": {name: round(found[2] / ours[2], 2) for name, found in best.items()},
    }


def store_all(root: Path, trajectories: list[Trajectory], spec: dict, steps: int) -> float:
    """The rollouts again and again until there are `steps`, as shards and as npz files with the same content.

    Returns the seconds that the shards took.
    """
    writer = RolloutWriter(RunPaths(root / "shards"), "train", spec=spec, max_bytes=SHARD_BYTES, max_seconds=1e9)
    (root / "npz").mkdir()
    seconds, stored = 0.0, 0
    packed = [(trajectory, as_npz(trajectory)) for trajectory in trajectories]
    for number, (trajectory, npz) in enumerate(cycle(packed), 1):
        (root / "npz" / f"{number}.npz").write_bytes(npz)
        begin = process_time()
        writer.append(replace(trajectory, info=replace(trajectory.info, number=number)))
        seconds += process_time() - begin
        stored += trajectory.length
        if stored >= steps:
            break
    writer.close()
    return seconds


def as_npz(trajectory: Trajectory) -> bytes:
    """The same content as a compressed file of numpy's."""
    file = io.BytesIO()
    np.savez_compressed(file, **arrays_of([trajectory]))  # type: ignore[arg-type]
    return file.getvalue()


def compact(root: Path) -> None:
    """A second store of the same rollouts in few shards."""
    shards, compacted = RunPaths(root / "shards"), RunPaths(root / "compacted")
    compacted.rollouts("train").mkdir(parents=True)
    for path in shards.rollouts("train").iterdir():
        (compacted.rollouts("train") / path.name).write_bytes(path.read_bytes())
    for group in plan_groups(compacted.rollouts("train")):
        merge(compacted, "train", group)


def read_windows(root: Path, kind: str, windows: int) -> tuple[float, float, float]:
    """Windows a second, windows of observations alone a second, and megabytes of memory at the end."""
    rng = np.random.default_rng(0)
    reader, places = places_in(root / ("shards" if kind == "npz" else kind), windows, rng)
    begin = process_time()
    for number, start, stop in places:
        if kind == "npz":
            read_npz(root / "npz" / f"{number}.npz", start, stop + 1)
        else:
            reader.window(number, start, stop)
    between = process_time()
    for number, start, stop in places:
        if kind == "npz":
            read_npz(root / "npz" / f"{number}.npz", start, stop + 1, leaving_out=FIELDS)
        else:
            reader.observations(number, start, stop + 1)
    rates = windows / (between - begin), windows / (process_time() - between)
    return *rates, psutil.Process().memory_info().rss / 1e6


def read_npz(path: Path, start: int, stop: int, leaving_out: Sequence[str] = ()) -> dict[str, np.ndarray]:
    """Rows [start, stop) of the arrays in a file; numpy unpacks whole arrays."""
    with np.load(path) as file:
        return {name: file[name][start:stop] for name in file.files if name not in leaving_out}


def places_in(run: Path, windows: int, rng: np.random.Generator) -> tuple[WindowReader, list[tuple[int, int, int]]]:
    """A reader that knows its shards, and number, start and stop of random windows."""
    directory = RunPaths(run).rollouts("train")
    index = RolloutReader(directory).index()
    places = []
    for i in rng.integers(len(index), size=windows):
        start = int(rng.integers(max(index.length[i] - WINDOW, 0) + 1))
        places.append((int(index.number[i]), start, min(start + WINDOW, int(index.length[i]))))
    reader = WindowReader(directory)
    reader.refresh()
    return reader, places


def compare_windows(root: Path, windows: int) -> dict[str, float]:
    """Each store in turn, each in a fresh process."""
    numbers: dict[str, float] = {}
    context = multiprocessing.get_context("spawn")
    for kind in ("shards", "compacted", "npz"):
        with context.Pool(1) as pool:
            whole, observations, rss = pool.apply(read_windows, (root, kind, windows))
        num_bytes = sum(path.stat().st_size for path in (root / kind).rglob("*") if path.is_file())
        numbers |= {
            f"{kind}_windows_per_second": round(whole, 1),
            f"{kind}_observations_per_second": round(observations, 1),
            f"{kind}_megabytes": round(num_bytes / 1e6, 2),
            f"{kind}_rss_megabytes": round(rss, 1),
        }
    for what in ("windows", "observations"):
        rate = f"{what}_per_second"
        numbers[f"ratio_{what}"] = round(numbers[f"shards_{rate}"] / numbers[f"npz_{rate}"], 2)
    return numbers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=200_000)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--windows", type=int, default=3000)
    options = parser.parse_args()
    symbolic, spec = play(options.seconds, "symbolic")
    frames, _ = play(options.seconds, "pixels")
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        seconds = store_all(root, symbolic, spec, options.steps)
        compact(root)
        numbers = {
            "steps": options.steps,
            "write_microseconds": round(seconds / options.steps * 1e6, 2),
            **compare_packings("symbolic", symbolic),
            **compare_packings("frames", frames[:8]),
            **compare_windows(root, options.windows),
        }
    print(json.dumps(numbers))


if __name__ == "__main__":
    main()
