"""State of one compiled Crafter world and the moves every rule is made of.

A world is one element of the structured type WORLD: plain numbers in one block of memory, handed to compiled
functions as a numba record. Objects live in slots, in order of birth; slot 0 means "nobody" and the player is
always in slot PLAYER. Chunks are the 12x12 squares by which the game balances its creatures. Rules of
particular creatures are elsewhere.
"""

from typing import Any, TypeAlias

import numpy as np

from agent.envs.crafter.engine import DEATH_CAUSES, FACINGS, ITEMS, VIEW_SHAPE, WORLD_SIZE
from agent.envs.crafter.fast_jit import constants, part
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


@part
def inside(x: int, y: int) -> bool:
    """Whether a cell is on the map."""
    return 0 <= x < WORLD_SIZE and 0 <= y < WORLD_SIZE


@part
def chunk_at(x: int, y: int) -> int:
    """Number of the chunk of a cell."""
    return (x // CHUNK_SIZE) * CHUNKS_PER_SIDE + y // CHUNK_SIZE


@part
def material_at(world: World, x: int, y: int) -> np.int64 | int:
    """Material of a cell, 0 off the map."""
    return np.int64(world.material[x, y]) if inside(x, y) else 0


@part
def occupant_at(world: World, x: int, y: int) -> np.int64 | int:
    """Slot of the object on a cell, NOBODY off the map."""
    return np.int64(world.occupant[x, y]) if inside(x, y) else NOBODY


@part
def set_material(world: World, x: int, y: int, material: int) -> None:
    """Change the ground of a cell on the map."""
    ground = world.ground[chunk_at(x, y)]
    ground[world.material[x, y]] -= 1
    ground[material] += 1
    world.material[x, y] = material


@part
def is_free(world: World, x: int, y: int, walkable: int) -> bool:
    """Whether nobody is on a cell and its material is in the set `walkable`."""
    return inside(x, y) and world.occupant[x, y] == NOBODY and (walkable >> world.material[x, y]) & 1 == 1


@part
def distance_to_player(world: World, x: int, y: int) -> int:
    """Steps from a cell to the player."""
    return abs(x - world.x[PLAYER]) + abs(y - world.y[PLAYER])


@part
def _enter_chunk(world: World, slot: int, chunk: int) -> None:
    if not world.chunk_known[chunk]:
        world.chunk_known[chunk] = True
        world.chunk_order[world.num_chunks] = chunk
        world.num_chunks += 1
    world.population[chunk, world.kind[slot]] += 1
    world.arrival[slot] = world.num_arrivals
    world.num_arrivals += 1


@part
def add_object(world: World, kind: int, x: int, y: int, health: int) -> int:
    """Put a new object on an empty cell; returns its slot."""
    slot = world.num_slots
    world.num_slots += 1
    world.alive[slot] = True
    world.kind[slot] = kind
    world.x[slot] = x
    world.y[slot] = y
    world.facing[slot] = DOWN
    world.health[slot] = health
    world.timer[slot] = 0
    world.occupant[x, y] = slot
    _enter_chunk(world, slot, chunk_at(x, y))
    return slot


@part
def remove_object(world: World, slot: int) -> None:
    """Take an object off the map. It may still finish its update of this step, as in the package."""
    if world.alive[slot]:
        world.alive[slot] = False
        x, y = world.x[slot], world.y[slot]
        world.occupant[x, y] = NOBODY
        world.population[chunk_at(x, y), world.kind[slot]] -= 1


@part
def move_object(world: World, slot: int, direction: int, walkable: int) -> bool:
    """Move by one step if the cell there is free; returns whether it was. A removed object stays where it
    was."""
    old_x, old_y = world.x[slot], world.y[slot]
    x, y = old_x + STEP_X[direction], old_y + STEP_Y[direction]
    if not is_free(world, x, y, walkable):
        return False
    if world.alive[slot]:
        world.occupant[old_x, old_y] = NOBODY
        world.occupant[x, y] = slot
        world.x[slot] = x
        world.y[slot] = y
        old_chunk, chunk = chunk_at(old_x, old_y), chunk_at(x, y)
        if chunk != old_chunk:
            world.population[old_chunk, world.kind[slot]] -= 1
            _enter_chunk(world, slot, chunk)
    return True


@part
def hurt(world: World, slot: int, damage: int, cause: int) -> None:
    """Lower an object's health, not below zero; the player dies of `cause` if this brings it to zero."""
    if slot != PLAYER:
        world.health[slot] = max(0, world.health[slot] - damage)
        return
    before = np.int64(world.inventory[HEALTH])
    world.inventory[HEALTH] = max(0, before - damage)
    if 0 < before <= damage:
        world.death_cause = cause


@part
def clear_removed(world: World) -> None:
    """Close the gaps that removed objects left, keeping the order of the rest."""
    kept = PLAYER
    for slot in range(PLAYER, world.num_slots):
        if not world.alive[slot]:
            continue
        if slot != kept:
            world.alive[kept] = True
            world.kind[kept] = world.kind[slot]
            world.x[kept] = world.x[slot]
            world.y[kept] = world.y[slot]
            world.facing[kept] = world.facing[slot]
            world.health[kept] = world.health[slot]
            world.timer[kept] = world.timer[slot]
            world.arrival[kept] = world.arrival[slot]
            world.occupant[world.x[kept], world.y[kept]] = kept
        kept += 1
    world.num_slots = kept
