"""Checkpoints as `amago store` looks at them: which are damaged, and what makes a run with damaged ones usable again.

Their format is `agent.checkpoint`'s, which needs torch: it is loaded only where there are checkpoints.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Literal

from store.atomic import read_plain
from store.errors import CheckpointError, StorageError
from store.layout import RunPaths
from store.repair import Mending, set_aside
from store.verify import Damage

Pointer = Literal["latest", "best"]
POINTERS: tuple[Pointer, ...] = ("latest", "best")

_MAX_POINTER_BYTES = 64


def damaged_checkpoints(paths: RunPaths) -> Iterator[Damage]:
    """Checkpoints whose files do not match their digests, and pointers that lead nowhere."""
    for folder in _folders(paths):
        problem = _problem(folder)
        if problem:
            yield Damage(folder, problem)
    for which in POINTERS:
        pointer = paths.pointer(which)
        if (pointer.exists() or pointer.is_symlink()) and pointed(paths, which) is None:
            yield Damage(pointer, f"{pointer} is damaged: it leads to no checkpoint")


def plan_checkpoint_repair(paths: RunPaths) -> Iterator[Mending]:
    """Damaged checkpoints out of the way, pointers to the newest sound one where they lead to none."""
    if not paths.checkpoints.is_dir():
        return
    from agent.checkpoint import discard_partial, point

    for leftover in sorted([*paths.checkpoints.glob("*.partial"), *paths.checkpoints.glob("*.replaced")]):
        yield Mending(f"{leftover} was left by a killed process; put right", partial(discard_partial, paths))
    problems = {folder: _problem(folder) for folder in _folders(paths)}
    for folder, problem in problems.items():
        if problem:
            yield Mending(f"{problem}; moved to {paths.damaged.name}/", partial(set_aside, paths, folder))
    sound = [folder for folder, problem in problems.items() if not problem]
    for which in POINTERS:
        mend = which == "latest" or paths.pointer(which).exists() or paths.pointer(which).is_symlink()
        if sound and mend and pointed(paths, which) not in sound:
            text = f"{paths.pointer(which)} leads to no sound checkpoint; now to {sound[-1].name}"
            yield Mending(text, partial(point, paths, which, sound[-1]))


def _folders(paths: RunPaths) -> list[Path]:
    """The checkpoints by step."""
    if not paths.checkpoints.is_dir():
        return []
    return sorted((path for path in paths.checkpoints.iterdir() if path.name.isdecimal()), key=lambda p: int(p.name))


def _problem(folder: Path) -> str:
    """What is wrong with a checkpoint, in one line; empty if it is sound."""
    from agent.checkpoint import verify

    if folder.is_symlink() or not folder.is_dir():
        return f"{folder} is damaged: it is not a directory"
    strange = [path.name for path in folder.iterdir() if path.is_symlink() or not path.is_file()]
    if strange:  # reading a FIFO would wait for ever
        return f"checkpoint {folder} is damaged: {strange[0]} is not a plain file"
    try:
        verify(folder)
    except CheckpointError as error:
        return str(error)
    return ""


def pointed(paths: RunPaths, which: Pointer) -> Path | None:
    """The folder that a pointer means, if there is one."""
    try:
        name = read_plain(paths.pointer(which), _MAX_POINTER_BYTES).decode("utf-8", "replace").strip()
    except StorageError:
        return None
    folder = paths.checkpoints / name
    return folder if name.isdecimal() and folder.is_dir() else None
