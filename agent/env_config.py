"""The `env` section of the configuration: one class per environment, told apart by `name`.

Knows the fields, not the environments; `agent.catalog` makes one from the other.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from agent.section import Float, Int, Positive, Section

Bounded = Annotated[Int, Field(gt=0, le=10_000_000)]


UNPLAYABLE = "stored"
"""The name of the environment that there is no program of."""

_NAME: Any = Field(description="environment, one of `amago envs`")


def _attempts(default: int | None) -> Any:
    return Field(
        default=default, description="attempts at the same task in one rollout (none: as many as `horizon` allows)"
    )


def _horizon(default: int | None) -> Any:
    return Field(
        default=default, description="steps of a rollout, all attempts together (none: as many as its attempts take)"
    )


def listed(text: str) -> tuple[str, ...]:
    """What commas separate in a text, without blanks around it."""
    return tuple(filter(None, (name.strip() for name in text.split(","))))


class TrialConfig(Section):
    """What all environments share: how often a rollout plays the same task."""

    attempts: Bounded | None = _attempts(1)
    horizon: Bounded | None = _horizon(None)

    @model_validator(mode="after")
    def _rollouts_end(self) -> TrialConfig:
        if self.attempts is None and self.horizon is None:
            raise ValueError("a rollout needs an end: give attempts, horizon or both")
        return self


class GamesConfig(TrialConfig):
    """What environments of several games share: which of them are played."""

    games: tuple[str, ...] = Field(default=(), description="games to play: 'one,another' ('all': every one there is)")

    @field_validator("games", mode="before")
    @classmethod
    def _listed(cls, value: Any) -> Any:
        """Names separated by commas, as they come from the command line."""
        if not isinstance(value, str):
            return value
        names = listed(value)
        if not names:
            raise ValueError("it names no game; 'all' stands for every one there is")
        return () if names == ("all",) else names


class CrafterConfig(TrialConfig):
    """Crafter with instructions."""

    name: Literal["crafter"] = Field(default="crafter", description="environment, one of `amago envs`")
    engine: Literal["fast", "package"] = Field(
        default="fast", description="Crafter core: our compiled one, or the crafter package itself"
    )
    observation: Literal["symbolic", "crop", "pixels"] = Field(default="symbolic", description="what the agent sees")
    reward: Literal["instructions", "crafter"] = Field(
        default="instructions", description="what pays: instructions, or the benchmark's achievements (free play)"
    )
    max_steps: Positive | None = Field(
        default=None, description="time limit of an attempt, in steps (none: 2,500, in free play 10,000)"
    )


class TMazeConfig(TrialConfig):
    """T-Maze: walk a corridor, turn where a sign at its beginning said."""

    name: Literal["tmaze"] = _NAME
    max_steps: Annotated[Int, Field(ge=3)] = Field(default=400, description="steps from the start to the turn")
    active: bool = Field(default=False, description="the sign is not seen from the start, but one step behind it")


class KeyDoorConfig(TrialConfig):
    """Dark key-to-door: find an unseen key, then an unseen door, again and again in the same room."""

    name: Literal["dark-key-door"] = _NAME
    attempts: Bounded | None = _attempts(None)
    horizon: Bounded | None = _horizon(500)
    size: Annotated[Int, Field(ge=2, le=255)] = Field(default=9, description="side of the room, in cells")
    max_steps: Positive = Field(default=50, description="time limit of an attempt, in steps")
    dark: bool = Field(default=True, description="key and door are invisible")


class FrozenLakeConfig(TrialConfig):
    """Meta-frozen-lake: several attempts to cross an unknown lake without breaking in."""

    name: Literal["frozen-lake"] = _NAME
    attempts: Bounded | None = _attempts(8)
    size: Annotated[Int, Field(ge=3, le=255)] = Field(default=5, description="side of the lake, in cells")
    max_steps: Positive = Field(default=25, description="time limit of an attempt, in steps")
    shuffle_actions: bool = Field(default=False, description="what each action does is part of the hidden task")


class DeliveryConfig(TrialConfig):
    """Package delivery: a road with forks whose right way, and addresses whose place, must be remembered."""

    name: Literal["delivery"] = _NAME
    attempts: Bounded | None = _attempts(None)
    horizon: Bounded | None = _horizon(180)
    length: Annotated[Int, Field(ge=8, le=255)] = Field(default=30, description="steps along the road")
    num_forks: Annotated[Int, Field(ge=0, le=20)] = Field(default=3, description="forks of the road")
    num_packages: Annotated[Int, Field(ge=1, le=20)] = Field(default=3, description="packages and addresses")


class MazeConfig(TrialConfig):
    """Maze runner: reach one to `num_goals` places of an unknown maze in the order asked for."""

    name: Literal["maze"] = _NAME
    size: Annotated[Int, Field(ge=5, le=63)] = Field(default=11, description="side of the maze, in cells; odd")
    num_goals: Annotated[Int, Field(ge=1, le=3)] = Field(default=3, description="most places of an instruction")
    max_steps: Positive = Field(default=150, description="time limit of an attempt, in steps")

    @model_validator(mode="after")
    def _odd(self) -> MazeConfig:
        if self.size % 2 == 0:
            raise ValueError(f"size ({self.size}) must be odd: walls lie between the cells of a maze")
        return self


class HalfCheetahConfig(TrialConfig):
    """Half-cheetah velocity: run at a speed that nobody tells, only the reward."""

    name: Literal["half-cheetah"] = _NAME
    attempts: Bounded | None = _attempts(2)
    max_steps: Positive = Field(default=200, description="time limit of an attempt, in steps")


class StoredConfig(TrialConfig):
    """An environment of which there are only stored rollouts: it can be learned from, not played."""

    name: Literal["stored"] = _NAME
    dataset: str = Field(default="", description="where its rollouts are from")


class GymConfig(TrialConfig):
    """Any registered Gymnasium environment."""

    name: Literal["gym"] = _NAME
    id: str = Field(default="", description="Gymnasium id: CartPole-v1, or my_module:MyEnv-v0 for one of your own")
    max_steps: Positive | None = Field(
        default=None, description="time limit of an attempt, in steps (none: the environment's own)"
    )


class OwnConfig(TrialConfig):
    """An environment of the user's own, which has no name but the callable that makes it."""

    name: Literal["own"] = _NAME
    target: str = Field(default="", description="what makes the environment, my_package:make_env, without arguments")
    max_steps: Positive | None = Field(
        default=None, description="time limit of an attempt, in steps (none: the environment's own)"
    )


