"""A run whose rollouts use everything that an export has to carry over, and readers that do not do well."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from store.layout import RunPaths
from store.rollouts import RolloutWriter
from store.runs import create_run
from store.trajectory import Trajectory, TrajectoryInfo

SPEC: dict[str, Any] = {
    "name": "two: rooms",
    "observation_space": {
        "type": "Dict",
        "spaces": {
            "cells": {"type": "MultiDiscrete", "dtype": "uint8", "shape": [2, 3], "nvec": 30, "start": 0},
            "bits": {"type": "MultiBinary", "shape": [4]},
            "daylight": {"type": "Box", "dtype": "float32", "shape": [1], "low": 0.0, "high": None},
            "image": {"type": "Box", "dtype": "uint8", "shape": [32, 40, 3], "low": 0, "high": 255},
        },
    },
    "action_space": {"type": "Discrete", "n": 5, "start": 0},
    "max_steps": 20,
    "max_instruction": 2,
    "vocabulary": "crafter",
    "success_return": None,
}
NAMES = [f"goal_{number}" for number in range(10)]


def describe(goals: Any) -> str:
    """ "goal_3, goal_7"."""
    return ", ".join(NAMES[goal] for goal in goals)


def rollout(seed: int, *, diagnosed: bool = False) -> Trajectory:
    """Two attempts of 4 and 5 steps at the goals 3 and 7: the first does both, the second only 3, and runs out of time.

    Goal 5 is reached beside 3 in the second attempt, unasked.
    """
    rng = np.random.default_rng(seed)
    trajectory = Trajectory(
        observations={
            "cells": rng.integers(0, 30, (10, 2, 3), dtype=np.uint8),
            "bits": rng.integers(0, 2, (10, 4), dtype=np.int8),
            "daylight": rng.random((10, 1), dtype=np.float32),
            "image": rng.integers(0, 256, (10, 32, 40, 3), dtype=np.uint8),
        },
        actions=rng.integers(0, 5, 9),
        rewards=np.float32([0, 1, 0, 1, 0, 0, 1, 0, 0.1]),
        terminated=np.zeros(9, bool),
        truncated=np.arange(9) == 8,
        is_first=np.isin(np.arange(10), (0, 4)),
        progress=np.array([0, 0, 1, 1, 0, 0, 0, 1, 1, 1], np.uint8),
        instruction=np.array([3, 7], np.int16),
        events=np.array([[1, 3], [3, 7], [6, 5], [6, 3]], np.int32),
        info=TrajectoryInfo(
            environment="two: rooms",
            seed=seed,
            actor=seed % 3,
            split="train",
            cause="time limit",
            wanted=seed % 2 == 0,
            policy_update=seed * 2,
            step=seed * 10,
            epsilon=0.1,
        ),
    )
    if diagnosed:
        trajectory = replace(trajectory, diagnostics={"values": rng.random((9, 2)).astype(np.float16)})
    return trajectory


def make_run(runs_dir: Path, rollouts: list[Trajectory]) -> RunPaths:
    """A run with these rollouts, one shard each."""
    paths = create_run(runs_dir, "rooms.1", {"env": {"name": "rooms"}})
    for trajectory in rollouts:
        writer = RolloutWriter(paths, "train", spec=SPEC)
        writer.append(trajectory)
        writer.close()
    return paths


def hanging(_: object) -> Iterator[int]:
    """Stands for HDF5 at work on damaged data."""
    yield 1
    while True:
        pass


def dying(_: object) -> Iterator[int]:
    """The same where it crashes."""
    yield 1
    os.abort()
