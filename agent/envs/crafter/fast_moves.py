"""The moves that every rule of a compiled Crafter world is made of: look at a cell, add, move, hurt, remove."""

import numpy as np

from agent.envs.crafter.engine import WORLD_SIZE
from agent.envs.crafter.fast_jit import part
from agent.envs.crafter.fast_world import (
    CHUNK_SIZE,
    CHUNKS_PER_SIDE,
    DOWN,
    HEALTH,
    NOBODY,
    PLAYER,
    STEP_X,
    STEP_Y,
    World,
)


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
