"""How a Minari dataset lies on disk: names, ids, where datasets are installed, and spaces in its own JSON.

    <datasets>/<namespace>/namespace_metadata.json       at every level of the namespace
    <datasets>/<namespace>/<name>-v<N>/data/metadata.json
    <datasets>/<namespace>/<name>-v<N>/data/main_data.hdf5

Minari itself is not needed. Neither Gymnasium nor what the steps mean is known here.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import numpy as np

from store.errors import AmagoError

METADATA, STEPS, NAMESPACE, DATA = "metadata.json", "main_data.hdf5", "namespace_metadata.json", "data"
FORMAT_VERSION = "0.5.4"  # the first that can store images without loss; what it writes and we do too

OURS = "amago"  # the key of metadata.json, and the prefix of the episodes' attributes, that only we write

_ID = re.compile(r"([A-Za-z0-9_-]+/)*[A-Za-z0-9_-]+-v[0-9]+")


def dataset_id_of(environment: str, run: str) -> str:
    """The id that an exported run gets unless it is named: "amago/<environment>/<run>-v0"."""
    return f"amago/{_plain(environment)}/{_plain(run)}-v0"


def is_dataset_id(text: str) -> bool:
    """Whether `text` has the form of an id, which is also a safe path."""
    return bool(_ID.fullmatch(text))


def check_dataset_id(text: str) -> str:
    """`text`, if it is the id of a dataset; AmagoError otherwise."""
    if not is_dataset_id(text):
        example = "namespace/name-v0, of letters, digits, '_' and '-'"
        raise AmagoError(f"{text!r} is not the id of a Minari dataset; write {example}")
    return text


def datasets_root() -> Path:
    """Where Minari looks for datasets."""
    return Path(os.environ.get("MINARI_DATASETS_PATH") or Path.home() / ".minari" / "datasets")


def find_dataset(text: str) -> Path | None:
    """The data folder of the dataset that `text` names: its own folder, the one above it, or an id; None without."""
    folders = [Path(text), Path(text) / DATA]
    if is_dataset_id(text):
        folders.append(datasets_root() / text / DATA)
    return next((folder for folder in folders if (folder / METADATA).is_file()), None)


def minari_space(space: dict[str, Any]) -> dict[str, Any]:
    """A space as our shards describe it (Gymnasium's kinds, bounds shortened) in the words of Minari."""
    match space["type"]:
        case "Dict":
            return {"type": "Dict", "subspaces": {key: minari_space(part) for key, part in space["spaces"].items()}}
        case "Box":
            bounds = {key: _bound(space, key) for key in ("low", "high")}
            return {"type": "Box", "dtype": space["dtype"], "shape": space["shape"], **bounds}
        case "Discrete":
            return {"type": "Discrete", "dtype": "int64", "start": space["start"], "n": space["n"]}
        case "MultiDiscrete":
            counts = {key: np.broadcast_to(space[key], space["shape"]).tolist() for key in ("nvec", "start")}
            return {"type": "MultiDiscrete", "dtype": space["dtype"], **counts}
        case "MultiBinary":
            shape = space["shape"]
            return {"type": "MultiBinary", "n": shape[0] if len(shape) == 1 else shape}
    raise AmagoError(f"spaces of type {space['type']} cannot be exported")


def text_space(longest: int, characters: set[str]) -> dict[str, Any]:
    """The space of texts of at most `longest` characters, all of them among `characters`."""
    return {"type": "Text", "max_length": max(longest, 1), "min_length": 0, "charset": "".join(sorted(characters))}


def _bound(space: dict[str, Any], key: str) -> Any:
    """Nested lists of the whole shape; infinite where ours has nothing."""
    numbers = np.array(space[key], float)
    infinite = -np.inf if key == "low" else np.inf
    return (
        np.broadcast_to(np.where(np.isnan(numbers), infinite, numbers), space["shape"]).astype(space["dtype"]).tolist()
    )


def _plain(text: str) -> str:
    """`text` in the letters of an id: "gym:CartPole-v1" becomes "gym-CartPole-v1"."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", text).strip("-") or "unnamed"
