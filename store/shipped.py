"""Runs that come with the package, to look at and to evaluate before anything has been trained.

Each is a run directory like any other. It is copied to the user's runs when it is first asked for, so that evaluations
and notes have a place to go to and nothing is ever written into the package.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import mkdtemp

from store.errors import storage_guard
from store.layout import RunPaths

_SHIPPED = Path(__file__).parent / "shipped_runs"


def shipped_names() -> list[str]:
    """The runs there are."""
    return sorted(path.parent.name for path in _SHIPPED.glob("*/config.json"))


def unpack(runs_dir: Path, name: str) -> RunPaths:
    """Copy the run `name` to `runs_dir`, unless it has one of that name already. Raises StorageError."""
    target = RunPaths(runs_dir.resolve() / name)
    with storage_guard(target.root, name):
        runs_dir.mkdir(parents=True, exist_ok=True)
        unfinished = Path(mkdtemp(prefix=f".{name}.", dir=target.root.parent))
        try:
            shutil.copytree(_SHIPPED / name, unfinished, copy_function=shutil.copyfile, dirs_exist_ok=True)
            unfinished.rename(target.root)
        except OSError:
            if not target.config.is_file():  # else somebody was faster
                raise
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
    return target
