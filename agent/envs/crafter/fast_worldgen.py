"""Generation of a compiled Crafter world: the ground from noise, then cows, zombies and skeletons on it."""

from math import exp, sqrt

import numpy as np

from agent.envs.crafter.engine import WORLD_SIZE
from agent.envs.crafter.fast_jit import constants, part
from agent.envs.crafter.fast_moves import add_object, chunk_at
from agent.envs.crafter.fast_noise import Tables, noise3, noise_tables
from agent.envs.crafter.fast_random import below, seed_random, uniform
from agent.envs.crafter.fast_world import (
    GRASS,
    HEALTH,
    KIND_COW,
    KIND_PLAYER,
    KIND_SKELETON,
    KIND_ZOMBIE,
    LAVA,
    MAX_ITEM,
    PATH,
    PLAYER,
    WALKABLE,
    WATER,
    World,
)
from agent.envs.crafter.textures import MATERIAL_IDS

STONE, SAND, TREE, COAL, IRON, DIAMOND = (
    MATERIAL_IDS[name] for name in ("stone", "sand", "tree", "coal", "iron", "diamond")
)
CENTRE, NUM_NOISE_SEEDS = constants([WORLD_SIZE // 2, 2**31 - 1])
COW_HEALTH, ZOMBIE_HEALTH, SKELETON_HEALTH, UNUSED_HEALTH = constants([3, 5, 3, 0])
NUM_NEEDS = 4  # health, food, drink, energy: the items that start full


@part
def generate_world(world: World, seed: int) -> None:
    """Build the world of a seed, 0 <= seed < 2**31 - 1, in place of the present one."""
    seed_random(world, seed)
    _clear(world)
    add_object(world, KIND_PLAYER, CENTRE, CENTRE, UNUSED_HEALTH)
    tables = noise_tables(below(world, NUM_NOISE_SEEDS))
    tunnels = np.zeros((WORLD_SIZE, WORLD_SIZE), np.bool_)
    for x in range(WORLD_SIZE):
        for y in range(WORLD_SIZE):
            world.material[x, y] = _choose_material(world, tables, x, y, tunnels)
            world.ground[chunk_at(x, y), world.material[x, y]] += 1
    for x in range(WORLD_SIZE):
        for y in range(WORLD_SIZE):
            _populate(world, x, y, tunnels[x, y])


@part
def _clear(world: World) -> None:
    world.occupant[:] = 0
    world.num_slots = PLAYER
    world.num_arrivals = 0
    world.num_chunks = 0
    world.chunk_known[:] = False
    world.population[:] = 0
    world.ground[:] = 0
    world.sleeping = False
    world.last_health = MAX_ITEM
    world.hunger = 0
    world.thirst = 0
    world.fatigue = 0
    world.recover = 0
    world.inventory[:] = 0
    world.inventory[HEALTH : HEALTH + NUM_NEEDS] = MAX_ITEM
    world.achievements[:] = 0
    world.death_cause = 0


@part
def _distance_to_centre(x: int, y: int) -> float:
    return sqrt((x - CENTRE) ** 2 + (y - CENTRE) ** 2)


@part
def _choose_material(world: World, tables: Tables, x: int, y: int, tunnels: np.ndarray) -> int:
    """Material of a cell; marks tunnels. Random numbers are drawn only where the package draws them."""
    start = 4 - _distance_to_centre(x, y) + 2 * noise3(tables, x / 3, y / 3, 8.0)
    start = 1 / (1 + exp(-start))  # numpy's exp may round the last bit otherwise, which no threshold notices
    if start > 0.5:
        return GRASS
    water = noise3(tables, x / 15, y / 15, 3.0) + 0.15 * noise3(tables, x / 5, y / 5, 3.0) + 0.1
    water -= 2 * start
    mountain = (noise3(tables, x / 15, y / 15, 0.0) + 0.3 * noise3(tables, x / 5, y / 5, 0.0)) / 1.3
    mountain -= 4 * start + 0.3 * water
    if mountain > 0.15:
        return _choose_rock(world, tables, x, y, mountain, tunnels)
    if 0.25 < water <= 0.35 and noise3(tables, x / 9, y / 9, 4.0) > -0.2:
        return SAND
    if water > 0.3:
        return WATER
    if noise3(tables, x / 7, y / 7, 5.0) > 0 and uniform(world) > 0.8:
        return TREE
    return GRASS


@part
def _choose_rock(world: World, tables: Tables, x: int, y: int, mountain: float, tunnels: np.ndarray) -> int:
    """Material of a mountain's cell: caves, tunnels, ores, lava or plain stone."""
    if mountain > 0.3 and noise3(tables, x / 7, y / 7, 6.0) > 0.15:
        return PATH
    if noise3(tables, 2 * x / 3, y / 5 / 3, 7.0) > 0.4 or noise3(tables, x / 5 / 3, 2 * y / 3, 7.0) > 0.4:
        tunnels[x, y] = True
        return PATH
    if noise3(tables, x / 8, y / 8, 1.0) > 0 and uniform(world) > 0.85:
        return COAL
    if noise3(tables, x / 6, y / 6, 2.0) > 0.4 and uniform(world) > 0.75:
        return IRON
    if mountain > 0.18 and uniform(world) > 0.994:
        return DIAMOND
    if mountain > 0.3 and noise3(tables, x / 5, y / 5, 6.0) > 0.35:
        return LAVA
    return STONE


@part
def _populate(world: World, x: int, y: int, tunnel: bool) -> None:
    """Perhaps put a creature on a cell."""
    material = world.material[x, y]
    distance = _distance_to_centre(x, y)
    if not (WALKABLE >> material) & 1:
        return
    if distance > 3 and material == GRASS and uniform(world) > 0.985:
        add_object(world, KIND_COW, x, y, COW_HEALTH)
    elif distance > 10 and uniform(world) > 0.993:
        add_object(world, KIND_ZOMBIE, x, y, ZOMBIE_HEALTH)
    elif tunnel and uniform(world) > 0.95:
        add_object(world, KIND_SKELETON, x, y, SKELETON_HEALTH)
