"""Gymnasium environments with every kind of space, registered on import: "gym_zoo:Name-v0"."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

OBSERVATIONS: dict[str, gymnasium.Space] = {
    "Discrete": spaces.Discrete(3, start=-1),
    "ManyDiscrete": spaces.Discrete(10**9),
    "MultiDiscrete": spaces.MultiDiscrete([[2, 300], [4, 5]], start=[[0, 10], [-2, 0]]),
    "MultiBinary": spaces.MultiBinary([3, 2]),
    "Float64": spaces.Box(-np.inf, 1.5, (2, 3), np.float64),
    "Scalar": spaces.Box(0.0, 1.0, (), np.float64),
    "Bool": spaces.Box(0, 1, (2,), np.bool_),
    "Wide": spaces.Box(np.iinfo(np.int64).min, np.iinfo(np.int64).max, (2,), np.int64),
    "Cells": spaces.Box(2, 9, (4, 4, 2), np.uint8),
    "Bytes": spaces.Box(0, 255, (3, 3, 2), np.uint8),
    "Small": spaces.Box(-100, 100, (2,), np.int64),
    "Grey": spaces.Box(0, 255, (20, 30), np.uint8),
    "Image": spaces.Box(0, 255, (20, 30, 3), np.uint8),
    "ChannelsFirst": spaces.Box(0, 255, (3, 20, 30), np.uint8),
    "Nested": spaces.Dict(
        {
            "hand": spaces.Tuple([spaces.Discrete(2), spaces.Dict({"card/kind": spaces.MultiBinary(2)})]),
            "speed": spaces.Box(0.0, 1.0, (2,), np.float64),
            "empty": spaces.Box(0.0, 1.0, (0,), np.float32),
        }
    ),
    "Text": spaces.Dict({"mission": spaces.Text(8)}),
    "Graph": spaces.Graph(spaces.Box(0, 1, (2,)), None),
    "Sequence": spaces.Sequence(spaces.Discrete(2)),
    "Nothing": spaces.Dict({}),
    "Twins": spaces.Dict({"a/b": spaces.Discrete(2), "a b": spaces.Discrete(2)}),
    "Masked": spaces.Dict({"action_mask": spaces.Box(0, 1, (4,), np.int8), "place": spaces.Discrete(4)}),
    "OtherMask": spaces.Dict({"action_mask": spaces.MultiBinary(3)}),
}

ACTIONS: dict[str, gymnasium.Space] = {
    "Shifted": spaces.Discrete(3, start=5),
    "Two": spaces.MultiDiscrete([3, 2], start=[0, 7]),
    "Switches": spaces.MultiBinary([2, 2]),
    "Arm": spaces.Box(np.array([[-1.0, 0.0], [0.1, -2.0]]), np.array([[1.0, 0.1], [0.2, 3.0]]), dtype=np.float64),
    "Levels": spaces.Box(-2, 3, (2,), np.int64),
    "TooMany": spaces.MultiDiscrete([40, 40]),
    "Unbounded": spaces.Box(-np.inf, 1.0, (2,)),
    "Huge": spaces.Box(-np.finfo(np.float64).max, np.finfo(np.float64).max, (2,), np.float64),
    "Talk": spaces.Text(5),
    "Both": spaces.Tuple([spaces.Discrete(2), spaces.Discrete(2)]),
}


class ZooEnv(gymnasium.Env):
    """Observes samples of its space, demands actions of its space, remembers the last; ends after `length` steps."""

    def __init__(self, observation: str = "Discrete", action: str = "Shifted", length: int = 0):
        self.observation_space = OBSERVATIONS[observation]
        self.action_space = spaces.Discrete(4) if observation in ("Masked", "OtherMask") else ACTIONS[action]
        self.length = length

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None):
        super().reset(seed=seed)
        self.observation_space.seed(seed)
        self.steps = 0
        return self.observation_space.sample(), {"seed": seed}

    def step(self, action: Any):
        assert self.action_space.contains(action), action
        self.action = action
        self.steps += 1
        return self.observation_space.sample(), np.float64(1.0), np.bool_(self.steps == self.length), False, {}


class FaultyEnv(gymnasium.Env):
    """Does one thing wrong."""

    def __init__(self, fault: str):
        self.fault = fault
        self._fail_at("make")
        if fault != "spaces":
            self.observation_space, self.action_space = spaces.Box(-1.0, 1.0, (3,)), spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None):
        self._fail_at("reset")
        return np.zeros(3, np.float32), {}

    def step(self, action: Any):
        self._fail_at("step")
        if self.fault == "none":
            return None
        state = np.full(5 if self.fault == "shape" else 3, np.nan if self.fault == "state" else 0.0, np.float32)
        return state, np.nan if self.fault == "reward" else 0.0, False, False, {}

    def _fail_at(self, place: str) -> None:
        if self.fault == place:
            raise RuntimeError("two\nlines")


for name in OBSERVATIONS:
    gymnasium.register(f"See{name}-v0", ZooEnv, kwargs={"observation": name}, max_episode_steps=6)
for name in ACTIONS:
    gymnasium.register(f"Do{name}-v0", ZooEnv, kwargs={"action": name}, max_episode_steps=6)
gymnasium.register("Ending-v0", ZooEnv, kwargs={"length": 6}, max_episode_steps=6, reward_threshold=5)
gymnasium.register("Endless-v0", ZooEnv)
gymnasium.register("Endless-v1", ZooEnv)
for fault in ("make", "spaces", "reset", "step", "none", "shape", "reward", "state"):
    gymnasium.register(f"Faulty-{fault}-v0", FaultyEnv, kwargs={"fault": fault}, max_episode_steps=6)
