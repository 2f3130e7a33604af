"""OpenSimplex noise in three dimensions (the version of 2014), equal to the package `opensimplex` to the last
bit.

The sum runs over the corners of a lattice cell in the package's order, and every displacement is rounded in
the package's order too, because a world compares noise with thresholds. Knows nothing of Crafter.
"""

from math import floor
from typing import TypeAlias

import numpy as np

from agent.envs.crafter.fast_jit import part

Tables: TypeAlias = tuple[np.ndarray, np.ndarray]
Cell: TypeAlias = tuple[int, int, int]  # a corner of the lattice
Place: TypeAlias = tuple[float, float, float]  # within a cell

STRETCH = -1.0 / 6
SQUISH = 1.0 / 3
NORMALISER = 103
_MULTIPLIER = 6364136223846793005
_INCREMENT = 1442695040888963407

# fmt: off
GRADIENTS = np.array([
    -11, 4, 4, -4, 11, 4, -4, 4, 11, 11, 4, 4, 4, 11, 4, 4, 4, 11,
    -11, -4, 4, -4, -11, 4, -4, -4, 11, 11, -4, 4, 4, -11, 4, 4, -4, 11,
    -11, 4, -4, -4, 11, -4, -4, 4, -11, 11, 4, -4, 4, 11, -4, 4, 4, -11,
    -11, -4, -4, -4, -11, -4, -4, -4, -11, 11, -4, -4, 4, -11, -4, 4, -4, -11,
], np.float64)
# fmt: on

# Two corners beyond the cell's own contribute as well. Which two follows from a code of the nearest corners
# (one bit for each axis). A row holds a corner's offset (x, y, z) in two parts: the second is subtracted
# last, as the package does it there.
_NONE = ((0, 0, 0, 0, 0, 0), (0, 0, 0, 0, 0, 0))
EXTRA_LOW = np.array(
    (
        _NONE,
        ((1, -1, 0, 0, 0, 0), (1, 0, -1, 0, 0, 0)),
        ((-1, 1, 0, 0, 0, 0), (0, 1, -1, 0, 0, 0)),
        ((1, 1, 0, 0, 0, 0), (1, 1, -1, 0, 0, 0)),
        ((-1, 0, 1, 0, 0, 0), (0, -1, 1, 0, 0, 0)),
        ((1, 0, 1, 0, 0, 0), (1, -1, 1, 0, 0, 0)),
        ((0, 1, 1, 0, 0, 0), (-1, 1, 1, 0, 0, 0)),
    )
)
EXTRA_HIGH = np.array(
    (
        _NONE,
        ((1, 0, 0, 0, 0, 0), (2, 0, 0, 0, 0, 0)),
        ((0, 1, 0, 0, 0, 0), (0, 2, 0, 0, 0, 0)),
        ((2, 1, 0, 0, 0, 0), (1, 1, 0, 0, 1, 0)),
        ((0, 0, 1, 0, 0, 0), (0, 0, 2, 0, 0, 0)),
        ((2, 0, 1, 0, 0, 0), (1, 0, 2, 0, 0, 0)),
        ((0, 1, 1, 0, 1, 0), (0, 1, 2, 0, 0, 0)),
    )
)
EXTRA_MIDDLE = np.array(
    (
        _NONE,
        ((1, 1, 1, 0, 0, 0), (2, 0, 0, 0, 0, 0)),
        ((1, 1, 1, 0, 0, 0), (0, 2, 0, 0, 0, 0)),
        ((0, 0, 0, 0, 0, 0), (1, 1, -1, 0, 0, 0)),
        ((1, 1, 1, 0, 0, 0), (0, 0, 2, 0, 0, 0)),
        ((0, 0, 0, 0, 0, 0), (1, -1, 1, 0, 0, 0)),
        ((0, 0, 0, 0, 0, 0), (-1, 1, 1, 0, 0, 0)),
    )
)
# In the middle, with one near corner on either side, the second corner is two along the axis of the near one.
EXTRA_AXIS = np.array(
    ((0,) * 6, (0, 0, 0, 2, 0, 0), (0, 0, 0, 0, 2, 0), (0,) * 6, (0, 0, 0, 0, 0, 2), (0,) * 6, (0,) * 6)
)


@part
def noise_tables(seed: int) -> Tables:
    """Permutation of 0..255 and, for each of its entries, the start of a gradient; two int64 arrays of
    256."""
    permutation = np.empty(256, np.int64)
    gradient_starts = np.empty(256, np.int64)
    source = np.arange(256)
    for _ in range(3):
        seed = seed * _MULTIPLIER + _INCREMENT
    for i in range(255, -1, -1):
        seed = seed * _MULTIPLIER + _INCREMENT
        chosen = (seed % (i + 1) + 31) % (i + 1)
        permutation[i] = source[chosen]
        gradient_starts[i] = permutation[i] % 24 * 3
        source[chosen] = source[i]
    return permutation, gradient_starts


@part
def _weighted_gradient(tables: Tables, x: int, y: int, z: int, dx: float, dy: float, dz: float) -> float:
    """What the lattice point (x, y, z) adds to a place displaced from it by (dx, dy, dz)."""
    nearness = max(0.0, 2 - dx * dx - dy * dy - dz * dz)  # without a branch: it would often be mispredicted
    permutation, gradient_starts = tables
    start = gradient_starts[(permutation[(permutation[x & 0xFF] + y) & 0xFF] + z) & 0xFF]
    nearness *= nearness
    slope = GRADIENTS[start] * dx + GRADIENTS[start + 1] * dy + GRADIENTS[start + 2] * dz
    return float(nearness * nearness * slope)


