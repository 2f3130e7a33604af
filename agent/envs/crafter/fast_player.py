"""How the player of a compiled Crafter world acts.

The order of the rules is the package's: the action, then the needs, then health, then every item is held
between 0 and 9, then a hurt sleeper wakes.
"""

from agent.envs.crafter.engine import ACTIONS, ITEMS, WORLD_SIZE
from agent.envs.crafter.fast_creatures import RIPE_AFTER
from agent.envs.crafter.fast_jit import constants, part
from agent.envs.crafter.fast_moves import add_object, hurt, material_at, move_object, occupant_at, set_material
from agent.envs.crafter.fast_needs import heal_or_decay, tire
from agent.envs.crafter.fast_random import uniform
from agent.envs.crafter.fast_recipes import (
    COLLECT_ACHIEVEMENT,
    COLLECT_GIVES,
    COLLECT_LEAVES,
    COLLECT_NEEDS,
    FIRST_MAKE_ACTION,
    FIRST_PLACE_ACTION,
    MAKE_ACHIEVEMENT,
    MAKE_COST,
    MAKE_ITEM,
    MAKE_NEARBY,
    NOTHING,
    PLACE_ACHIEVEMENT,
    PLACE_COST,
    PLACE_ITEM,
    PLACE_MATERIAL,
    PLACE_WHERE,
    SAPLING_PROBABILITY,
)
from agent.envs.crafter.fast_world import (
    DEATH_BY_LAVA,
    ENERGY,
    FOOD,
    GRASS,
    HEALTH,
    KIND_COW,
    KIND_PLANT,
    KIND_SKELETON,
    KIND_ZOMBIE,
    LAVA,
    MAX_ITEM,
    NOBODY,
    PLAYER,
    STEP_X,
    STEP_Y,
    WALKABLE_TO_PLAYER,
    WATER,
    World,
)
from agent.goals.vocabulary import ACHIEVEMENTS

NUM_ITEMS = len(ITEMS)
MOVE_LEFT, MOVE_DOWN, DO, SLEEP = (ACTIONS.index(name) for name in ("move_left", "move_down", "do", "sleep"))
WOOD_SWORD, STONE_SWORD, IRON_SWORD = (ITEMS.index(f"{name}_sword") for name in ("wood", "stone", "iron"))
EAT_PLANT, EAT_COW, DEFEAT_ZOMBIE, DEFEAT_SKELETON, WAKE_UP = (
    ACHIEVEMENTS.index(name) for name in ("eat_plant", "eat_cow", "defeat_zombie", "defeat_skeleton", "wake_up")
)
(PLANT_HEALTH,) = constants([1])


@part
def update_player(world: World, action: int) -> None:
    """Play one action and let a step's worth of life pass."""
    if world.sleeping:
        if world.inventory[ENERGY] < MAX_ITEM:
            action = SLEEP
        else:
            world.sleeping = False
            world.achievements[WAKE_UP] += 1
    _act(world, action)
    tire(world)
    heal_or_decay(world)
    for item in range(NUM_ITEMS):
        world.inventory[item] = min(world.inventory[item], MAX_ITEM)
    health = world.inventory[HEALTH]
    if health < world.last_health:
        world.sleeping = False
    world.last_health = health


@part
def _act(world: World, action: int) -> None:
    if MOVE_LEFT <= action <= MOVE_DOWN:
        _move(world, action - MOVE_LEFT)
        return
    facing = world.facing[PLAYER]
    x, y = world.x[PLAYER] + STEP_X[facing], world.y[PLAYER] + STEP_Y[facing]
    if action == DO:
        target = occupant_at(world, x, y)
        if target != NOBODY:
            _do_object(world, target)
        else:
            _do_material(world, x, y)
    elif action == SLEEP:
        if world.inventory[ENERGY] < MAX_ITEM:
            world.sleeping = True
    elif action >= FIRST_MAKE_ACTION:
        _make(world, action - FIRST_MAKE_ACTION)
    elif action >= FIRST_PLACE_ACTION:
        _place(world, action - FIRST_PLACE_ACTION, x, y)


