"""Crafter's local view in ASCII, for terminals that cannot show a picture: one character for each cell.

Knows names of textures, no colours and no terminal.
"""

import numpy as np

from agent.envs.crafter.textures import MATERIALS, NUM_MATERIALS, NUM_TEXTURES, OBJECTS

PLAYER = "@"

_MATERIAL_GLYPHS = dict(zip(MATERIALS, " ~.#_:TLcidnF", strict=True))
_CREATURE_GLYPHS = {
    "cow": "C",
    "zombie": "Z",
    "skeleton": "S",
    "arrow-left": "<",
    "arrow-right": ">",
    "arrow-up": "^",
    "arrow-down": "v",
    "plant": "p",
    "plant-ripe": "P",
}
_OBJECT_GLYPHS = {name: _CREATURE_GLYPHS.get(name, PLAYER) for name in OBJECTS[1:]}

_WORDS = {"arrow-left": "arrow", "arrow-right": "arrow", "arrow-up": "arrow", "arrow-down": "arrow"} | {
    "plant": "sapling, growing",
    "plant-ripe": "sapling, ripe",
}

LEGEND = {PLAYER: "player"} | {
    glyph: _WORDS.get(name, name) for name, glyph in (_MATERIAL_GLYPHS | _CREATURE_GLYPHS).items()
}
"""What every character means."""

_GLYPHS = np.array(
    [
        _OBJECT_GLYPHS[OBJECTS[texture // NUM_MATERIALS]]
        if texture >= NUM_MATERIALS
        else _MATERIAL_GLYPHS[MATERIALS[texture]]
        for texture in range(NUM_TEXTURES)
    ]
)


def view_glyphs(view: np.ndarray) -> np.ndarray:
    """The characters (7, 9), row by row, of a view (9, 7) of texture ids; an object hides the ground it stands on."""
    return _GLYPHS[view.T]
