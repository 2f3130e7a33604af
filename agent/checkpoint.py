"""Checkpoints: a folder that is complete or absent, checked by digest, without code in it.

    checkpoints/<step>/ weights.safetensors optimizer.safetensors state.json meta.json
    checkpoints/{latest,best}   the step each of them means, as text

Knows files and formats. What the state means is the trainer's business.
"""

from __future__ import annotations

import errno
import hashlib
import json
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from safetensors import SafetensorError
from safetensors.torch import load_file
from safetensors.torch import save as to_safetensors
from torch import Tensor

from agent.config import Config, from_mapping
from agent.envs.base import EnvSpec
from agent.forward import build_model
from agent.interface import interface_of
from agent.nets.model import AgentModel
from store.atomic import read_json, sync_directory, to_json, write_bytes, write_json, write_text
from store.errors import AmagoError, CheckpointError, StorageError, storage_guard
from store.layout import RunPaths
from store.runs import open_run

FORMAT = 1
WEIGHTS, OPTIMIZER, STATE, META = "weights.safetensors", "optimizer.safetensors", "state.json", "meta.json"

_META_TYPES = {
    "format": int,
    "step": int,
    "update": int,
    "elapsed": int | float,
    "config": dict,
    "environment": dict,
    "sha256": dict,
}
_PARTIAL, _REPLACED = ".partial", ".replaced"

Pointer = Literal["latest", "best"]


@dataclass(frozen=True)
class Checkpoint:
    """What goes into a checkpoint and comes out of it."""

    weights: dict[str, Tensor]
    optimizer: dict[str, Tensor]
    state: dict[str, Any]  # JSON's own types
    meta: dict[str, Any]  # step, update, elapsed, saved, config, environment, versions


def save(paths: RunPaths, checkpoint: Checkpoint) -> Path:
    """Write `checkpoint` as the latest one of the run; StorageError leaves the earlier ones as they are."""
    final = paths.checkpoint(checkpoint.meta["step"])
    partial = final.with_name(f"{final.name}{_PARTIAL}")
    files = {
        WEIGHTS: to_safetensors(checkpoint.weights),
        OPTIMIZER: to_safetensors(checkpoint.optimizer),
        STATE: json.dumps(to_json(checkpoint.state)).encode(),
    }
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    discard_partial(paths)
    with storage_guard(partial, paths.name):
        partial.mkdir(parents=True)
    try:
        for name, data in files.items():
            write_bytes(partial / name, data, run=paths.name)
        write_json(partial / META, {"format": FORMAT, **checkpoint.meta, "sha256": digests})
        with storage_guard(final, paths.name):
            _put_in_place(partial, final)
    except StorageError:
        discard_partial(paths)  # room for somebody who needs it
        raise
    point(paths, "latest", final)
    return final


def _put_in_place(partial: Path, final: Path) -> None:
    if final.exists():  # updates without a step between them
        final.rename(final.with_name(f"{final.name}{_REPLACED}"))
    partial.rename(final)
    sync_directory(final.parent)
    shutil.rmtree(final.with_name(f"{final.name}{_REPLACED}"), ignore_errors=True)


def point(paths: RunPaths, which: Pointer, checkpoint: Path) -> None:
    """Make "latest" or "best" mean `checkpoint`."""
    write_text(paths.pointer(which), checkpoint.name + "\n")


def prune(paths: RunPaths, keep: int) -> None:
    """Remove all but the `keep` newest checkpoints, the best one and the latest, which may be of an earlier step."""
    kept = (_pointed(paths, "best"), _pointed(paths, "latest"))
    for path in _numbered(paths)[:-keep]:
        if path not in kept:
            with storage_guard(path, paths.name):
                shutil.rmtree(path)


def discard_partial(paths: RunPaths) -> None:
    """Remove what a killed process left behind while saving; what it was about to replace comes back."""
    for leftover in paths.checkpoints.glob(f"*{_REPLACED}"):
        if not leftover.with_suffix("").exists():
            leftover.rename(leftover.with_suffix(""))
    for suffix in (_REPLACED, _PARTIAL):
        for leftover in paths.checkpoints.glob(f"*{suffix}"):
            shutil.rmtree(leftover, ignore_errors=True)


def newest(paths: RunPaths) -> tuple[Path | None, list[str]]:
    """The newest sound checkpoint of a run and one line for each damaged one that was passed over."""
    problems = []
    for path in reversed(_numbered(paths)):
        try:
            verify(path)
        except CheckpointError as error:
            problems.append(str(error))
        else:
            return path, problems
    return None, problems


