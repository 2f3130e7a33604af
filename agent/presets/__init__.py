"""Named configurations: where a run starts from before files and options change it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from agent.config import Config, ConfigError
from agent.presets import amago2, crafter, games, small_worlds


@dataclass(frozen=True)
class Preset:
    """One line of the table."""

    name: str
    description: str
    build: Callable[[], Config]


PRESETS = {
    preset.name: preset
    for preset in (
        Preset("small", "Crafter on a laptop or two CPU cores: something to see within minutes", crafter.small),
        Preset("paper", "Crafter on one GPU: the sizes of the AMAGO papers", crafter.paper),
        Preset("tiny", "seconds, for trying things out: too small to learn much", crafter.tiny),
        Preset("tmaze", "T-Maze on two cores", small_worlds.tmaze),
        Preset("dark-key-door", "dark key-to-door on two cores", small_worlds.key_door),
        Preset("frozen-lake", "meta-frozen-lake on two cores", small_worlds.frozen_lake),
        Preset("delivery", "package delivery on two cores", small_worlds.delivery),
        Preset("maze", "maze runner on two cores", small_worlds.maze),
        Preset("gym", "small control tasks on two cores", small_worlds.gym),
        Preset("own", "the same for an environment of your own", small_worlds.own),
        Preset("half-cheetah", "half-cheetah velocity on two cores", small_worlds.half_cheetah),
        Preset("popgym", "one of POPGym's games on two cores", games.popgym),
        Preset("popgym-paper", "27 games of POPGym on one GPU: the sizes of AMAGO-2", amago2.popgym),
        Preset("babyai", "three levels of BabyAI on two cores", games.babyai),
        Preset("babyai-paper", "68 levels of BabyAI on one GPU: the sizes of AMAGO-2", amago2.babyai),
        Preset("procgen", "two of Procgen's games on two cores", games.procgen),
        Preset("procgen-paper", "five of Procgen's games on one GPU: the sizes of AMAGO-2", amago2.procgen),
        Preset(
            "procgen-memory-paper", "all of Procgen's games on one GPU: the sizes of AMAGO-2", amago2.procgen_memory
        ),
        Preset("atari", "one Atari game on two cores", games.atari),
        Preset("atari-paper", "ten Atari games on one GPU: the sizes of AMAGO-2", amago2.atari),
        Preset("metaworld", "one task of Meta-World on two cores", games.metaworld),
        Preset("metaworld-paper", "Meta-World's ML45 on one GPU: the sizes of AMAGO-2", amago2.metaworld),
    )
}


def preset(name: str) -> Config:
    """The configuration of a preset; ConfigError for an unknown name."""
    if name not in PRESETS:
        raise ConfigError(f"unknown preset '{name}'; there are {', '.join(PRESETS)}")
    return PRESETS[name].build()
