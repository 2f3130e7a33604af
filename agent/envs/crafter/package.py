"""The Crafter engine on the published `crafter` package: the reference for what the game is.

Plays the package's own objects and world generator. Departs from the package's `Env` only where the game
stays the same: nothing is drawn, distances are plain integers, and (unless `ordered` is False) the creatures
of a chunk are kept in order of insertion, because the package's sets, ordered by memory address, make one
seed give many games.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from crafter import objects, worldgen
from crafter.engine import World
from crafter.env import Env

from agent.envs.crafter.engine import ACTIONS, FACINGS, ITEMS, VIEW_SHAPE, WORLD_SIZE
from agent.envs.crafter.textures import MATERIALS, NUM_MATERIALS, OBJECT_IDS
from agent.goals.vocabulary import ACHIEVEMENTS

_CHUNK_SIZE = (12, 12)
_BALANCE_EVERY = 10  # steps
# Objects move within this distance (in x plus in y) of the player: twice the width of the game's own view.
_ACTIVE_DISTANCE = 18
_NEEDS = {"food": "starvation", "drink": "thirst", "energy": "exhaustion"}


class PackageEngine:
    """`Engine` on the crafter package; see there for the attributes."""

    def __init__(self, ordered: bool = True):
        self._game = _Game(ordered)
        self.view = np.zeros(VIEW_SHAPE, np.uint8)
        self.inventory = np.zeros(len(ITEMS), np.uint8)
        self.position = np.zeros(2, np.uint8)
        self.achievements = np.zeros(len(ACHIEVEMENTS), np.int32)
        self.facing = 0
        self.daylight = 0.0
        self.sleeping = self.dead = False
        self.death_cause = ""

    def reset(self, seed: int) -> None:
        self._game.begin(seed)
        self.death_cause = ""
        self._publish()

    def step(self, action: int) -> None:
        self.death_cause = self._game.play(ACTIONS[action])
        self._publish()

    def _publish(self) -> None:
        player = self._game.player
        self.inventory[:] = list(player.inventory.values())
        self.achievements[:] = list(player.achievements.values())
        self.position[:] = player.pos
        self.facing = FACINGS.index(tuple(player.facing))
        self.daylight = self._game.daylight
        self.sleeping = player.sleeping
        self.dead = player.health <= 0
        self._game.look(self.view)


class _Game(Env):
    """The package's environment without its drawing, its observation and its rewards."""

    _player: Any

    def __init__(self, ordered: bool):
        # The package's constructor would load all pictures and build views that are never looked at.
        self._world = _World((WORLD_SIZE, WORLD_SIZE), list(MATERIALS[1:]), _CHUNK_SIZE, ordered)

    @property
    def player(self) -> Any:
        return self._player

    @property
    def daylight(self) -> float:
        return float(self._world.daylight)

    def begin(self, seed: int) -> None:
        """Build the world of `seed` and put the player into its middle."""
        self._step = 0
        self._world.reset(seed=seed)
        self._update_time()
        self._player = objects.Player(self._world, (WORLD_SIZE // 2, WORLD_SIZE // 2))
        self._world.add(self._player)
        worldgen.generate_world(self._world, self._player)

    def play(self, action: str) -> str:
        """One step of the game; returns the cause of death, "" if the player lives."""
        self._step += 1
        self._update_time()
        self._player.action = action
        cause = self._update_objects()
        if self._step % _BALANCE_EVERY == 0:
            for chunk, members in self._world.chunks.items():
                self._balance_chunk(chunk, members)
        return cause

    def look(self, view: np.ndarray) -> None:
        """Write the texture ids around the player into `view`."""
        x, y = self._player.pos.tolist()
        x0, y0 = x - VIEW_SHAPE[0] // 2, y - VIEW_SHAPE[1] // 2
        left, top = max(-x0, 0), max(-y0, 0)
        inside = np.s_[max(x0, 0) : x0 + VIEW_SHAPE[0], max(y0, 0) : y0 + VIEW_SHAPE[1]]
        materials = self._world.materials[inside]
        view.fill(0)
        seen = view[left : left + materials.shape[0], top : top + materials.shape[1]]
        seen[:] = materials
        numbers = self._world.object_numbers[inside]
        for i, j in np.argwhere(numbers).tolist():
            seen[i, j] += NUM_MATERIALS * OBJECT_IDS[self._world.object(numbers[i, j]).texture]

    def _update_objects(self) -> str:
        everybody: list[Any] = self._world.objects
        player, others = everybody[0], everybody[1:]  # the player was added first
        player.update()
        cause = self._cause_of_death(player) if player.health <= 0 else ""
        x, y = player.pos.tolist()  # nobody but the player moves the player
        for obj in others:
            obj_x, obj_y = obj.pos.tolist()
            if abs(obj_x - x) + abs(obj_y - y) >= _ACTIVE_DISTANCE:
                continue
            obj.update()
            if not cause and player.inventory["health"] <= 0:
                cause = self._cause_of_death(obj)
        return cause

    def _cause_of_death(self, culprit: Any) -> str:
        if isinstance(culprit, objects.Zombie):
            return "zombie"
        if isinstance(culprit, objects.Arrow):
            return "skeleton arrow"
        if self._world[self._player.pos][0] == "lava":
            return "lava"
        return next(cause for need, cause in _NEEDS.items() if self._player.inventory[need] <= 0)


class _World(World):
    """The package's world with chunks in order of insertion, and with its maps open to the view."""

    def __init__(self, area: tuple[int, int], materials: list[str], chunk_size: tuple[int, int], ordered: bool):
        self._new_chunk: Callable[[], Any] = _InsertionOrdered if ordered else set
        super().__init__(area, materials, chunk_size)

    def reset(self, seed: int | None = None) -> None:
        super().reset(seed)
        self._chunks = defaultdict(self._new_chunk)

    @property
    def materials(self) -> np.ndarray:
        return self._mat_map

    @property
    def object_numbers(self) -> np.ndarray:
        return self._obj_map

    def object(self, number: int) -> Any:
        return self._objects[number]


class _InsertionOrdered:
    """A set of objects that remembers the order of insertion: as much of a set as the world uses."""

    def __init__(self) -> None:
        self._members: dict[Any, None] = {}

    def add(self, member: Any) -> None:
        self._members[member] = None

    def remove(self, member: Any) -> None:
        del self._members[member]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._members)
