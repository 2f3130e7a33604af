"""Crafter's frames, drawn from symbolic state: the picture that the game itself would show, at any size.

Needs only what the symbolic observation stores, so a recorded run can be looked at later. By day the frame
equals the game's own pixel by pixel; by night the game adds noise from the stream that also drives the world,
so that looking at it would change it: here the noise comes from a stream of the caller's.

Knows the pictures of the crafter package (not its code) and no game rule.
"""

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from PIL import Image, ImageEnhance

from agent.envs.crafter.engine import ITEMS, VIEW_SHAPE
from agent.envs.crafter.textures import MATERIALS, NUM_MATERIALS, NUM_OBJECTS, OBJECT_IDS, OBJECTS

_COLUMNS, _ROWS = VIEW_SHAPE
_ITEM_ROWS = 2
_MAX_COUNT = 9
_OFF_MAP_GREY = 127
_NIGHT_NOISE = (32, 127)
_NIGHT_TINT = (0, 16, 64)
_SLEEP_TINT = (0, 0, 16)
_SLEEPING = OBJECT_IDS["player-sleep"]


def draw(view: np.ndarray, inventory: np.ndarray, daylight: float, unit: int, rng: np.random.Generator) -> np.ndarray:
    """The frame of one state: (9 * unit, 9 * unit, 3) uint8, seven rows of cells above two rows of inventory.

    `view` is (9, 7) texture ids, `inventory` (16,) counts up to 9, `unit` the pixels along a cell's side (the
    game's own 64x64 frame has 7). `rng` is drawn from only at night, when daylight is below 0.5.
    """
    return np.concatenate([_scene(view, daylight, unit, rng), _inventory(inventory, unit)])


def _scene(view: np.ndarray, daylight: float, unit: int, rng: np.random.Generator) -> np.ndarray:
    scene = _lit(_tiled(_cell_tiles(unit)[view.T]), daylight, rng)
    sleeping = view[_COLUMNS // 2, _ROWS // 2] // NUM_MATERIALS == _SLEEPING
    return (_tinted(_desaturated(scene, 0.0), _SLEEP_TINT) if sleeping else scene).astype(np.uint8)


def _inventory(inventory: np.ndarray, unit: int) -> np.ndarray:
    cells = np.zeros((_ITEM_ROWS * _COLUMNS, unit, unit, 3), np.uint8)
    cells[: len(ITEMS)] = _item_tiles(unit)[np.arange(len(ITEMS)), inventory]
    return _tiled(cells.reshape(_ITEM_ROWS, _COLUMNS, unit, unit, 3))


def _tiled(tiles: np.ndarray) -> np.ndarray:
    """(rows, columns, unit, unit, 3) tiles laid out as one picture."""
    rows, columns, unit = tiles.shape[:3]
    return tiles.transpose(0, 2, 1, 3, 4).reshape(rows * unit, columns * unit, 3)


def _lit(scene: np.ndarray, daylight: float, rng: np.random.Generator) -> np.ndarray:
    """daylight * scene + (1 - daylight) * night, worked out in place: fresh memory costs more than the arithmetic."""
    night = scene if daylight >= 0.5 else _noisy(scene, 2 * (0.5 - daylight), rng)
    lit = _tinted(_desaturated(night, 0.4), _NIGHT_TINT)
    lit *= 1 - daylight
    lit += daylight * scene
    return lit


def _noisy(scene: np.ndarray, amount: float, rng: np.random.Generator) -> np.ndarray:
    """(1 - mask) * scene + mask * noise, where the mask is `amount` of the vignette."""
    mask = amount * _vignette(*scene.shape[:2])
    noise = rng.uniform(*_NIGHT_NOISE, scene.shape[:2]).repeat(3).reshape(scene.shape)
    noise *= mask
    np.subtract(1, mask, out=mask)
    mask *= scene
    mask += noise
    return mask


def _desaturated(picture: np.ndarray, colour: float) -> np.ndarray:
    return np.array(ImageEnhance.Color(Image.fromarray(picture.astype(np.uint8))).enhance(colour))


def _tinted(picture: np.ndarray, colour: tuple[int, int, int]) -> np.ndarray:
    tinted = 0.5 * picture
    tinted += _half(colour, *picture.shape[:2])
    return tinted


# Arrays of the frame's full shape: arithmetic with them is several times faster than broadcasting along three colours.


@lru_cache(maxsize=8)
def _half(colour: tuple[int, int, int], height: int, width: int) -> np.ndarray:
    """(height, width, 3): half of one colour."""
    return np.tile(0.5 * np.array(colour), (height, width, 1))


@lru_cache(maxsize=8)
def _vignette(height: int, width: int) -> np.ndarray:
    """(height, width, 3): 0 in the middle, rising towards the edges, with a standard deviation of 0.5."""
    ys, xs = np.linspace(-1, 1, height)[:, None], np.linspace(-1, 1, width)[None, :]
    return np.repeat((1 - np.exp(-0.5 * (xs**2 + ys**2) / 0.5**2))[..., None], 3, axis=-1)


@lru_cache(maxsize=8)
def _cell_tiles(unit: int) -> np.ndarray:
    """(NUM_TEXTURES, unit, unit, 3): the picture of every texture id."""
    grounds = [np.full((unit, unit, 3), _OFF_MAP_GREY, np.uint8)]
    grounds += [_texture(name, unit)[..., :3] for name in MATERIALS[1:]]
    tiles = np.tile(np.stack(grounds), (NUM_OBJECTS, 1, 1, 1))
    for number, name in enumerate(OBJECTS[1:], start=1):
        for tile in tiles[NUM_MATERIALS * number : NUM_MATERIALS * (number + 1)]:
            _paste(tile, 0, _texture(name, unit))
    return tiles


@lru_cache(maxsize=8)
def _item_tiles(unit: int) -> np.ndarray:
    """(16, 10, unit, unit, 3): every item with every count, on black; nothing for a count of 0."""
    tiles = np.zeros((len(ITEMS), _MAX_COUNT + 1, unit, unit, 3), np.uint8)
    for item, name in enumerate(ITEMS):
        for count in range(1, _MAX_COUNT + 1):
            _paste(tiles[item, count], int(0.1 * unit), _texture(name, int(0.8 * unit)))
            _paste(tiles[item, count], int(0.4 * unit), _texture(str(count), int(0.6 * unit)))
    return tiles


def _paste(tile: np.ndarray, offset: int, texture: np.ndarray) -> None:
    """Draw `texture` into `tile` at (offset, offset) through its alpha channel, rounding as the game does."""
    size = len(texture)
    target = tile[offset : offset + size, offset : offset + size]
    if texture.shape[-1] == 3:
        target[:] = texture
        return
    alpha, colour = texture[..., 3:].astype(np.float32) / 255, texture[..., :3].astype(np.float32) / 255
    blended = alpha * colour + (1 - alpha) * (target.astype(np.float32) / 255)
    target[:] = (255 * blended).astype(np.uint8)


def _texture(name: str, size: int) -> np.ndarray:
    """(size, size, 3 or 4) uint8: a picture of the game, scaled without smoothing."""
    with Image.open(_assets() / f"{name}.png") as picture:
        return np.array(picture.resize((size, size), resample=Image.Resampling.NEAREST))


@lru_cache(maxsize=1)
def _assets() -> Path:
    """Folder of the package's pictures, found without importing the package."""
    spec = find_spec("crafter")
    assert spec is not None and spec.submodule_search_locations, "the crafter package is not installed"
    return Path(spec.submodule_search_locations[0]) / "assets"
