"""A Crafter engine that plays a script, so that goals and rewards are tested with numbers made by hand."""

from dataclasses import dataclass, field

import numpy as np

from agent.envs.crafter.engine import ITEMS, VIEW_SHAPE
from agent.envs.crafter.textures import texture_id
from agent.goals.vocabulary import ACHIEVEMENTS


@dataclass
class Moment:
    """What one step changes: achievements that rise, where the player is afterwards, and what kills it."""

    rises: tuple[str, ...] = ()
    position: tuple[int, int] = (32, 33)
    death: str = ""
    health: int = 9


@dataclass
class ScriptedEngine:
    """Keeps the contract of `Engine`; after the script nothing happens any more."""

    script: list[Moment] = field(default_factory=list)
    daylight: float = 1.0
    facing: int = 3
    sleeping: bool = False

    def reset(self, seed: int) -> None:
        self.view = np.full(VIEW_SHAPE, texture_id("grass"), np.uint8)
        self.view[4, 3] = texture_id("grass", "player-down")
        self.inventory = np.full(len(ITEMS), 9, np.uint8)
        self.achievements = np.zeros(len(ACHIEVEMENTS), np.int32)
        self.position = np.array([32, 33], np.uint8)
        self.dead, self.death_cause, self.steps = False, "", 0

    def step(self, action: int) -> None:
        moment = self.script[self.steps] if self.steps < len(self.script) else Moment()
        self.steps += 1
        for name in moment.rises:
            self.achievements[ACHIEVEMENTS.index(name)] += 1
        self.position[:] = moment.position
        self.inventory[0] = moment.health
        self.dead, self.death_cause = bool(moment.death), moment.death
