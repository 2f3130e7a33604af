"""The maze of a seed: which cells are free, where each move leads, how far one can see.

Rooms lie at odd coordinates, walls between them. A depth-first walk connects all rooms by opening walls, a share of the
other walls is opened too, so that there are several ways to most places. Cells are numbered y * size + x.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

OPENINGS = 0.1  # share of the walls between rooms opened beyond what connects them


@dataclass(frozen=True, eq=False)
class Maze:
    """A maze of N = size * size cells; arrays are read only. `moves` and `sight` of walls mean nothing."""

    free: np.ndarray  # (N,) bool
    start: int  # the room in the middle
    moves: list[list[int]]  # N x 4: the cell that a move (up, right, down, left) leads to, the same one at a wall
    sight: np.ndarray  # (N, 4) uint8: free cells in each of the four directions up to the next wall
    places: np.ndarray  # (P,) free cells other than the start


@lru_cache(maxsize=64)
def maze_of(size: int, seed: int) -> Maze:
    """The maze of odd `size` >= 5 that belongs to a world's seed: the same in every process."""
    assert size >= 5 and size % 2 == 1, size
    return survey(_carve(size, np.random.default_rng(seed)))


def survey(free: np.ndarray) -> Maze:
    """What there is to know of a maze with these free cells (N,); its border is wall."""
    size = math.isqrt(len(free))
    cells = np.arange(size * size)
    targets = (cells[:, None] + _steps(size)) % len(cells)  # only at the border, which is wall, does it wrap around
    moves = np.where(free[targets], targets, cells[:, None])
    start = (size // 2 | 1) * (size + 1)
    places = np.flatnonzero(free & (cells != start))
    sight = _sight(moves)
    for array in (free, sight, places):
        array.setflags(write=False)
    return Maze(free, start, moves.tolist(), sight, places)


def _carve(size: int, rng: np.random.Generator) -> np.ndarray:
    """Free cells (N,) bool."""
    rank = rng.random(size * size).tolist()  # of each wall: the walk goes through the lowest that leads to a new room
    free = np.zeros(size * size, bool)
    steps = _steps(size).tolist()
    inside = {y * size + x for y in range(1, size, 2) for x in range(1, size, 2)}
    path = [size + 1]
    new, opened = inside - {path[0]}, []
    while path:
        ways = [step for step in steps if path[-1] + 2 * step in new]
        if not ways:
            path.pop()
            continue
        step = min(ways, key=lambda step: rank[path[-1] + step])
        opened.append(path[-1] + step)
        path.append(path[-1] + 2 * step)
        new.remove(path[-1])
    free[list(inside)] = free[opened] = True
    return free | (_walls(size) & (rng.random(size * size) < OPENINGS))


def _steps(size: int) -> np.ndarray:
    """What a move up, right, down or left adds to the number of a cell."""
    return np.array([-size, 1, size, -1])


def _walls(size: int) -> np.ndarray:
    """The walls (N,) bool between two neighbouring rooms, opened or not."""
    inner = np.arange(size)
    inner = (inner > 0) & (inner < size - 1)
    odd = np.arange(size) % 2 == 1
    return ((odd[:, None] ^ odd) & inner[:, None] & inner).ravel()


def _sight(moves: np.ndarray) -> np.ndarray:
    """How often each move (N, 4) can be repeated from each cell."""
    here = np.repeat(np.arange(len(moves))[:, None], 4, axis=1)
    sight = np.zeros(moves.shape, np.uint8)
    while True:
        there = moves[here, np.arange(4)]
        moved = there != here
        if not moved.any():
            return sight
        sight += moved
        here = there
