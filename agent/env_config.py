"""The `env` section of the configuration: one class per environment, told apart by `name`.

Knows the fields, not the environments; `agent.catalog` makes one from the other.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from agent.section import Int, Positive, Section

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


class TrialConfig(Section):
    """What all environments share: how often a rollout plays the same task."""

    attempts: Bounded | None = _attempts(1)
    horizon: Bounded | None = _horizon(None)

    @model_validator(mode="after")
    def _rollouts_end(self) -> TrialConfig:
        if self.attempts is None and self.horizon is None:
            raise ValueError("a rollout needs an end: give attempts, horizon or both")
        return self


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


EnvConfig = Annotated[
    CrafterConfig
    | TMazeConfig
    | KeyDoorConfig
    | FrozenLakeConfig
    | DeliveryConfig
    | MazeConfig
    | HalfCheetahConfig
    | GymConfig
    | StoredConfig,
    Field(discriminator="name"),
]
