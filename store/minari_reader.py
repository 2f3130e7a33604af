"""Read a Minari dataset that somebody sent: its description, and its episodes one after the other.

Everything is checked before it is used, and whatever is wrong becomes one StorageError that names the file. No code
runs that the files name: spaces and environment stay JSON here. Texts are passed over.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from store.atomic import read_json
from store.errors import StorageError
from store.hdf5 import get_dataset, get_group, get_rows, reading
from store.minari import METADATA, OURS, STEPS, is_dataset_id
from store.minari_episode import DIAGNOSTICS, ROW
from store.minari_images import has_images, is_image, read_elsewhere, read_images
from store.schema import SCHEMA_VERSION
from store.shard import index_dtype, upgraded

_MAX_DEPTH = 8  # of nested spaces
_MAX_METADATA_BYTES = 64 * 1024**2  # the bounds of a large image are written out number by number

_WRONG = (ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError, RecursionError)  # what it can be

Nested = Any
"""An array of T or T+1 rows, or dicts and lists of such, nested like the space they belong to; texts are left out."""


@dataclass(frozen=True)
class MinariDataset:
    """What metadata.json says of a dataset."""

    folder: Path  # of metadata.json
    id: str
    num_episodes: int
    jpeg: bool  # images are stored as JPEG
    observation_space: dict[str, Any]
    action_space: dict[str, Any]
    env_spec: dict[str, Any]  # Gymnasium's description of the environment, empty without one
    ours: dict[str, Any]  # what an export of amago adds, empty for others


@dataclass(frozen=True, eq=False)
class MinariEpisode:
    """One episode of T >= 1 steps."""

    observations: Nested  # T+1 rows
    actions: Nested  # T rows
    rewards: np.ndarray  # (T,) float64
    terminations: np.ndarray  # (T,) bool
    truncations: np.ndarray  # (T,) bool
    seed: int  # -1 where none is told
    infos: dict[str, np.ndarray] = field(default_factory=dict)  # our own alone, T+1 rows
    diagnostics: dict[str, np.ndarray] = field(default_factory=dict)  # our own alone, T+1 rows
    attributes: dict[str, Any] = field(default_factory=dict)  # our own alone

    @property
    def length(self) -> int:
        """T."""
        return len(self.rewards)


def open_dataset(folder: Path) -> MinariDataset:
    """The description of the dataset whose metadata.json lies in `folder`. Raises StorageError."""
    path = folder / METADATA
    if path.is_file() and path.stat().st_size > _MAX_METADATA_BYTES:
        raise StorageError(f"{path} is damaged: it claims more than a description needs")
    record = read_json(path)
    try:
        if record.get("data_format", "hdf5") != "hdf5":
            raise ValueError(f"its data format is {str(record['data_format'])[:40]!r}, only 'hdf5' can be read")
        ours, number = record.get(OURS, {}), record.get("total_episodes")
        if not isinstance(number, int) or number < 0 or not isinstance(ours, dict):
            raise ValueError("it does not say how many episodes there are")
        env_spec = _parsed(record["env_spec"], "env_spec") if record.get("env_spec") else {}
        name = str(record.get("dataset_id"))
        return MinariDataset(
            folder=folder,
            id=name if is_dataset_id(name) else folder.resolve().parent.name,
            num_episodes=number,
            jpeg=bool(record.get("jpeg_encoding", True)),
            observation_space=_parsed(record.get("observation_space"), "observation_space"),
            action_space=_parsed(record.get("action_space"), "action_space"),
            env_spec=env_spec,
            ours=ours,
        )
    except _WRONG as error:
        raise StorageError(f"{path} cannot be read as a Minari dataset: {error}") from None


def read_episodes(dataset: MinariDataset) -> Iterator[MinariEpisode]:
    """The episodes in order, one in memory at a time. Raises StorageError at the first that is damaged."""
    try:
        images = dataset.jpeg and (has_images(dataset.observation_space) or has_images(dataset.action_space))
    except _WRONG as error:
        raise StorageError(f"{dataset.folder / METADATA} describes a space wrongly: {error}") from None
    return read_elsewhere(_read_here, dataset) if images else _read_here(dataset)


def read_lengths(dataset: MinariDataset) -> list[int]:
    """The steps of every episode, without reading any. Raises StorageError."""
    with reading(dataset.folder / STEPS) as file:
        return [len(get_dataset(get_group(file, f"episode_{i}"), "rewards")) for i in range(dataset.num_episodes)]


def _read_here(dataset: MinariDataset) -> Iterator[MinariEpisode]:
    path = dataset.folder / STEPS
    with reading(path) as file:
        for number in range(dataset.num_episodes):
            name = f"episode_{number}"
            try:
                episode = _read_episode(get_group(file, name), dataset)
            except (*_WRONG, OSError, RuntimeError, MemoryError) as error:
                reason = str(error).strip("'\"").splitlines() or [type(error).__name__]
                raise StorageError(f"{path} is damaged: {name}: {reason[0]}") from None
            yield episode


def _read_episode(group: h5py.Group, dataset: MinariDataset) -> MinariEpisode:
    steps = len(get_dataset(group, "rewards"))
    if steps < 1:
        raise ValueError("rewards is empty")
    episode = MinariEpisode(
        observations=_read_nested(group, "observations", dataset.observation_space, steps + 1, dataset.jpeg),
        actions=_read_nested(group, "actions", dataset.action_space, steps, dataset.jpeg),
        rewards=_read_column(group, "rewards", steps).astype(np.float64),
        terminations=_read_column(group, "terminations", steps).astype(bool),
        truncations=_read_column(group, "truncations", steps).astype(bool),
        seed=_read_number(group, "seed", -1),
        **(_read_ours(group, steps) if dataset.ours else {}),
    )
    if not np.isfinite(episode.rewards).all():
        raise ValueError("rewards are not all finite")
    return episode


def _read_nested(parent: h5py.Group, name: str, space: dict[str, Any], rows: int, jpeg: bool, depth: int = 0) -> Nested:
    if depth > _MAX_DEPTH:
        raise ValueError("the space is nested too deeply")
    parts = space.get("subspaces", {})
    match space.get("type"):
        case "Dict":
            group = get_group(parent, name)
            kept = {key: part for key, part in parts.items() if not is_text(part)}
            return {key: _read_nested(group, key, part, rows, jpeg, depth + 1) for key, part in kept.items()}
        case "Tuple":
            group = get_group(parent, name)
            kept = [(f"_index_{i}", part) for i, part in enumerate(parts) if not is_text(part)]
            return [_read_nested(group, key, part, rows, jpeg, depth + 1) for key, part in kept]
        case _ if jpeg and is_image(space):
            return read_images(parent, name, space, rows)
    return get_rows(parent, name, rows)[()]


def is_text(space: dict[str, Any]) -> bool:
    """Whether it is a space of texts, which nothing here reads."""
    return space.get("type") == "Text"


def _read_column(group: h5py.Group, name: str, rows: int) -> np.ndarray:
    column = get_rows(group, name, rows)
    if column.ndim != 1:
        raise ValueError(f"{name} has shape {column.shape}, expected ({rows},)")
    return column[()]


def _read_number(group: h5py.Group, name: str, otherwise: int) -> int:
    if name not in group.attrs:
        return otherwise
    attribute = group.attrs.get_id(name)
    value: Any = group.attrs[name]
    return int(value) if attribute.shape == () and attribute.dtype.kind in "iu" else otherwise


def _read_ours(group: h5py.Group, steps: int) -> dict[str, Any]:
    """What an export of amago tells beside Minari's own: infos, and the rollout that the attempt belongs to."""
    numbers = {name: _read_number(group, f"{OURS}/{name}", 0) for name in ("trial", "attempt", "attempts")}
    row = _read_attribute(group, ROW, [index_dtype(version) for version in range(1, SCHEMA_VERSION + 1)])
    arrays = {
        "row": upgraded(np.atleast_1d(row))[0],
        "goals": np.atleast_1d(_read_attribute(group, f"{OURS}/goals", [np.dtype(np.int16)])),
        "final": bool(_read_attribute(group, f"{OURS}/final", [np.dtype(bool)])),
    }
    found: dict[str, Any] = {"attributes": numbers | arrays}
    if "infos" in group:
        infos = get_group(group, "infos")
        kept = [name for name in ("progress", "achieved") if name in infos]
        found["infos"] = {name: get_rows(infos, name, steps + 1)[()] for name in kept}
        if DIAGNOSTICS in infos:
            notes = get_group(infos, DIAGNOSTICS)
            found["diagnostics"] = {name: get_rows(notes, name, steps + 1)[()] for name in map(str, notes)}
    return found


def _read_attribute(group: h5py.Group, name: str, dtypes: list[np.dtype]) -> Any:
    """An attribute of a type that amago writes. Raises ValueError, KeyError when it is missing."""
    attribute = group.attrs.get_id(name)
    if attribute.dtype not in dtypes or len(attribute.shape) > 1:
        raise ValueError(f"attribute {name} is not what amago writes")
    return group.attrs[name]


def _parsed(text: Any, name: str) -> dict[str, Any]:
    """JSON within JSON."""
    value = json.loads(text) if isinstance(text, str) else None
    if not isinstance(value, dict):
        raise ValueError(f"{name} is missing" if text is None else f"{name} is not a description")
    return value
