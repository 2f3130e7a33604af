"""What Crafter's data file says about collecting, placing and making, as arrays for compiled functions.

Materials and items are numbers here: a material's texture id, an item's place in ITEMS. NOTHING stands for
"no item".
"""

import numpy as np

from agent.envs.crafter.engine import ACTIONS, ITEMS
from agent.envs.crafter.fast_world import material_set
from agent.envs.crafter.textures import MATERIAL_IDS, NUM_MATERIALS
from agent.goals.vocabulary import ACHIEVEMENTS

NOTHING = -1
SAPLING_PROBABILITY = 0.1

# material: (item it takes, item it gives, what is left)
COLLECT = {
    "tree": ("", "wood", "grass"),
    "stone": ("wood_pickaxe", "stone", "path"),
    "coal": ("wood_pickaxe", "coal", "path"),
    "iron": ("stone_pickaxe", "iron", "path"),
    "diamond": ("iron_pickaxe", "diamond", "path"),
    "water": ("", "drink", "water"),
    "grass": ("", "sapling", "grass"),
}
# thing: (item it costs, how many, grounds on which it may be placed)
PLACE = {
    "stone": ("stone", 1, ("grass", "sand", "path", "water", "lava")),
    "table": ("wood", 2, ("grass", "sand", "path")),
    "furnace": ("stone", 4, ("grass", "sand", "path")),
    "plant": ("sapling", 1, ("grass",)),
}
# tool: (items it costs, materials that must be near)
MAKE = {
    "wood_pickaxe": (("wood",), ("table",)),
    "stone_pickaxe": (("wood", "stone"), ("table",)),
    "iron_pickaxe": (("wood", "coal", "iron"), ("table", "furnace")),
    "wood_sword": (("wood",), ("table",)),
    "stone_sword": (("wood", "stone"), ("table",)),
    "iron_sword": (("wood", "coal", "iron"), ("table", "furnace")),
}

FIRST_PLACE_ACTION = ACTIONS.index("place_stone")
FIRST_MAKE_ACTION = ACTIONS.index("make_wood_pickaxe")


def _item(name: str) -> int:
    return ITEMS.index(name) if name else NOTHING


def _by_material(values: dict[str, int]) -> np.ndarray:
    table = np.full(NUM_MATERIALS, NOTHING)
    for name, value in values.items():
        table[MATERIAL_IDS[name]] = value
    return table


COLLECT_NEEDS = _by_material({name: _item(needs) for name, (needs, _, _) in COLLECT.items()})
COLLECT_GIVES = _by_material({name: _item(gives) for name, (_, gives, _) in COLLECT.items()})
COLLECT_LEAVES = _by_material({name: MATERIAL_IDS[leaves] for name, (_, _, leaves) in COLLECT.items()})
COLLECT_ACHIEVEMENT = _by_material(
    {name: ACHIEVEMENTS.index(f"collect_{gives}") for name, (_, gives, _) in COLLECT.items()}
)

PLACE_ITEM = np.array([_item(item) for item, _, _ in PLACE.values()])
PLACE_COST = np.array([cost for _, cost, _ in PLACE.values()])
PLACE_WHERE = np.array([material_set(*where) for _, _, where in PLACE.values()])
PLACE_MATERIAL = np.array([MATERIAL_IDS.get(name, NOTHING) for name in PLACE])
PLACE_ACHIEVEMENT = np.array([ACHIEVEMENTS.index(f"place_{name}") for name in PLACE])

MAKE_COST = np.array([[int(item in costs) for item in ITEMS] for costs, _ in MAKE.values()])
MAKE_NEARBY = np.array([material_set(*nearby) for _, nearby in MAKE.values()])
MAKE_ITEM = np.array([_item(name) for name in MAKE])
MAKE_ACHIEVEMENT = np.array([ACHIEVEMENTS.index(f"make_{name}") for name in MAKE])
