"""Instructions for the maze runner: places of the maze that belongs to the world's seed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from agent.envs.maze_layout import maze_of


class PlaceSampler:
    """Draws 1 to `max_length` different free cells other than the start; all of them can be reached."""

    def __init__(self, size: int, max_length: int):
        self._size = size
        self._max_length = max_length

    def sample(self, rng: np.random.Generator, seed: int) -> tuple[tuple[int, ...], bool]:
        """An instruction for the maze of `seed`; never one that the user named: places differ from maze to maze."""
        length = int(rng.integers(1, self._max_length + 1))
        return tuple(rng.choice(maze_of(self._size, seed).places, length, replace=False).tolist()), False

    def observe(self, instruction: Sequence[int], progress: int, achieved: Iterable[int]) -> None:
        """Nothing to learn from what was reached."""

    def snapshot(self) -> dict[str, Any]:
        """Nothing is remembered."""
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        """Nothing is remembered."""
