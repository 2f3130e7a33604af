"""Write the rollouts of a run as a Minari dataset that `minari.load_dataset` opens, with h5py alone.

Shard by shard, so that memory holds one of them at a time; in a hidden folder that is renamed when it is complete.
Nothing is lost: images stay raw, and what Minari has no place for is in the infos and attributes of the episodes.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from store.atomic import sync_directory, write_json
from store.errors import AmagoError, StorageError, storage_guard
from store.hdf5 import FILE_VERSIONS, write_array
from store.layout import RunPaths, Split
from store.minari import (
    DATA,
    FORMAT_VERSION,
    METADATA,
    NAMESPACE,
    OURS,
    STEPS,
    check_dataset_id,
    minari_space,
    text_space,
)
from store.minari_episode import GOAL, INSTRUCTION, Describe, Episode, episodes_of
from store.rollouts import RolloutReader
from store.runs import read_config
from store.trajectory import Trajectory

_DESCRIPTION = (
    "Rollouts of the amago run {run}, split {split}. An episode is one attempt: amago/trial and amago/attempt tell "
    "which. Where amago/final is false the rollout went on with another attempt: the last observation repeats the one "
    "before, and the end is marked as a truncation."
)
_SPARE_BYTES = 16 * 1024**2  # of the disk, kept free: HDF5 does not recover from a full one


@dataclass
class _Written:
    """What the metadata of the dataset will say."""

    episodes: int = 0
    steps: int = 0
    longest: dict[str, int] = field(default_factory=dict)  # text observation -> characters
    characters: set[str] = field(default_factory=set)


def export_minari(paths: RunPaths, split: Split, root: Path, dataset_id: str, describe: Describe) -> tuple[Path, int]:
    """Write one split of a run as `root`/`dataset_id`; returns that folder and the number of episodes.

    `describe` puts goal ids into words. Raises AmagoError when there is nothing to export or something in the way,
    StorageError when a shard is damaged or the disk refuses.
    """
    folder = root / check_dataset_id(dataset_id)
    if folder.exists():
        raise AmagoError(f"{folder} exists already; remove it, or give the dataset another name")
    reader = RolloutReader(paths.rollouts(split))
    if not len(reader.index()):
        raise AmagoError(f"run {paths.name} has no stored rollouts of the split {split!r}")
    spec, env = reader.spec(0), read_config(paths)["config"].get("env", {})
    _require_names(spec)
    with storage_guard(folder, paths.name):
        _make_namespaces(root, folder.parent)
    partial = folder.with_name(f".{folder.name}.partial")
    try:
        with storage_guard(partial, paths.name):
            shutil.rmtree(partial, ignore_errors=True)  # of an export that was killed
            (partial / DATA).mkdir(parents=True)
        written = _write_steps(partial / DATA / STEPS, reader, paths.name, spec, describe)
        if reader.problems:
            raise StorageError(f"nothing was exported: {'; '.join(reader.problems)}")
        about = {
            "dataset_id": dataset_id,
            "description": _DESCRIPTION.format(run=paths.name, split=split),
            OURS: {"environment": spec, "env": env, "run": paths.name, "split": split},
        }
        _write_metadata(partial / DATA, written, spec, about)
        with storage_guard(folder, paths.name):
            partial.rename(folder)
            sync_directory(folder.parent)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    return folder, written.episodes


def _require_names(spec: dict[str, Any]) -> None:
    """AmagoError where the environment itself observes something by a name that we need."""
    taken = {GOAL, INSTRUCTION} & spec["observation_space"]["spaces"].keys()
    if taken and spec["max_instruction"]:
        raise AmagoError(f"an entry of the observation is called {taken.pop()!r}, as instructions are: not exported")


def _make_namespaces(root: Path, namespace: Path) -> None:
    """The folders above a dataset, each with the file by which Minari knows a namespace."""
    namespace.mkdir(parents=True, exist_ok=True)
    for folder in [namespace, *namespace.parents]:
        if folder == root:
            return
        if not (folder / NAMESPACE).exists():
            write_json(folder / NAMESPACE, {})


def _write_steps(
    path: Path, trajectories: Iterable[Trajectory], run: str, spec: dict[str, Any], describe: Describe
) -> _Written:
    written = _Written()
    with storage_guard(path, run), h5py.File(path, "w", libver=FILE_VERSIONS) as file:
        for trajectory in trajectories:
            _require_space(path, trajectory)
            for episode in episodes_of(trajectory, run, spec, describe):
                _write_episode(file, written.episodes, episode)
                _count(written, episode)
    return written


def _write_episode(file: h5py.File, number: int, episode: Episode) -> None:
    group = file.create_group(f"episode_{number}")
    for path, array in episode.arrays.items():
        write_array(group, path, array)
    sums = {kind: getattr(episode.arrays["rewards"], kind)() for kind in ("sum", "mean", "std", "min", "max")}
    group.attrs["id"] = number
    group.attrs["total_steps"] = len(episode.arrays["rewards"])
    group.attrs.update({f"rewards_{kind}": value for kind, value in sums.items()} | episode.attributes)


def _count(written: _Written, episode: Episode) -> None:
    written.episodes += 1
    written.steps += len(episode.arrays["rewards"])
    for name in (GOAL, INSTRUCTION):
        texts = episode.arrays.get(f"observations/{name}")
        if texts is not None and texts.dtype.kind == "S":
            found = [text.decode() for text in np.unique(texts)]
            written.longest[name] = max(written.longest.get(name, 0), *map(len, found))
            written.characters.update(*found)


def _require_space(path: Path, trajectory: Trajectory) -> None:
    """StorageError before the disk is full: uncompressed, the trajectory must fit."""
    if shutil.disk_usage(path.parent).free < 2 * trajectory.num_bytes + _SPARE_BYTES:
        raise StorageError(f"disk full while writing {path}; free space, or export to another disk")


def _write_metadata(folder: Path, written: _Written, spec: dict[str, Any], about: dict[str, Any]) -> None:
    observed = minari_space(spec["observation_space"])
    for name, longest in written.longest.items():
        observed["subspaces"][name] = text_space(longest, written.characters)
    record = {
        "total_episodes": written.episodes,
        "total_steps": written.steps,
        "data_format": "hdf5",
        "jpeg_encoding": False,
        "observation_space": _json_text(observed),
        "action_space": _json_text(minari_space(spec["action_space"])),
        "minari_version": FORMAT_VERSION,
        "author": [],
        "author_email": [],
        "algorithm_name": OURS,
        "dataset_size": round((folder / STEPS).stat().st_size / 1e6, 1),
        **about,
    }
    write_json(folder / METADATA, record)


def _json_text(space: dict[str, Any]) -> str:
    """With Python's words for infinity, which strict JSON lacks: Minari writes and reads them so."""
    return json.dumps(space)