class PopGymConfig(GamesConfig):
    """POPGym: games of memory. With several games and attempts the first attempt explores, and is not paid."""

    name: Literal["popgym"] = _NAME
    attempts: Bounded | None = _attempts(2)

    @model_validator(mode="after")
    def _something_pays(self) -> PopGymConfig:
        if self.attempts != 1 and self.horizon is not None:
            raise ValueError("the first attempt is not paid, and a horizon could end it: give attempts only")
        return self


class BabyAIConfig(GamesConfig):
    """BabyAI: missions in words on grids of which a few cells are seen."""

    name: Literal["babyai"] = _NAME
    attempts: Bounded | None = _attempts(2)


class ProcgenConfig(GamesConfig):
    """Procgen: video games whose levels are made from numbers. Held-out worlds are levels that are not trained on."""

    name: Literal["procgen"] = _NAME
    attempts: Bounded | None = _attempts(2)
    horizon: Bounded | None = _horizon(2500)
    mode: Literal["easy", "hard", "memory"] = Field(
        default="easy", description="kind of levels (memory: where a game has it, else hard)"
    )
    levels: Annotated[Int, Field(ge=0, le=1_000_000_000)] = Field(
        default=2000, description="training levels of each game (0: without end)"
    )
    max_steps: Positive | None = Field(
        default=None, description="time limit of an attempt, in steps (none: the games' own, mostly 1,000)"
    )
    reward_scales: tuple[str, ...] = Field(
        default=(), description="by what the rewards of games are multiplied: 'coinrun=100,climber=0.1'"
    )

    @field_validator("reward_scales", mode="before")
    @classmethod
    def _separated(cls, value: Any) -> Any:
        """Scales separated by commas, as they come from the command line."""
        return listed(value) if isinstance(value, str) else value

    @field_validator("reward_scales")
    @classmethod
    def _understood(cls, texts: tuple[str, ...]) -> tuple[str, ...]:
        games = [_scale(text)[0].lower() for text in texts]
        if twice := {game for game in games if games.count(game) > 1}:
            raise ValueError(f"'{min(twice)}' has two scales")
        return texts

    @property
    def scales(self) -> dict[str, float]:
        """`reward_scales` by game."""
        return dict(_scale(text) for text in self.reward_scales)


_MAX_SCALE = 1e6  # returns beyond that are past what float32 tells apart


def _scale(text: str) -> tuple[str, float]:
    """("coinrun", 100.0) of "coinrun=100"; ValueError for anything but a positive number."""
    game, _, number = text.partition("=")
    try:
        scale = float(number)
    except ValueError:
        scale = math.nan
    if not 0 < scale <= _MAX_SCALE:
        raise ValueError(f"'{text}' does not say game=number, such as coinrun=100; at most {_MAX_SCALE:g}")
    return game.strip(), scale


class AtariConfig(GamesConfig):
    """Atari: video games whose scores lie orders of magnitude apart, none of them clipped."""

    name: Literal["atari"] = _NAME
    max_steps: Positive = Field(default=27_000, description="time limit of an attempt, in steps; 27,000: half an hour")
    frame_skip: Positive = Field(default=4, description="frames for which an action is held")
    sticky: Annotated[Float, Field(ge=0.0, lt=1.0)] = Field(
        default=0.25, description="chance at each frame that the previous action goes on"
    )


class MetaWorldConfig(GamesConfig):
    """Meta-World: a robot arm and fifty tasks, whose goals are hidden."""

    name: Literal["metaworld"] = _NAME
    attempts: Bounded | None = _attempts(3)
    benchmark: str = Field(
        default="ML45", description="ML45 or ML10, which hold five tasks out, or ML1-<task>: goals of one task"
    )
    goals: Positive = Field(default=50, description="goals of each task to train on, and as many others")
    max_steps: Annotated[Int, Field(gt=0, le=500)] = Field(
        default=500, description="time limit of an attempt, in steps"
    )


EnvConfig = Annotated[
    CrafterConfig
    | TMazeConfig
    | KeyDoorConfig
    | FrozenLakeConfig
    | DeliveryConfig
    | MazeConfig
    | HalfCheetahConfig
    | GymConfig
    | OwnConfig
    | PopGymConfig
    | BabyAIConfig
    | ProcgenConfig
    | AtariConfig
    | MetaWorldConfig
    | StoredConfig,
    Field(discriminator="name"),
]
