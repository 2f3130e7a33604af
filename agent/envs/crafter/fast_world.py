"""State of one compiled Crafter world, and the numbers that its rules share.

A world is one element of the structured type WORLD: plain numbers in one block of memory, handed to compiled
functions as a numba record. Objects live in slots, in order of birth; slot 0 means "nobody" and the player is
always in slot PLAYER. Chunks are the 12x12 squares by which the game balances its creatures.
"""

from typing import Any, TypeAlias

import numpy as np

from agent.envs.crafter.engine import DEATH_CAUSES, FACINGS, ITEMS, VIEW_SHAPE, WORLD_SIZE
from agent.envs.crafter.fast_jit import constants
from agent.envs.crafter.textures import MATERIAL_IDS, NUM_MATERIALS
from agent.goals.vocabulary import ACHIEVEMENTS

CHUNK_SIZE = 12
CHUNKS_PER_SIDE = -(-WORLD_SIZE // CHUNK_SIZE)
NUM_CHUNKS = CHUNKS_PER_SIDE**2
MAX_SLOTS = 6_400
"""Slots for 4,096 living objects (one a cell) and for those born until the next clearing, ten steps later: at
most three arrows from each of the 648 cells in reach of the player, ten plants and three creatures a
chunk."""

NOBODY, PLAYER = constants(range(2))
KINDS = KIND_PLAYER, KIND_COW, KIND_ZOMBIE, KIND_SKELETON, KIND_ARROW, KIND_PLANT = constants(range(6))
LEFT, RIGHT, UP, DOWN, NOWHERE = constants(range(5))
NUM_DIRECTIONS = NOWHERE
STEP_X = np.array([dx for dx, _ in FACINGS] + [0])
STEP_Y = np.array([dy for _, dy in FACINGS] + [0])

DEATH_BY_ZOMBIE, DEATH_BY_ARROW, DEATH_BY_LAVA, STARVATION, THIRST, EXHAUSTION = constants(range(1, 7))
assert DEATH_CAUSES[1:] == ("zombie", "skeleton arrow", "lava", "starvation", "thirst", "exhaustion")
HEALTH, FOOD, DRINK, ENERGY = constants(ITEMS.index(name) for name in ("health", "food", "drink", "energy"))
(MAX_ITEM,) = constants([9])
GRASS, PATH, WATER, LAVA = constants(MATERIAL_IDS[name] for name in ("grass", "path", "water", "lava"))


def material_set(*names: str) -> Any:
    """A set of materials as a constant: bit m stands for material m."""
    return constants([sum(1 << MATERIAL_IDS[name] for name in names)])[0]


WALKABLE = material_set("grass", "path", "sand")
WALKABLE_TO_PLAYER = WALKABLE | material_set("lava")
WALKABLE_TO_ARROW = WALKABLE | material_set("water", "lava")

WORLD = np.dtype(
    [
        ("random_key", np.uint32, (624,)),
        ("random_used", np.int64),  # how many numbers of random_key are used up
        ("material", np.uint8, (WORLD_SIZE, WORLD_SIZE)),
        ("occupant", np.int32, (WORLD_SIZE, WORLD_SIZE)),  # slot of the object on a cell
        # Slots, filled below num_slots.
        ("num_slots", np.int64),
        ("alive", np.uint8, (MAX_SLOTS,)),  # numba has no arrays of booleans in records
        ("kind", np.int64, (MAX_SLOTS,)),
        ("x", np.int64, (MAX_SLOTS,)),
        ("y", np.int64, (MAX_SLOTS,)),
        ("facing", np.int64, (MAX_SLOTS,)),  # of the player and of arrows
        ("health", np.int64, (MAX_SLOTS,)),  # of all but the player, whose health is an item
        ("timer", np.int64, (MAX_SLOTS,)),  # a zombie's cooldown, a skeleton's reload, a plant's age
        ("arrival", np.int64, (MAX_SLOTS,)),  # rank by the time of entering the present chunk
        ("num_arrivals", np.int64),
        # Chunks.
        ("num_chunks", np.int64),
        ("chunk_order", np.int64, (NUM_CHUNKS,)),  # chunks by the time they first held an object
        ("chunk_known", np.uint8, (NUM_CHUNKS,)),
        ("population", np.int64, (NUM_CHUNKS, len(KINDS))),
        ("ground", np.int64, (NUM_CHUNKS, NUM_MATERIALS)),  # cells of each material
        # The player.
        ("sleeping", np.bool_),
        ("last_health", np.int64),
        ("hunger", np.float64),
        ("thirst", np.float64),
        ("fatigue", np.float64),
        ("recover", np.float64),
        ("inventory", np.uint8, (len(ITEMS),)),
        ("achievements", np.int32, (len(ACHIEVEMENTS),)),
        ("death_cause", np.int64),  # index into DEATH_CAUSES: what last brought health to zero
        # Copies for the observer, written after each step.
        ("position", np.uint8, (2,)),
        ("seen", np.uint8, VIEW_SHAPE),
    ],
    align=True,
)

World: TypeAlias = Any  # a numba record of type WORLD, which no Python type describes
