"""What the player of a stored trajectory saw, as a picture or as characters, made of the observations alone.

Knows all kinds of observations that can be drawn, no network, no game rule and no file. Observations may come from a
stranger's file: what does not look as it should is not drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from agent.envs.crafter.draw import draw
from agent.envs.crafter.engine import ITEMS, VIEW_SHAPE
from agent.envs.crafter.glyphs import LEGEND, view_glyphs
from agent.envs.crafter.textures import NUM_TEXTURES
from agent.envs.sketches import (
    ADDRESS,
    BALL,
    BEEN,
    BOX,
    CARRYING,
    DOOR,
    FLOOR,
    FORK,
    KEY,
    LOCKED_DOOR,
    OPEN_DOOR,
    PACKAGE,
    PLAYER,
    SIGN,
    SIGN_DOWN,
    SIGN_UP,
    SKETCHES,
    UNKNOWN,
    WALL,
    sketch,
)

_CELLS = 9  # cells along the side of Crafter's frame: every picture is about as large
_MAX_COUNT = 9  # of an item of Crafter's
_BRIGHT = 1.0

_FLOOR_COLOUR = (232, 228, 218)
_COLOURS = {
    UNKNOWN: (28, 28, 32),
    FLOOR: _FLOOR_COLOUR,
    BEEN: (206, 218, 232),
    WALL: (92, 92, 104),
    SIGN: (236, 214, 150),
    PLAYER: (38, 96, 196),
    CARRYING: (220, 140, 20),
    KEY: (220, 180, 40),
    DOOR: (150, 84, 40),
    FORK: (150, 84, 170),
    ADDRESS: (60, 150, 80),
    PACKAGE: (176, 124, 70),
    BALL: (190, 60, 60),
    BOX: (176, 124, 70),
    OPEN_DOOR: (150, 84, 40),
    LOCKED_DOOR: (150, 84, 40),
    SIGN_UP: (190, 60, 60),
    SIGN_DOWN: (190, 60, 60),
}
_GRID_COLOURS = np.array(  # Minigrid's by number: red, green, blue, purple, yellow, grey
    [(208, 44, 44), (40, 150, 60), (44, 84, 220), (128, 52, 190), (226, 190, 20), (120, 120, 124)], np.uint8
)
_GROUNDS = (UNKNOWN, FLOOR, BEEN, WALL, SIGN)  # fill their cell; everything else is a shape on the floor


def picture(environment: str, observations: Mapping[str, np.ndarray], t: int, unit: int = 16) -> np.ndarray | None:
    """The frame that the player saw at state `t` of a trajectory, (H, W, 3) uint8; None when nothing can be drawn.

    `observations` are the trajectory's, by name, each (T+1, ...). Crafter's symbolic ones are drawn as the game draws
    them, `unit` pixels along a cell's side: seven rows of nine cells above two rows of inventory. The noise of the
    night is a function of `t`. Images come enlarged by a whole factor, small worlds as a sketch, both about as large.
    """
    if _is_crafter(environment, observations):
        view, inventory, daylight = _crafter_state(observations, t)
        return draw(view, inventory, daylight, unit, np.random.default_rng(t))
    image = _image(observations)
    if image is not None:
        return _enlarged(image[t], _CELLS * unit)
    grid = sketch(environment, observations, t)
    if grid is None:
        return None
    own = observations["colours"][t] if environment == "babyai" else None
    return _painted(grid, max(_CELLS * unit // max(grid.shape), 2), own)


def glyphs(environment: str, observations: Mapping[str, np.ndarray], t: int) -> list[str] | None:
    """State `t` as rows of one character per cell; None where only a picture could show it, or nothing could."""
    if _is_crafter(environment, observations):
        grid = view_glyphs(_crafter_state(observations, t)[0])
    else:
        grid = sketch(environment, observations, t)
    return None if grid is None else ["".join(row) for row in grid.tolist()]


def legend(environment: str) -> dict[str, str]:
    """What the characters of `glyphs` mean; empty for an environment without them."""
    if environment == "crafter":
        return LEGEND
    return SKETCHES[environment].legend if environment in SKETCHES else {}


def _is_crafter(environment: str, observations: Mapping[str, np.ndarray]) -> bool:
    """Whether these are Crafter's symbolic observations."""
    if environment != "crafter" or not {"view", "inventory", "daylight"} <= observations.keys():
        return False
    rows = (observations["view"], VIEW_SHAPE), (observations["inventory"], (len(ITEMS),))
    return all(array.dtype == np.uint8 and array.shape[1:] == shape for array, shape in rows)


