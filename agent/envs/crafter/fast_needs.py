"""How the player of a compiled Crafter world tires, starves and heals with every step."""

from agent.envs.crafter.fast_jit import constants, part
from agent.envs.crafter.fast_moves import hurt
from agent.envs.crafter.fast_world import (
    DEATH_BY_LAVA,
    DRINK,
    ENERGY,
    EXHAUSTION,
    FOOD,
    HEALTH,
    LAVA,
    PLAYER,
    STARVATION,
    THIRST,
    World,
)

(DECAY,) = constants([1])


@part
def _lose(world: World, item: int) -> None:
    world.inventory[item] = max(0, world.inventory[item] - 1)


@part
def tire(world: World) -> None:
    """Let hunger, thirst and fatigue grow; a sleeper needs half and rests."""
    pace = 0.5 if world.sleeping else 1.0
    world.hunger += pace
    if world.hunger > 25:
        world.hunger = 0
        _lose(world, FOOD)
    world.thirst += pace
    if world.thirst > 20:
        world.thirst = 0
        _lose(world, DRINK)
    if world.sleeping:
        world.fatigue = min(world.fatigue - 1, 0)
    else:
        world.fatigue += 1
    if world.fatigue < -10:
        world.fatigue = 0
        world.inventory[ENERGY] += 1
    if world.fatigue > 30:
        world.fatigue = 0
        _lose(world, ENERGY)


@part
def _cause_of_decay(world: World) -> int:
    if world.material[world.x[PLAYER], world.y[PLAYER]] == LAVA:
        return DEATH_BY_LAVA
    if world.inventory[FOOD] == 0:
        return STARVATION
    return THIRST if world.inventory[DRINK] == 0 else EXHAUSTION


@part
def heal_or_decay(world: World) -> None:
    """Gain health while no need is empty, lose it otherwise; a sleeper gains twice and loses half as fast."""
    inventory = world.inventory
    rested = inventory[ENERGY] > 0 or world.sleeping
    if inventory[FOOD] > 0 and inventory[DRINK] > 0 and rested:
        world.recover += 2 if world.sleeping else 1
    else:
        world.recover -= 0.5 if world.sleeping else 1
    if world.recover > 25:
        world.recover = 0
        inventory[HEALTH] += 1
    if world.recover < -15:
        world.recover = 0
        hurt(world, PLAYER, DECAY, _cause_of_decay(world))