@part
def _corner(tables: Tables, cell: Cell, inside: Place, i: float, j: float, k: float) -> float:
    """Contribution of the corner at offset (i, j, k), floats, of the cell."""
    dx, dy, dz = inside
    squish = (i + j + k) * SQUISH
    return _weighted_gradient(
        tables,
        cell[0] + int(i),
        cell[1] + int(j),
        cell[2] + int(k),
        dx - i - squish,
        dy - j - squish,
        dz - k - squish,
    )


@part
def _extra_corner(tables: Tables, cell: Cell, inside: Place, row: np.ndarray) -> float:
    """Contribution of a corner beyond the cell, a row of an EXTRA table."""
    x, y, z = cell
    dx, dy, dz = inside
    i, j, k, late_i, late_j, late_k = row[0], row[1], row[2], row[3], row[4], row[5]
    squish = (i + j + k + late_i + late_j + late_k) * SQUISH
    return _weighted_gradient(
        tables,
        x + i + late_i,
        y + j + late_j,
        z + k + late_k,
        dx - i - squish - late_i,
        dy - j - squish - late_j,
        dz - k - squish - late_k,
    )


@part
def _low_code(xins: float, yins: float, zins: float) -> int:
    """Code of the nearest corners in the tetrahedron at (0, 0, 0)."""
    a, a_score, b, b_score = 1, xins, 2, yins
    if a_score >= b_score and zins > b_score:
        b, b_score = 4, zins
    elif a_score < b_score and zins > a_score:
        a, a_score = 4, zins
    rest = 1 - (xins + yins + zins)
    if rest > a_score or rest > b_score:
        return b if b_score > a_score else a
    return a | b


@part
def _high_code(xins: float, yins: float, zins: float) -> int:
    """Code of the nearest corners in the tetrahedron at (1, 1, 1)."""
    a, a_score, b, b_score = 6, xins, 5, yins
    if a_score <= b_score and zins < b_score:
        b, b_score = 3, zins
    elif a_score > b_score and zins < a_score:
        a, a_score = 3, zins
    rest = 3 - (xins + yins + zins)
    if rest < a_score or rest < b_score:
        return b if b_score < a_score else a
    return a & b


@part
def _middle_codes(xins: float, yins: float, zins: float) -> tuple[int, bool, int, bool]:
    """The two nearest corners in the octahedron, each as (code, whether it lies on the side of (1, 1, 1))."""
    sum_xy, sum_xz, sum_yz = xins + yins, xins + zins, yins + zins
    a, a_far, a_score = (3, True, sum_xy - 1) if sum_xy > 1 else (4, False, 1 - sum_xy)
    b, b_far, b_score = (5, True, sum_xz - 1) if sum_xz > 1 else (2, False, 1 - sum_xz)
    other, other_far, score = (6, True, sum_yz - 1) if sum_yz > 1 else (1, False, 1 - sum_yz)
    if a_score <= b_score and a_score < score:
        a, a_far = other, other_far
    elif a_score > b_score and b_score < score:
        b, b_far = other, other_far
    return a, a_far, b, b_far


@part
def _middle_extras(xins: float, yins: float, zins: float) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the two corners beyond an octahedron."""
    a, a_far, b, b_far = _middle_codes(xins, yins, zins)
    if a_far == b_far:
        code = a & b if a_far else a | b
        return EXTRA_MIDDLE[code, 0], EXTRA_MIDDLE[code, 1]
    far, near = (a, b) if a_far else (b, a)
    return EXTRA_MIDDLE[far, 1], EXTRA_AXIS[near]


@part
def noise3(tables: Tables, x: float, y: float, z: float) -> float:
    """Noise at a point, about -1 to 1; `tables` are those of `noise_tables`."""
    stretch = (x + y + z) * STRETCH
    xs, ys, zs = x + stretch, y + stretch, z + stretch
    cell = floor(xs), floor(ys), floor(zs)
    squish = (cell[0] + cell[1] + cell[2]) * SQUISH
    xins, yins, zins = xs - cell[0], ys - cell[1], zs - cell[2]
    inside = x - (cell[0] + squish), y - (cell[1] + squish), z - (cell[2] + squish)
    in_sum = xins + yins + zins

    value = 0.0
    if in_sum <= 1:
        code = _low_code(xins, yins, zins)
        first, second = EXTRA_LOW[code, 0], EXTRA_LOW[code, 1]
        value += _corner(tables, cell, inside, 0.0, 0.0, 0.0)
    elif in_sum >= 2:
        code = _high_code(xins, yins, zins)
        first, second = EXTRA_HIGH[code, 0], EXTRA_HIGH[code, 1]
    else:
        first, second = _middle_extras(xins, yins, zins)
    if in_sum < 2:
        value += _corner(tables, cell, inside, 1.0, 0.0, 0.0)
        value += _corner(tables, cell, inside, 0.0, 1.0, 0.0)
        value += _corner(tables, cell, inside, 0.0, 0.0, 1.0)
    if in_sum > 1:
        value += _corner(tables, cell, inside, 1.0, 1.0, 0.0)
        value += _corner(tables, cell, inside, 1.0, 0.0, 1.0)
        value += _corner(tables, cell, inside, 0.0, 1.0, 1.0)
    if in_sum >= 2:
        value += _corner(tables, cell, inside, 1.0, 1.0, 1.0)
    value += _extra_corner(tables, cell, inside, first)
    value += _extra_corner(tables, cell, inside, second)
    return value / NORMALISER
