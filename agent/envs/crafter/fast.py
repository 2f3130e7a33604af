"""Crafter compiled: an `Engine` that plays the package's game, step for step, without the package.

Compiling takes some seconds, once: the result is kept on disk, next to the sources or in the user's cache
folder, and is made anew when any of the sources changes. Where neither folder can be written it is compiled
in every process.
"""

import functools
from collections.abc import Callable

import numpy as np

from agent.envs.crafter.engine import DEATH_CAUSES
from agent.envs.crafter.fast_jit import digest_of_sources, entry
from agent.envs.crafter.fast_rules import advance, observe
from agent.envs.crafter.fast_world import HEALTH, PLAYER, WORLD
from agent.envs.crafter.fast_worldgen import generate_world


def _compiled(sources: str) -> tuple[Callable, Callable]:
    """The two entry points, compiled for these sources."""

    @entry
    def reset_world(worlds, seed):
        assert sources
        generate_world(worlds[0], seed)
        observe(worlds[0])

    @entry
    def step_world(worlds, action, step, daylight):
        assert sources
        advance(worlds[0], action, step, daylight)
        observe(worlds[0])

    return reset_world, step_world


_reset_world, _step_world = _compiled(digest_of_sources())


@functools.cache
def daylight_at(step: int) -> float:
    """Brightness, 0 to 1, at a step. From numpy's own functions: compiled ones may differ in the last bit."""
    progress = (step / 300) % 1 + 0.3
    return float(1 - np.abs(np.cos(np.pi * progress)) ** 3)


class FastEngine:
    """One compiled world; see `engine.Engine` for what its attributes mean.

    `world` is the whole state, an array of one element of type WORLD: copying it takes a snapshot, writing a
    copy back (with `num_steps`) restores it.
    """

    def __init__(self) -> None:
        self.world = np.zeros(1, WORLD)
        self.num_steps = 0
        self.daylight = 0.0
        self.view = self.world["seen"][0]
        self.inventory = self.world["inventory"][0]
        self.position = self.world["position"][0]
        self.achievements = self.world["achievements"][0]
        self._player_facing = self.world["facing"][0, PLAYER : PLAYER + 1]
        self._sleeping = self.world["sleeping"]
        self._death_cause = self.world["death_cause"]

    def reset(self, seed: int) -> None:
        """Build the world of `seed`, 0 <= seed < 2**31 - 1."""
        assert 0 <= seed < 2**31 - 1
        _reset_world(self.world, seed)
        self.num_steps = 0
        self.daylight = daylight_at(0)

    def step(self, action: int) -> None:
        """Play one action, an index into ACTIONS."""
        self.num_steps += 1
        self.daylight = daylight_at(self.num_steps)
        _step_world(self.world, action, self.num_steps, self.daylight)

    @property
    def facing(self) -> int:
        return self._player_facing.item()

    @property
    def sleeping(self) -> bool:
        return self._sleeping.item()

    @property
    def dead(self) -> bool:
        return self.inventory.item(HEALTH) == 0

    @property
    def death_cause(self) -> str:
        return DEATH_CAUSES[self._death_cause.item()] if self.dead else ""
