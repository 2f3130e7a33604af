"""How a compiled Crafter world keeps the number of zombies, skeletons and cows of each chunk near its
target."""

import numpy as np

from agent.envs.crafter.engine import WORLD_SIZE
from agent.envs.crafter.fast_jit import part
from agent.envs.crafter.fast_moves import add_object, chunk_at, distance_to_player, remove_object
from agent.envs.crafter.fast_random import below, uniform
from agent.envs.crafter.fast_world import (
    CHUNK_SIZE,
    CHUNKS_PER_SIDE,
    GRASS,
    KIND_COW,
    KIND_SKELETON,
    KIND_ZOMBIE,
    NOBODY,
    PATH,
    PLAYER,
    World,
)

# By kind, in the order in which the game balances them.
BALANCED = np.array((KIND_ZOMBIE, KIND_SKELETON, KIND_COW))
GROUND = np.array((GRASS, PATH, GRASS))
NEW_HEALTH = np.array((5, 3, 3))
SPAWN_DISTANCE = np.array((6, 7, 5))
REMOVAL_DISTANCE = np.array((0, 7, 5))
SPAWN_PROBABILITY = np.array((0.3, 0.1, 0.01))
REMOVAL_PROBABILITY = np.array((0.4, 0.1, 0.1))


@part
def balance(world: World, daylight: float) -> None:
    """Spawn and remove creatures, chunk by chunk in the order in which chunks first held an object."""
    zombies = int(3.5 - 3 * daylight)
    cows = int(1.5 + daylight)
    for i in range(world.num_chunks):
        chunk = world.chunk_order[i]
        grass, path = world.ground[chunk, GRASS], world.ground[chunk, PATH]
        fewest = (0 if grass < 50 else zombies, 0 if path < 6 else 1, 0 if grass < 30 else 1)
        most = (zombies, 2, cows)
        for row in range(len(BALANCED)):
            _balance_kind(world, chunk, row, fewest[row], most[row])


@part
def _balance_kind(world: World, chunk: int, row: int, fewest: int, most: int) -> None:
    """Perhaps spawn or remove one creature of a kind (a row of the tables) if a chunk has too few or many."""
    kind, material = BALANCED[row], GROUND[row]
    count = world.population[chunk, kind]
    if count < fewest and uniform(world) < SPAWN_PROBABILITY[row]:
        x, y = _nth_cell(world, chunk, material, below(world, world.ground[chunk, material]))
        if world.occupant[x, y] == NOBODY and distance_to_player(world, x, y) >= SPAWN_DISTANCE[row]:
            add_object(world, kind, x, y, NEW_HEALTH[row])
    elif count > most and uniform(world) < REMOVAL_PROBABILITY[row]:
        slot = _nth_arrival(world, chunk, kind, below(world, count))
        if distance_to_player(world, world.x[slot], world.y[slot]) >= REMOVAL_DISTANCE[row]:
            remove_object(world, slot)


@part
def _nth_cell(world: World, chunk: int, material: int, n: int) -> tuple[int, int]:
    """The n-th cell (from 0, column by column) of a chunk with this material."""
    left, top = chunk // CHUNKS_PER_SIDE * CHUNK_SIZE, chunk % CHUNKS_PER_SIDE * CHUNK_SIZE
    for x in range(left, min(left + CHUNK_SIZE, WORLD_SIZE)):
        for y in range(top, min(top + CHUNK_SIZE, WORLD_SIZE)):
            if world.material[x, y] == material:
                if n == 0:
                    return x, y
                n -= 1
    raise AssertionError("a chunk has fewer cells of a material than counted")


@part
def _nth_arrival(world: World, chunk: int, kind: int, n: int) -> int:
    """Slot of the n-th creature (from 0) of a kind by the time of entering the chunk."""
    last = -1
    chosen = NOBODY
    for _ in range(n + 1):
        chosen = NOBODY
        for slot in range(PLAYER, world.num_slots):
            if not world.alive[slot] or world.kind[slot] != kind or world.arrival[slot] <= last:
                continue
            if chosen != NOBODY and world.arrival[slot] > world.arrival[chosen]:
                continue
            if chunk_at(world.x[slot], world.y[slot]) == chunk:
                chosen = slot
        last = world.arrival[chosen]
    return chosen
