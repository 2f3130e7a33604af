"""What the agent sees of a Crafter game: the three kinds of observation and their spaces.

Each kind is a pair of a space and a function of an engine's state; observations are fresh arrays that nobody
overwrites.
"""

from collections.abc import Callable

import numpy as np
from gymnasium import spaces

from agent.envs.crafter.draw import draw
from agent.envs.crafter.engine import FACINGS, ITEMS, VIEW_SHAPE, WORLD_SIZE, Engine
from agent.envs.crafter.textures import NUM_TEXTURES

Observation = dict[str, np.ndarray]

_UNIT = 7  # pixels along a cell's side in the game's own frame
_FRAME_SIZE = 64  # nine cells of seven pixels, and one row and column of black
_CROP_HEIGHT = 48  # leaves out the inventory

_MIDDLE_X, _MIDDLE_Y = (size // 2 for size in VIEW_SHAPE)  # of the view, where the player is

_INVENTORY = spaces.Box(0, 9, (len(ITEMS),), np.uint8)


def _image(height: int) -> spaces.Box:
    return spaces.Box(0, 255, (height, _FRAME_SIZE, 3), np.uint8)


OBSERVATION_SPACES = {
    "symbolic": spaces.Dict(
        {
            "view": spaces.MultiDiscrete(np.full(VIEW_SHAPE, NUM_TEXTURES), np.uint8),
            "facing": spaces.MultiDiscrete([len(FACINGS)], np.uint8),
            "ahead": spaces.MultiDiscrete([NUM_TEXTURES], np.uint8),
            "inventory": _INVENTORY,
            "position": spaces.Box(0, WORLD_SIZE - 1, (2,), np.uint8),
            "daylight": spaces.Box(0.0, 1.0, (1,), np.float32),
        }
    ),
    "crop": spaces.Dict({"image": _image(_CROP_HEIGHT), "inventory": _INVENTORY}),
    "pixels": spaces.Dict({"image": _image(_FRAME_SIZE)}),
}
"""Observation spaces by kind; all are Dict spaces."""


def observer(kind: str) -> Callable[[Engine, np.random.Generator], Observation]:
    """The function that makes observations of a kind, given an engine and a stream for night noise."""
    return {"symbolic": _symbolic, "crop": _crop, "pixels": _pixels}[kind]


def _symbolic(engine: Engine, noise: np.random.Generator) -> Observation:
    dx, dy = FACINGS[engine.facing]
    return {
        "view": engine.view.copy(),
        "facing": np.array([engine.facing], np.uint8),
        # What the player would act on. The view and the facing tell it too, but that a network learns ten times slower.
        "ahead": np.array([engine.view[_MIDDLE_X + dx, _MIDDLE_Y + dy]], np.uint8),
        "inventory": engine.inventory.copy(),
        "position": engine.position.copy(),
        "daylight": np.array([engine.daylight], np.float32),
    }


def _crop(engine: Engine, noise: np.random.Generator) -> Observation:
    return {"image": _frame(engine, noise)[:_CROP_HEIGHT].copy(), "inventory": engine.inventory.copy()}


def _pixels(engine: Engine, noise: np.random.Generator) -> Observation:
    return {"image": _frame(engine, noise)}


def _frame(engine: Engine, noise: np.random.Generator) -> np.ndarray:
    """The game's own 64x64 frame."""
    picture = draw(engine.view, engine.inventory, engine.daylight, _UNIT, noise)
    frame = np.zeros((_FRAME_SIZE, _FRAME_SIZE, 3), np.uint8)
    frame[: picture.shape[0], : picture.shape[1]] = picture
    return frame
