"""One good environment, and others that each break one promise of it: what `amago envs check` has to find."""

import os
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from agent.envs.base import Game


class GoodEnv(gymnasium.Env):
    """Walk to the right end of a corridor of eight cells; the start is drawn."""

    max_steps = 12
    success_return = 1.0

    def __init__(self) -> None:
        self.observation_space = spaces.Dict(
            {"place": spaces.Discrete(8), "speed": spaces.Box(-1.0, 1.0, (2,), np.float32)}
        )
        self.action_space = spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        super().reset(seed=seed)
        self.place = int(self.np_random.integers(6))
        return self.see(), {}

    def step(self, action: Any) -> tuple[Any, Any, Any, Any, Any]:
        self.place = max(self.place + (1 if action else -1), 0)
        arrived = self.place == 7
        return self.see(), float(arrived), arrived, False, {"cause": "arrived"} if arrived else {}

    def see(self) -> dict[str, Any]:
        return {"place": self.place, "speed": np.zeros(2, np.float32)}


class Outside(GoodEnv):
    def see(self):
        return {**super().see(), "speed": np.array([0.0, 1.5], np.float32)}


class WrongType(GoodEnv):
    def __init__(self):
        super().__init__()
        self.observation_space["speed"] = spaces.Box(-1, 1, (2,), np.int8)

    def see(self):
        return {**super().see(), "speed": np.array([0.25, 0.5])}


class Missing(GoodEnv):
    def see(self):
        return {"place": self.place}


class BadReward(GoodEnv):
    def step(self, action):
        observation, _, terminated, truncated, info = super().step(action)
        return observation, float("inf"), terminated, truncated, info


class Unseeded(GoodEnv):
    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = int(np.random.default_rng().integers(2**16)) % 7
        return self.see(), {}

    def see(self):
        return {**super().see(), "speed": np.random.default_rng().uniform(-1, 1, 2).astype(np.float32)}


class Slippery(GoodEnv):
    def step(self, action):
        observation, *rest = super().step(action)
        return {**observation, "speed": np.random.default_rng().uniform(-1, 1, 2).astype(np.float32)}, *rest


class Undecided(GoodEnv):
    def step(self, action):
        observation, reward, terminated, truncated, info = super().step(action)
        return observation, reward, int(terminated), truncated, info


class Wordy(GoodEnv):
    def step(self, action):
        return *super().step(action)[:4], {"cause": "a very long story " * 5}


class CutShort(GoodEnv):
    def step(self, action):
        return *super().step(action)[:4], {"cause": "horizon"}


class NoDict(GoodEnv):
    def step(self, action):
        return *super().step(action)[:4], None


class Goals(GoodEnv):
    def step(self, action):
        return *super().step(action)[:4], {"achieved": (3,)}


class Progress(GoodEnv):
    def step(self, action):
        return *super().step(action)[:4], {"progress": 2}


class First(GoodEnv):
    def step(self, action):
        return *super().step(action)[:4], {"is_first": True}


class Stuck(GoodEnv):
    """No action is legal after the first step."""

    def __init__(self):
        super().__init__()
        self.observation_space["action_mask"] = spaces.MultiBinary(2)

    def see(self):
        return {**super().see(), "action_mask": np.zeros(2, np.int8)}


class Failing(GoodEnv):
    def step(self, action):
        if self.place == 3:
            raise RuntimeError("the floor\ngives way")
        return super().step(action)


class OneGameFails(GoodEnv):
    games = (Game("easy"), Game("broken", held_out=True))

    def reset(self, *, seed=None, options=None):
        if options and options["game"] == "broken":
            raise KeyError("broken")
        return super().reset(seed=seed)


class ElsewhereDifferent(GoodEnv):
    """What is seen depends on the process."""

    def see(self):
        return {**super().see(), "speed": np.full(2, (os.getpid() % 1000) / 1000, np.float32)}


class Endless(GoodEnv):
    """Keeps our conventions itself, but for its own time limit."""

    name, vocabulary, max_instruction = "endless", "", 0

    def __init__(self):
        super().__init__()
        self.observation_space = spaces.Dict({"place": spaces.MultiDiscrete([8], np.int64)})

    def see(self):
        return {"place": np.array([min(self.place, 7)])}

    def step(self, action):
        return *super().step(0)[:2], False, False, {"cause": ""}


class Texts(GoodEnv):
    def __init__(self):
        super().__init__()
        self.observation_space["mission"] = spaces.Text(5)


class NoLimit(GoodEnv):
    max_steps = None


def raises() -> gymnasium.Env:
    raise RuntimeError("no\nluck")


def returns_none() -> None:
    return None


class Exits(GoodEnv):
    def __init__(self) -> None:
        raise SystemExit(4)


class Coloured(GoodEnv):
    def __init__(self) -> None:
        raise RuntimeError("\x1b[31mred")


class Strange(GoodEnv):
    games = "chess"


class StrangeLimit(GoodEnv):
    max_steps = 2.5


class StrangeSuccess(GoodEnv):
    success_return = "yes"


class AllHeldOut(GoodEnv):
    games = (Game("a", held_out=True),)


class Twice(GoodEnv):
    games = ("a", "a")


not_callable = 3
