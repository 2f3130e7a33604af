"""Stored rollouts that a new run is made of: those of another run, or a Minari dataset.

The new run gets them as its own, so that it can be looked at, resumed and moved like any other.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amago_cli import configure
from amago_cli.configure import Resolved
from amago_cli.output import command_line
from store.errors import AmagoError

if TYPE_CHECKING:
    from agent.config import Config
    from store.layout import RunPaths

SETTINGS: dict[str, Any] = {"replay.offline": True, "loss.actor": "ind"}
"""Where a configuration for stored rollouts starts.

Filtered cloning alone: AMAGO-2 finds updates by weighted imitation best suited to data that no longer change, for
they never trust the value of an action that nobody tried.
"""


@dataclass(frozen=True)
class Material:
    """Rollouts that can be put into a new run."""

    name: str
    env: dict[str, Any]  # changes to the configuration: "env.name": ...
    unplayable: str  # why the environment cannot be played; empty if it can
    fill: Callable[[RunPaths], None]
    """Put them into a run that has none yet. StorageError if they are damaged or the disk refuses."""

    def describe(self) -> str:
        """What will happen, and what cannot."""
        told = f"learning from {self.name}, playing nothing"
        return f"{told}; it cannot be evaluated: {self.unplayable}" if self.unplayable else told

    def resolve(
        self, preset: str | None, file: Path | None, named: Mapping[str, Any], typed: Iterable[str]
    ) -> Resolved:
        """The configuration of a run that learns from them; see `configure.resolve`."""
        from agent.env_config import UNPLAYABLE

        if preset is None and self.env.get("env.name") == UNPLAYABLE:
            preset = "gym"  # small networks, for observations of which nothing is known
        return configure.resolve(preset, file, named, typed, beneath={**SETTINGS, **self.env})


def find_material(runs_dir: Path, text: str, env_id: str | None = None) -> Material:
    """The rollouts meant by the name or path of a run, or the folder or id of a Minari dataset.

    `env_id` tells which Gymnasium environment a dataset is from. AmagoError if there is nothing of that name.
    """
    from store.minari import datasets_root, find_dataset
    from store.runs import open_run

    folder = find_dataset(text)
    if folder is not None:
        return _from_dataset(folder, env_id)
    try:
        source = open_run(runs_dir, text)
    except AmagoError as error:
        also = f"nor a Minari dataset of that folder or id in {datasets_root()}"
        raise AmagoError(f"{error}; {also}") from None
    if env_id is not None:
        raise AmagoError(f"--id is for datasets of others: run {source.name} says itself what it is from")
    return _from_run(source)


def create(runs_dir: Path, name: str | None, config: Config, preset: str, material: Material) -> RunPaths:
    """A new run that holds the rollouts; if that fails there is none."""
    from store.runs import create_run

    extra = {"command": command_line(), "preset": preset, "rollouts_from": material.name}
    paths = create_run(runs_dir, name, config.model_dump(mode="json"), extra)
    try:
        material.fill(paths)
    except BaseException:
        shutil.rmtree(paths.root, ignore_errors=True)
        raise
    return paths


def _from_dataset(folder: Path, env_id: str | None) -> Material:
    from agent.minari_import import import_dataset
    from store.minari_reader import open_dataset
    from store.rollouts import RolloutWriter

    def fill(paths: RunPaths) -> None:
        writer = RolloutWriter(paths, "train", spec=imported.spec.to_json())
        for trajectory in imported.trajectories:
            writer.append(trajectory)
        writer.close()

    dataset = open_dataset(folder)
    if not dataset.num_episodes:
        raise AmagoError(f"dataset {dataset.id} has no episodes")
    imported = import_dataset(dataset, env_id)
    return Material(dataset.id, imported.env, imported.unplayable, fill)


def _from_run(source: RunPaths) -> Material:
    from store.rollouts import RolloutReader
    from store.runs import read_config

    def fill(paths: RunPaths) -> None:
        paths.rollouts("train").mkdir(parents=True, exist_ok=True)
        for path in shards:
            _link_or_copy(path, paths.rollouts("train") / path.name)

    reader = RolloutReader(source.rollouts("train"))
    shards = reader.index().paths
    if reader.problems or not shards:
        what = "; ".join(reader.problems) or "it has no stored rollouts"
        raise AmagoError(f"run {source.name} cannot be learned from: {what}")
    section = read_config(source)["config"].get("env")
    env = {f"env.{key}": value for key, value in section.items()} if isinstance(section, dict) else {}
    return Material(f"run {source.name}", env, "", fill)


def _link_or_copy(source: Path, target: Path) -> None:
    """Shards never change, so that two runs can share one; where links cannot be made, a copy."""
    from store.errors import storage_guard

    with storage_guard(target):
        with suppress(OSError):
            os.link(source.resolve(), target)
            return
        shutil.copyfile(source, target)
