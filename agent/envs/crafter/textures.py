"""Texture ids of Crafter's local view: what one byte of the symbolic observation means.

A cell shows a material (the ground) and perhaps an object on it. Objects are drawn with holes through which
the ground is seen, so a picture can be redrawn exactly only if both are known. One byte holds both:

    texture id = NUM_MATERIALS * object id + material id

Hence 0 is a cell off the map, 1..12 are bare materials (Crafter's own material numbers), and everything from
13 on is an object on some ground. `split` takes ids apart, which also lets a network embed the two parts
separately.

This module knows names and numbers only: no picture, no game rule.
"""

import numpy as np

MATERIALS = (
    "off map",
    "water",
    "grass",
    "stone",
    "path",
    "sand",
    "tree",
    "lava",
    "coal",
    "iron",
    "diamond",
    "table",
    "furnace",
)
"""Names by material id, in the order of the game's data file; 0 is no material."""

OBJECTS = (
    "",
    "player-left",
    "player-right",
    "player-up",
    "player-down",
    "player-sleep",
    "cow",
    "zombie",
    "skeleton",
    "arrow-left",
    "arrow-right",
    "arrow-up",
    "arrow-down",
    "plant",
    "plant-ripe",
)
"""Names by object id, the game's names of their pictures; 0 is no object."""

NUM_MATERIALS = len(MATERIALS)
NUM_OBJECTS = len(OBJECTS)
NUM_TEXTURES = NUM_MATERIALS * NUM_OBJECTS
OFF_MAP = 0

MATERIAL_IDS = {name: number for number, name in enumerate(MATERIALS)}
OBJECT_IDS = {name: number for number, name in enumerate(OBJECTS)}


def texture_id(material: str, obj: str = "") -> int:
    """Id of `obj` (a name of OBJECTS, "" for none) standing on `material` (a name of MATERIALS)."""
    return NUM_MATERIALS * OBJECT_IDS[obj] + MATERIAL_IDS[material]


def split(textures: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Material ids and object ids of an array of texture ids; both have its shape and dtype."""
    return textures % NUM_MATERIALS, textures // NUM_MATERIALS


def texture_name(texture: int) -> str:
    """A texture id in words: "off map", "grass", "zombie on grass"."""
    obj, material = divmod(int(texture), NUM_MATERIALS)
    return f"{OBJECTS[obj]} on {MATERIALS[material]}" if obj else MATERIALS[material]
