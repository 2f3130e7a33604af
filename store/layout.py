"""Every path of a run directory.

    runs/<name>/ config.json · status.json · run.lock · events.jsonl · trainer.log · orders/
                 rollouts/{train,eval}/000001.h5 · rollouts/last_number.{train,eval} · metrics/0001.h5
                 checkpoints/<step>/ · checkpoints/{latest,best} · reports/
                 damaged/  what a repair took out of its place, under the same paths

It knows names only: it creates nothing and opens nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

SHARD_SUFFIX = ".h5"

Split = Literal["train", "eval"]
SPLITS: tuple[Split, ...] = ("train", "eval")


@dataclass(frozen=True)
class RunPaths:
    """The paths of the run whose directory is `root`."""

    root: Path

    @property
    def name(self) -> str:
        return self.root.name

    @property
    def config(self) -> Path:
        return self.root / "config.json"

    @property
    def status(self) -> Path:
        return self.root / "status.json"

    @property
    def lock(self) -> Path:
        return self.root / "run.lock"

    @property
    def events(self) -> Path:
        return self.root / "events.jsonl"

    @property
    def orders(self) -> Path:
        return self.root / "orders"

    @property
    def trainer_log(self) -> Path:
        return self.root / "trainer.log"

    @property
    def damaged(self) -> Path:
        return self.root / "damaged"

    @property
    def reports(self) -> Path:
        return self.root / "reports"

    @property
    def metrics_dir(self) -> Path:
        return self.root / "metrics"

    def metrics_file(self, number: int) -> Path:
        return self.metrics_dir / f"{number:04d}{SHARD_SUFFIX}"

    def rollouts(self, split: Split) -> Path:
        return self.root / "rollouts" / split

    def shard(self, split: Split, number: int) -> Path:
        return self.rollouts(split) / f"{number:06d}{SHARD_SUFFIX}"

    def last_number(self, split: Split) -> Path:
        """The highest running number that any writer has given to a rollout that had none; often missing."""
        return self.rollouts(split).with_name(f"last_number.{split}")

    @property
    def checkpoints(self) -> Path:
        return self.root / "checkpoints"

    def checkpoint(self, step: int) -> Path:
        return self.checkpoints / str(step)

    def pointer(self, which: Literal["latest", "best"]) -> Path:
        return self.checkpoints / which


def numbered_files(directory: Path) -> list[tuple[int, Path]]:
    """The published files `<number>.h5` of `directory`, in order; empty when the directory does not exist."""
    if not directory.is_dir():
        return []
    files = (path for path in directory.iterdir() if path.suffix == SHARD_SUFFIX and path.stem.isdecimal())
    return sorted((int(path.stem), path) for path in files)


def next_number(directory: Path) -> int:
    """The first number, counted from 1, above every published file of `directory`."""
    files = numbered_files(directory)
    return files[-1][0] + 1 if files else 1