def resolve(runs_dir: Path, text: str) -> Path:
    """The checkpoint folder meant by RUN, RUN@best, RUN@latest, RUN@STEP, a run's path or a checkpoint's path."""
    if (Path(text) / META).is_file():
        return Path(text).resolve()
    name, _, which = text.partition("@")
    paths = open_run(runs_dir, name)
    if which in ("", "latest"):
        return _latest(paths)
    path = _pointed(paths, "best") if which == "best" else paths.checkpoint(int(which)) if which.isdecimal() else None
    if path is None or not path.is_dir():
        known = ", ".join(p.name for p in _numbered(paths)) or "none"
        raise CheckpointError(f"run {paths.name} has no checkpoint '{which}'; it has {known}")
    return path


def _latest(paths: RunPaths) -> Path:
    """The newest checkpoint; not silently an older one where the newest is damaged."""
    path, problems = newest(paths)
    if problems:
        sound = f"the newest sound one is {paths.name}@{path.name}" if path else "none of the run's is sound"
        raise CheckpointError(f"{problems[0]}; {sound}")
    if path is None:
        raise CheckpointError(f"run {paths.name} has no checkpoint yet")
    return path


def read_meta(path: Path) -> dict[str, Any]:
    """The description of a checkpoint; CheckpointError if there is none or it is not ours."""
    try:
        meta = read_json(path / META)
    except StorageError as error:
        raise CheckpointError(f"{path} is not a usable checkpoint: {error}") from None
    if not isinstance(meta, dict) or any(not isinstance(meta.get(key), kind) for key, kind in _META_TYPES.items()):
        raise CheckpointError(f"{path} is not a checkpoint of amago: {META} lacks what it should say")
    if meta["format"] != FORMAT:
        raise CheckpointError(f"{path} has checkpoint format {meta['format']}, this amago reads {FORMAT}")
    return meta


def verify(path: Path) -> dict[str, Any]:
    """The description of a checkpoint whose files are all there and unchanged; CheckpointError otherwise."""
    meta = read_meta(path)
    for name in (WEIGHTS, OPTIMIZER, STATE):
        try:
            found = _digest(path / name)
        except OSError as error:
            raise CheckpointError(f"checkpoint {path} is damaged: {name}: {error.strerror}") from None
        if found != meta["sha256"].get(name):
            raise CheckpointError(f"checkpoint {path} is damaged: {name} does not match its digest")
    return meta


def load(path: Path) -> Checkpoint:
    """The whole checkpoint, verified."""
    meta = verify(path)
    try:
        return Checkpoint(load_file(path / WEIGHTS), load_file(path / OPTIMIZER), read_json(path / STATE), meta)
    except (SafetensorError, StorageError, OSError) as error:
        raise CheckpointError(f"checkpoint {path} cannot be read: {error}") from None


def load_model(path: Path, spec: EnvSpec) -> tuple[AgentModel, Config]:
    """The trained agent, to be used in the environment described by `spec`.

    CheckpointError when it was trained on something else; the message names every difference.
    """
    meta = verify(path)
    require_environment(path, meta, spec)
    try:
        config = from_mapping(meta["config"])
    except AmagoError as error:
        raise CheckpointError(f"checkpoint {path} describes itself wrongly: {error}") from None
    model = build_model(interface_of(spec), config)
    try:
        load_weights(model, load_file(path / WEIGHTS))
    except (SafetensorError, OSError) as error:
        raise CheckpointError(f"checkpoint {path} cannot be read: {error}") from None
    return model, config


def require_environment(path: Path, meta: dict[str, Any], spec: EnvSpec) -> None:
    """CheckpointError naming every difference if the checkpoint was not trained on the environment of `spec`."""
    try:
        differences = EnvSpec.from_json(meta["environment"]).differences(spec)
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"checkpoint {path} describes its environment wrongly: {error}") from None
    if differences:
        raise CheckpointError(f"checkpoint {path} was trained on another environment: {'; '.join(differences)}")


def load_weights(model: AgentModel, weights: dict[str, Tensor]) -> None:
    """Take over all weights; CheckpointError when a name or a shape differs."""
    try:
        model.load_state_dict(weights)
    except RuntimeError as error:
        first = str(error).splitlines()[1].strip() if "\n" in str(error) else str(error)
        raise CheckpointError(f"the checkpoint's weights do not fit the configured model: {first}") from None


def _numbered(paths: RunPaths) -> list[Path]:
    if not paths.checkpoints.is_dir():
        return []
    found = [path for path in paths.checkpoints.iterdir() if path.name.isdecimal() and path.is_dir()]
    return sorted(found, key=lambda path: int(path.name))


def _pointed(paths: RunPaths, which: Pointer) -> Path | None:
    with suppress(OSError, UnicodeDecodeError):
        name = paths.pointer(which).read_text("utf-8").strip()
        if name.isdecimal():
            return paths.checkpoint(int(name))
    return None


def _digest(path: Path) -> str:
    if path.exists() and not path.is_file():  # a pipe would keep us waiting
        raise OSError(errno.EINVAL, "not a file")
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