def _crafter_state(observations: Mapping[str, np.ndarray], t: int) -> tuple[np.ndarray, np.ndarray, float]:
    """View, inventory and daylight of state `t`, within the bounds that drawing relies on."""
    view = np.minimum(observations["view"][t], NUM_TEXTURES - 1)
    inventory = np.minimum(observations["inventory"][t], _MAX_COUNT)
    daylight = float(np.nan_to_num(observations["daylight"][t].flat[0], nan=_BRIGHT))
    return view, inventory, min(max(daylight, 0.0), _BRIGHT)


def _image(observations: Mapping[str, np.ndarray]) -> np.ndarray | None:
    """The first observation that is an image: (T+1, H, W, 3) uint8."""
    for array in observations.values():
        if array.dtype == np.uint8 and array.ndim == 4 and array.shape[-1] == 3 and array.size:
            return array
    return None


def _enlarged(image: np.ndarray, size: int) -> np.ndarray:
    """`image` with every pixel repeated so often that its longer side comes nearest to `size`."""
    factor = max(round(size / max(image.shape[:2])), 1)
    return image.repeat(factor, axis=0).repeat(factor, axis=1)


def _painted(grid: np.ndarray, size: int, own: np.ndarray | None) -> np.ndarray:
    """A sketch (rows, columns) as a picture, `size` pixels along a cell's side; `own` numbers the colours of things."""
    rows, columns = grid.shape
    kinds = grid.ravel().tolist()
    colours = [_COLOURS[kind] for kind in kinds] if own is None else _own_colours(kinds, own)
    cells = zip(kinds, colours, strict=True)
    tiles = np.stack([_tile(cell, colour, size) for cell, colour in cells]).reshape(rows, columns, size, size, 3)
    return tiles.transpose(0, 2, 1, 3, 4).reshape(rows * size, columns * size, 3)


def _own_colours(kinds: list[str], own: np.ndarray) -> list[tuple[int, ...]]:
    """A colour for each cell: that of its kind for grounds and for the agent, else the one that `own` numbers."""
    fixed = {**{ground: _COLOURS[ground] for ground in _GROUNDS}, SIGN_UP: _COLOURS[PLAYER]}
    colours = _GRID_COLOURS[np.minimum(own, len(_GRID_COLOURS) - 1)].reshape(-1, 3).tolist()
    return [fixed.get(kind, tuple(colour)) for kind, colour in zip(kinds, colours, strict=True)]


@lru_cache(maxsize=256)
def _tile(cell: str, colour: tuple[int, ...], size: int) -> np.ndarray:
    """(size, size, 3): a ground with a line along two sides, or a shape on the floor."""
    tile = np.full((size, size, 3), colour if cell in _GROUNDS else _FLOOR_COLOUR, np.uint8)
    tile[-1] = tile[:, -1] = tile[0, 0] * 0.85
    if cell not in _GROUNDS:
        tile[_shape(cell, size)] = colour
    tile.setflags(write=False)
    return tile


def _shape(cell: str, size: int) -> np.ndarray:
    """(size, size) bool: where a cell that is no ground has its own colour."""
    y, x = (np.mgrid[:size, :size] + 0.5) / size - 0.5
    away = np.maximum(abs(x), abs(y))
    if cell in (PLAYER, CARRYING, BALL):
        return x**2 + y**2 < 0.36**2
    if cell in (SIGN_UP, SIGN_DOWN):
        height = y if cell == SIGN_UP else -y
        return (abs(height) < 0.35) & (abs(x) < (height + 0.35) / 2)
    if cell == KEY:
        return abs(x) + abs(y) < 0.36
    if cell == OPEN_DOOR:
        return away > 0.36
    if cell == LOCKED_DOOR:
        return (away > 0.12) & (away < 0.46)
    return away < (0.46 if cell == DOOR else 0.3)