@part
def _move(world: World, direction: int) -> None:
    world.facing[PLAYER] = direction
    move_object(world, PLAYER, direction, WALKABLE_TO_PLAYER)
    if world.material[world.x[PLAYER], world.y[PLAYER]] == LAVA:
        hurt(world, PLAYER, MAX_ITEM, DEATH_BY_LAVA)


@part
def _damage(world: World) -> int:
    if world.inventory[IRON_SWORD] > 0:
        return 5
    if world.inventory[STONE_SWORD] > 0:
        return 3
    return 2 if world.inventory[WOOD_SWORD] > 0 else 1


@part
def _do_object(world: World, slot: int) -> None:
    kind = world.kind[slot]
    if kind == KIND_PLANT:
        if world.timer[slot] > RIPE_AFTER:
            world.timer[slot] = 0
            world.inventory[FOOD] += 4
            world.achievements[EAT_PLANT] += 1
    elif KIND_COW <= kind <= KIND_SKELETON:
        world.health[slot] = max(0, world.health[slot] - _damage(world))
        if world.health[slot] > 0:
            return
        if kind == KIND_ZOMBIE:
            world.achievements[DEFEAT_ZOMBIE] += 1
        elif kind == KIND_SKELETON:
            world.achievements[DEFEAT_SKELETON] += 1
        else:
            world.inventory[FOOD] += 6
            world.achievements[EAT_COW] += 1
            world.hunger = 0


@part
def _do_material(world: World, x: int, y: int) -> None:
    material = material_at(world, x, y)
    if material == WATER:
        world.thirst = 0
    gives, needs = COLLECT_GIVES[material], COLLECT_NEEDS[material]
    if gives == NOTHING or (needs != NOTHING and world.inventory[needs] == 0):
        return
    set_material(world, x, y, COLLECT_LEAVES[material])
    # The package draws for every material, though only grass may refuse.
    if uniform(world) <= (SAPLING_PROBABILITY if material == GRASS else 1.0):
        world.inventory[gives] += 1
        world.achievements[COLLECT_ACHIEVEMENT[material]] += 1


@part
def _place(world: World, thing: int, x: int, y: int) -> None:
    item, cost = PLACE_ITEM[thing], PLACE_COST[thing]
    if occupant_at(world, x, y) != NOBODY or not (PLACE_WHERE[thing] >> material_at(world, x, y)) & 1:
        return
    if world.inventory[item] < cost:
        return
    world.inventory[item] -= cost
    if PLACE_MATERIAL[thing] == NOTHING:
        add_object(world, KIND_PLANT, x, y, PLANT_HEALTH)
    else:
        set_material(world, x, y, PLACE_MATERIAL[thing])
    world.achievements[PLACE_ACHIEVEMENT[thing]] += 1


@part
def _materials_nearby(world: World) -> int:
    """Set of the materials on the player and its eight neighbours; empty at the upper and left border.

    There the package's slice starts at -1, which numpy reads as the last cell.
    """
    x, y = world.x[PLAYER], world.y[PLAYER]
    if x == 0 or y == 0:
        return 0
    materials = 0
    for i in range(x - 1, min(x + 2, WORLD_SIZE)):
        for j in range(y - 1, min(y + 2, WORLD_SIZE)):
            materials |= 1 << world.material[i, j]
    return materials


@part
def _make(world: World, tool: int) -> None:
    if MAKE_NEARBY[tool] & ~_materials_nearby(world):
        return
    for item in range(NUM_ITEMS):
        if world.inventory[item] < MAKE_COST[tool, item]:
            return
    for item in range(NUM_ITEMS):
        world.inventory[item] -= MAKE_COST[tool, item]
    world.inventory[MAKE_ITEM[tool]] += 1
    world.achievements[MAKE_ACHIEVEMENT[tool]] += 1
