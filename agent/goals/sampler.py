"""What every sampler of instructions can do, whatever the environment whose goals it knows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np


class Sampler(Protocol):
    """Draws the instructions of rollouts; what it remembers of earlier ones is saved with the run."""

    def sample(self, rng: np.random.Generator, seed: int) -> tuple[tuple[int, ...], bool]:
        """An instruction for the world of `seed`, and whether it is the one the user wants."""
        ...

    def observe(self, instruction: Sequence[int], progress: int, achieved: Iterable[int]) -> None:
        """Take note of a rollout: the subgoals it finished of its instruction, all goals it reached, wanted or not."""
        ...

    def snapshot(self) -> dict[str, Any]:
        """What it remembers, as JSON's own types."""
        ...

    def restore(self, state: dict[str, Any]) -> None:
        """Take over what `snapshot` returned."""
        ...
