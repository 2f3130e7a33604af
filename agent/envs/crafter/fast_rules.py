"""One step of a compiled Crafter world, and what its observer sees afterwards."""

import numpy as np

from agent.envs.crafter.engine import VIEW_SHAPE
from agent.envs.crafter.fast_balance import balance
from agent.envs.crafter.fast_creatures import RIPE_AFTER, update_creature
from agent.envs.crafter.fast_jit import part
from agent.envs.crafter.fast_moves import clear_removed, distance_to_player, inside
from agent.envs.crafter.fast_player import update_player
from agent.envs.crafter.fast_world import KIND_ARROW, KIND_PLANT, KIND_PLAYER, NOBODY, PLAYER, World
from agent.envs.crafter.textures import NUM_MATERIALS, OBJECT_IDS, OFF_MAP

UPDATE_DISTANCE = 18  # objects farther from the player than this stand still
BALANCE_EVERY = 10
VIEW_WIDTH, VIEW_HEIGHT = VIEW_SHAPE
PLAYER_SPRITE, PLAYER_ASLEEP = OBJECT_IDS["player-left"], OBJECT_IDS["player-sleep"]
ARROW_SPRITE, RIPE_SPRITE = OBJECT_IDS["arrow-left"], OBJECT_IDS["plant-ripe"]
SPRITES = np.array([OBJECT_IDS[name] for name in ("player-left", "cow", "zombie", "skeleton", "arrow-left", "plant")])
"""Object id of the picture of each kind, of its first picture if a kind has several."""


@part
def advance(world: World, action: int, step: int, daylight: float) -> None:
    """Play one action. `step` counts from 1 since reset, `daylight` is that of this step."""
    for slot in range(PLAYER, world.num_slots):  # those born in this step wait for the next
        if not world.alive[slot] or distance_to_player(world, world.x[slot], world.y[slot]) >= UPDATE_DISTANCE:
            continue
        if slot == PLAYER:
            update_player(world, action)
        else:
            update_creature(world, slot)
    if step % BALANCE_EVERY == 0:
        balance(world, daylight)
        clear_removed(world)


@part
def _sprite(world: World, slot: int) -> int:
    kind = world.kind[slot]
    if kind == KIND_PLAYER:
        return PLAYER_ASLEEP if world.sleeping else PLAYER_SPRITE + world.facing[slot]
    if kind == KIND_ARROW:
        return ARROW_SPRITE + world.facing[slot]
    if kind == KIND_PLANT and world.timer[slot] > RIPE_AFTER:
        return RIPE_SPRITE
    return int(SPRITES[kind])


@part
def observe(world: World) -> None:
    """Write the fields that copy the state for an observer: `seen` and `position`."""
    world.position[0] = world.x[PLAYER]
    world.position[1] = world.y[PLAYER]
    left, top = world.x[PLAYER] - VIEW_WIDTH // 2, world.y[PLAYER] - VIEW_HEIGHT // 2
    for i in range(VIEW_WIDTH):
        for j in range(VIEW_HEIGHT):
            x, y = left + i, top + j
            if not inside(x, y):
                world.seen[i, j] = OFF_MAP
                continue
            texture = world.material[x, y]
            if world.occupant[x, y] != NOBODY:
                texture += NUM_MATERIALS * _sprite(world, world.occupant[x, y])
            world.seen[i, j] = texture
