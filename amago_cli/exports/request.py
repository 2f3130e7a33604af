"""What is to be exported: the options of `amago store export`, for any format."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from store.layout import RunPaths, Split


@dataclass(frozen=True)
class ExportRequest:
    """A format takes from it what it needs."""

    paths: RunPaths
    output: Path
    split: Split
    number: int | None  # running number of the trajectory; None is the newest
    step: int  # the state a single picture shows, 0 is the first
    scale: int  # pictures are that many times as large as usual
    fps: int  # frames per second of a film
