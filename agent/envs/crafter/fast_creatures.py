"""How cows, zombies, skeletons, arrows and plants of a compiled Crafter world act in one step.

Every rule draws its random numbers in the package's order. A creature whose health is zero is removed at its
own update, and still finishes that update: it draws, a zombie bites, a skeleton shoots.
"""

from agent.envs.crafter.fast_jit import constants, part
from agent.envs.crafter.fast_moves import (
    add_object,
    distance_to_player,
    hurt,
    is_free,
    material_at,
    move_object,
    occupant_at,
    remove_object,
    set_material,
)
from agent.envs.crafter.fast_random import below, uniform
from agent.envs.crafter.fast_world import (
    DEATH_BY_ARROW,
    DEATH_BY_ZOMBIE,
    DOWN,
    KIND_ARROW,
    KIND_COW,
    KIND_PLANT,
    KIND_SKELETON,
    KIND_ZOMBIE,
    LEFT,
    NOBODY,
    NOWHERE,
    NUM_DIRECTIONS,
    PATH,
    PLAYER,
    RIGHT,
    STEP_X,
    STEP_Y,
    UP,
    WALKABLE,
    WALKABLE_TO_ARROW,
    World,
    material_set,
)

DESTROYED_BY_ARROW = material_set("table", "furnace")
ARROW_DAMAGE, ARROW_HEALTH = constants([2, 0])
RIPE_AFTER = 300


@part
def _toward_player(world: World, slot: int, long_axis: bool) -> int:
    """Direction to the player along the longer (or shorter) axis; NOWHERE if they are level on it."""
    dx = world.x[PLAYER] - world.x[slot]
    dy = world.y[PLAYER] - world.y[slot]
    if (abs(dx) > abs(dy)) == long_axis:
        return NOWHERE if dx == 0 else LEFT if dx < 0 else RIGHT
    return NOWHERE if dy == 0 else UP if dy < 0 else DOWN


@part
def _opposite(direction: int) -> int:
    return direction if direction == NOWHERE else direction ^ 1


@part
def _player_distance(world: World, slot: int) -> int:
    return distance_to_player(world, world.x[slot], world.y[slot])


@part
def _remove_if_dead(world: World, slot: int) -> None:
    if world.health[slot] <= 0:
        remove_object(world, slot)


@part
def _update_cow(world: World, slot: int) -> None:
    _remove_if_dead(world, slot)
    if uniform(world) < 0.5:
        move_object(world, slot, below(world, NUM_DIRECTIONS), WALKABLE)


@part
def _update_zombie(world: World, slot: int) -> None:
    _remove_if_dead(world, slot)
    if _player_distance(world, slot) <= 8 and uniform(world) < 0.9:
        direction = _toward_player(world, slot, uniform(world) < 0.8)
    else:
        direction = below(world, NUM_DIRECTIONS)
    move_object(world, slot, direction, WALKABLE)
    if _player_distance(world, slot) > 1:
        return
    if world.timer[slot] > 0:
        world.timer[slot] -= 1
    else:
        hurt(world, PLAYER, 7 if world.sleeping else 2, DEATH_BY_ZOMBIE)
        world.timer[slot] = 5


@part
def _update_skeleton(world: World, slot: int) -> None:
    _remove_if_dead(world, slot)
    world.timer[slot] = max(0, world.timer[slot] - 1)
    distance = _player_distance(world, slot)
    if distance <= 3:
        away = _opposite(_toward_player(world, slot, uniform(world) < 0.6))
        if move_object(world, slot, away, WALKABLE):
            return
    if distance <= 5 and uniform(world) < 0.5:
        _shoot(world, slot, _toward_player(world, slot, True))
    elif distance <= 8 and uniform(world) < 0.3:
        move_object(world, slot, _toward_player(world, slot, uniform(world) < 0.6), WALKABLE)
    elif uniform(world) < 0.2:
        move_object(world, slot, below(world, NUM_DIRECTIONS), WALKABLE)


@part
def _shoot(world: World, slot: int, direction: int) -> None:
    if world.timer[slot] > 0 or direction == NOWHERE:
        return
    x, y = world.x[slot] + STEP_X[direction], world.y[slot] + STEP_Y[direction]
    if is_free(world, x, y, WALKABLE_TO_ARROW):
        arrow = add_object(world, KIND_ARROW, x, y, ARROW_HEALTH)
        world.facing[arrow] = direction
        world.timer[slot] = 4


@part
def _update_arrow(world: World, slot: int) -> None:
    direction = world.facing[slot]
    if move_object(world, slot, direction, WALKABLE_TO_ARROW):
        return
    remove_object(world, slot)
    x, y = world.x[slot] + STEP_X[direction], world.y[slot] + STEP_Y[direction]
    target = occupant_at(world, x, y)
    if target != NOBODY:
        hurt(world, target, ARROW_DAMAGE, DEATH_BY_ARROW)
    elif (DESTROYED_BY_ARROW >> material_at(world, x, y)) & 1:
        set_material(world, x, y, PATH)


@part
def _update_plant(world: World, slot: int) -> None:
    world.timer[slot] += 1
    for direction in range(NUM_DIRECTIONS):
        x, y = world.x[slot] + STEP_X[direction], world.y[slot] + STEP_Y[direction]
        neighbour = occupant_at(world, x, y)
        if neighbour != NOBODY and KIND_COW <= world.kind[neighbour] <= KIND_SKELETON:
            world.health[slot] = 0
            break
    _remove_if_dead(world, slot)


@part
def update_creature(world: World, slot: int) -> None:
    """Let the object in a slot (not the player) act once."""
    kind = world.kind[slot]
    if kind == KIND_COW:
        _update_cow(world, slot)
    elif kind == KIND_ZOMBIE:
        _update_zombie(world, slot)
    elif kind == KIND_SKELETON:
        _update_skeleton(world, slot)
    elif kind == KIND_ARROW:
        _update_arrow(world, slot)
    elif kind == KIND_PLANT:
        _update_plant(world, slot)
