"""What every environment is asked to play, and what it says about itself.

An environment of ours is a `gymnasium.Env` with these attributes:

    name              str
    max_steps         int, time limit of one rollout
    max_instruction   int, subgoals of the longest instruction, 0 if it knows no goals
    vocabulary        str, which goals it knows (`agent.goals`), "" if none
    success_return    float or None, the return from which on an attempt counts as a success
    games             tuple of Game, only where it plays several
    free_attempts     int, only where the first attempts at a task are there to explore and pay nothing

`reset` takes the world's seed and, in its options, an `instruction`, the number of the `attempt` at this task, and the
name of the `game`. The task is a function of seed, instruction and game alone. The info of a step may hold `achieved`
(goal ids reached by it), `progress` (finished subgoals), `is_first` (the observation begins a new attempt) and, at the
end, `cause`.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import gymnasium
import numpy as np

from agent.envs.spaces import space_from_json, space_to_json

MAX_SEED = 2**31 - 1
"""World seeds lie in 0 <= seed < MAX_SEED."""

_ATTRIBUTES = ("name", "max_steps", "max_instruction", "vocabulary", "success_return")


class Game(NamedTuple):
    """One of several quite different tasks that an environment plays (AMAGO-2: a task, and its worlds are variants).

    The agent is not told which one it plays.
    """

    name: str
    held_out: bool = False
    """It is played in evaluations only."""
    low: float | None = None
    """The return of an attempt that counts as 0 when normalised, such as a random policy's; before `scale`."""
    high: float | None = None
    """The return that counts as 1, such as a human's or a specialist's; before `scale`."""
    scale: float = 1.0
    """By this the environment multiplies the game's rewards before it pays them."""

    def normalised(self, attempt_return: float) -> float | None:
        """The paid return of an attempt in units of the span from `low` to `high`; None where they are not known."""
        if self.low is None or self.high is None:
            return None
        return (attempt_return / self.scale - self.low) / (self.high - self.low)


@dataclass(frozen=True)
class Task:
    """What one rollout plays: a world, and an instruction in it (empty: free play)."""

    seed: int
    instruction: tuple[int, ...] = ()
    wanted: bool = False
    split: str = "train"
    game: str = ""
    """The name of one of the environment's games, "" where it has one only."""


@dataclass(frozen=True)
class EnvSpec:
    """What a policy has to know of an environment; stored with every checkpoint."""

    name: str
    observation_space: gymnasium.Space
    action_space: gymnasium.Space
    max_steps: int
    max_instruction: int
    vocabulary: str
    success_return: float | None
    games: tuple[Game, ...] = ()
    free_attempts: int = 0

    @property
    def goals(self) -> bool:
        """Whether the environment takes instructions."""
        return self.max_instruction > 0

    @classmethod
    def from_env(cls, env: gymnasium.Env) -> "EnvSpec":
        """The spec of an environment that keeps the conventions of this module."""
        said = {attribute: env.get_wrapper_attr(attribute) for attribute in _ATTRIBUTES}
        spaces = {"observation_space": env.observation_space, "action_space": env.action_space}
        return cls(**spaces, **said, games=games_of(env), free_attempts=free_attempts_of(env))

    def to_json(self) -> dict[str, Any]:
        """The spec in JSON's own types."""
        spaces = ("observation_space", "action_space")
        plain = {key: space_to_json(value) if key in spaces else value for key, value in vars(self).items()}
        games = {
            game.name: {key: value for key, value in game._asdict().items() if key != "name"} for game in self.games
        }
        return {**plain, "games": games}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "EnvSpec":
        """The spec that `to_json` described, also one from before there were games."""
        spaces = {key: space_from_json(data[key]) for key in ("observation_space", "action_space")}
        games = tuple(Game(name, **rest) for name, rest in data.get("games", {}).items())
        return cls(**{**data, **spaces, "games": games})

    def differences(self, other: "EnvSpec") -> list[str]:
        """Every way in which `other` differs, one readable line each: "max_steps: 2500 against 1000"."""
        mine, theirs = _flat(self.to_json()), _flat(other.to_json())
        return [
            f"{key}: {mine.get(key, 'nothing')} against {theirs.get(key, 'nothing')}"
            for key in dict.fromkeys([*mine, *theirs])
            if mine.get(key) != theirs.get(key)
        ]


def games_of(env: gymnasium.Env) -> tuple[Game, ...]:
    """The games that an environment says it plays, () where it says nothing of the kind."""
    return tuple(env.get_wrapper_attr("games")) if env.has_wrapper_attr("games") else ()


def free_attempts_of(env: gymnasium.Env) -> int:
    """How many of the first attempts at a task an environment says it does not pay."""
    return int(env.get_wrapper_attr("free_attempts")) if env.has_wrapper_attr("free_attempts") else 0


def train_seed(rng: np.random.Generator) -> int:
    """The seed of a world to train on: an even number."""
    return 2 * int(rng.integers(MAX_SEED // 2))


def held_out_seed(rng: np.random.Generator) -> int:
    """The seed of a world kept for evaluation: an odd number, hence never one to train on."""
    return train_seed(rng) + 1


def _flat(data: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested mappings as one, with keys like "observation_space.view.shape"."""
    flat: dict[str, Any] = {}
    for key, value in data.items():
        path = prefix if key == "spaces" else f"{prefix}.{key}".lstrip(".")
        flat.update(_flat(value, path) if isinstance(value, dict) else {path: value})
    return flat
