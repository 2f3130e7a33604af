"""How a compiled Crafter world keeps the number of zombies, skeletons and cows of each chunk near its target."""

import numba

from agent.envs.crafter.engine import WORLD_SIZE
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
    add_object,
    chunk_at,
    distance_to_player,
    remove_object,
)


@numba.njit
def balance(world: World, daylight: float) -> None:
    """Spawn and remove creatures, chunk by chunk in the order in which chunks first held an object."""
    for i in range(world.num_chunks):
        chunk = world.chunk_order[i]
        grass, path = world.ground[chunk, GRASS], world.ground[chunk, PATH]
        zombies = 3.5 - 3 * daylight
        fewest_zombies = 0 if grass < 50 else int(zombies)
        fewest_skeletons = 0 if path < 6 else 1
        fewest_cows = 0 if grass < 30 else 1
        _balance_kind(world, chunk, KIND_ZOMBIE, GRASS, 5, fewest_zombies, int(zombies), 6, 0, 0.3, 0.4)
        _balance_kind(world, chunk, KIND_SKELETON, PATH, 3, fewest_skeletons, 2, 7, 7, 0.1, 0.1)
        _balance_kind(world, chunk, KIND_COW, GRASS, 3, fewest_cows, int(1.5 + daylight), 5, 5, 0.01, 0.1)


@numba.njit
def _balance_kind(
    world: World,
    chunk: int,
    kind: int,
    material: int,
    health: int,
    fewest: int,
    most: int,
    spawn_distance: int,
    removal_distance: int,
    spawn_probability: float,
    removal_probability: float,
) -> None:
    """Perhaps add one creature of a kind on a `material` cell, or remove one, if the chunk has too few or too many."""
    count = world.population[chunk, kind]
    if count < fewest and uniform(world) < spawn_probability:
        x, y = _nth_cell(world, chunk, material, below(world, world.ground[chunk, material]))
        if world.occupant[x, y] == NOBODY and distance_to_player(world, x, y) >= spawn_distance:
            add_object(world, kind, x, y, health)
    elif count > most and uniform(world) < removal_probability:
        slot = _nth_arrival(world, chunk, kind, below(world, count))
        if distance_to_player(world, world.x[slot], world.y[slot]) >= removal_distance:
            remove_object(world, slot)


@numba.njit
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


@numba.njit
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
