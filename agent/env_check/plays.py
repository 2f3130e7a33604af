"""Random play of an environment, with all that it returned as its author wrote it, and what the agent made of it.

An environment that fails ends the play; the error is kept as a line. Judges nothing.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import gymnasium
import numpy as np

from agent.envs.adapted import AdaptedEnv, error_line
from agent.envs.gym_spaces import ACTION_MASK
from store.errors import AmagoError

_ACTION_SEEDS = 2**20  # more than there are worlds


class Returned(NamedTuple):
    """What a reset (without reward and ends) or a step returned."""

    observation: Any
    info: Any
    reward: Any = None
    terminated: Any = None
    truncated: Any = None


@dataclass
class Play:
    """One attempt or the beginning of one. Entry 0 of `returned` and `seen` is that of the reset."""

    seed: int
    game: str
    attempt: int
    returned: list[Returned] = field(default_factory=list)
    seen: list[dict[str, np.ndarray]] = field(default_factory=list)
    """What the agent observed."""
    actions: list[Any] = field(default_factory=list)
    """The agent's own."""
    ended: bool = False
    error: str = ""
    reset_seconds: float = 0.0
    step_seconds: float = 0.0
    """All steps together."""

    def where(self, step: int) -> str:
        """'in the world of seed 3, step 17', with the name of the game if there is one."""
        game = f" of {self.game}" if self.game else ""
        return f"in the world of seed {self.seed}{game}, {f'step {step}' if step else 'at the reset'}"


class Tap(gymnasium.Wrapper):
    """Passes everything through and keeps a copy: an environment may return the same array again and again."""

    def __init__(self, env: gymnasium.Env):
        super().__init__(env)
        self.returned: list[Returned] = []

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        answer = self.env.reset(seed=seed, options=options)
        observation, info = answer
        self.returned = [Returned(*deepcopy((observation, info)))]
        return answer

    def step(self, action: Any) -> Any:
        answer = self.env.step(action)
        observation, reward, terminated, truncated, info = answer
        self.returned.append(Returned(*deepcopy((observation, info, reward, terminated, truncated))))
        return answer


class Subject:
    """An environment under examination, ours or an adapted one."""

    def __init__(self, env: gymnasium.Env):
        self.adapted = isinstance(env, AdaptedEnv)
        if isinstance(env, AdaptedEnv):
            self.tap = env.original = Tap(env.original)
            self.env: gymnasium.Env = env
        else:
            self.env = self.tap = Tap(env)

    @property
    def original_space(self) -> gymnasium.Space:
        """What the author says can be observed."""
        return self.tap.observation_space

    def play(
        self,
        seed: int,
        *,
        game: str = "",
        attempt: int = 0,
        most: int,
        seconds: float,
        actions: Sequence[Any] | None = None,
    ) -> Play:
        """At most `most` random steps, or `actions`; no step begins later than `seconds` after the first."""
        play = Play(seed, game, attempt)
        self.tap.returned = []
        try:
            self._play(play, most if actions is None else len(actions), seconds, actions)
        except AmagoError as error:
            play.error = str(error)
        except (Exception, SystemExit) as error:
            play.error = error_line(error)
        play.returned = self.tap.returned
        return play

    def _play(self, play: Play, most: int, seconds: float, actions: Sequence[Any] | None) -> None:
        # By another seed than the world's, or the actions could be the very numbers that the world drew.
        self.env.action_space.seed(play.seed + _ACTION_SEEDS)
        started = time.perf_counter()
        options = {"instruction": (), "attempt": play.attempt, "game": play.game}
        observation, _ = self.env.reset(seed=play.seed, options=options)
        play.seen.append(deepcopy(observation))
        begun = time.perf_counter()
        play.reset_seconds = begun - started
        for step in range(most):
            action = self._draw(observation.get(ACTION_MASK)) if actions is None else actions[step]
            play.actions.append(action)
            observation, _, terminated, truncated, _ = self.env.step(action)
            play.seen.append(deepcopy(observation))
            play.step_seconds = time.perf_counter() - begun
            play.ended = bool(terminated or truncated)
            if play.ended or play.step_seconds > seconds:
                break

    def _draw(self, legal: np.ndarray | None) -> Any:
        """A random action among those that are legal."""
        if legal is None:
            return self.env.action_space.sample()
        return self.env.action_space.sample(legal.astype(np.int8))
