"""Stored rollouts that no environment can have produced are told from those that one can."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from agent.contents import require_possible, spec_from_json
from agent.envs.base import EnvSpec
from store.errors import StorageError
from store.trajectory import Trajectory, TrajectoryInfo

SPEC = EnvSpec(
    name="maze",
    observation_space=spaces.Dict(
        {
            "cell": spaces.MultiDiscrete(np.array([4]), np.uint8),
            "bits": spaces.MultiBinary(2),
            "count": spaces.Box(0, 9, (1,), np.int32),
            "speed": spaces.Box(-1, 1, (1,), np.float32),
        }
    ),
    action_space=spaces.Discrete(3),
    max_steps=10,
    max_instruction=2,
    vocabulary="cells 5",
    success_return=None,
)

TRAJECTORY = Trajectory(
    observations={
        "cell": np.array([[0], [3], [1]], np.uint8),
        "bits": np.array([[0, 1], [1, 1], [0, 0]], np.int8),
        "count": np.array([[0], [9], [5]], np.int32),
        "speed": np.array([[0], [1.5], [0]], np.float32),  # bounds of measurements are taken lightly
    },
    actions=np.array([0, 2]),
    rewards=np.float32([0, 1]),
    terminated=np.array([False, True]),
    truncated=np.zeros(2, bool),
    is_first=np.array([True, False, False]),
    progress=np.array([0, 0, 1], np.uint8),
    instruction=np.array([24], np.int16),
    events=np.array([[1, 24]], np.int32),
    info=TrajectoryInfo(
        environment="maze",
        seed=0,
        actor=0,
        split="train",
        cause="completed",
        wanted=False,
        policy_update=0,
        step=2,
        epsilon=0.0,
        number=4,
    ),
)


def test_what_can_be_is_accepted() -> None:
    require_possible(TRAJECTORY, SPEC)


def observed(name: str, array: np.ndarray | None) -> Trajectory:
    others = {key: value for key, value in TRAJECTORY.observations.items() if key != name}
    return replace(TRAJECTORY, observations=others if array is None else {**others, name: array})


@pytest.mark.parametrize(
    ("trajectory", "field"),
    [
        (observed("cell", np.array([[0], [4], [0]], np.uint8)), "observations/cell"),
        (observed("cell", np.zeros((3, 2), np.uint8)), "observations/cell"),
        (observed("cell", np.zeros((3, 1), np.int64)), "observations/cell"),
        (observed("cell", None), "observations are"),
        (observed("more", np.zeros((3, 1), np.uint8)), "observations are"),
        (observed("bits", np.full((3, 2), -1, np.int8)), "observations/bits"),
        (observed("count", np.full((3, 1), 10, np.int32)), "observations/count"),
        (observed("speed", np.full((3, 1), np.nan, np.float32)), "observations/speed"),
        (replace(TRAJECTORY, actions=np.array([0, 3])), "actions"),
        (replace(TRAJECTORY, actions=np.array([-1, 0])), "actions"),
        (replace(TRAJECTORY, rewards=np.float32([np.inf, 0])), "rewards"),
        (replace(TRAJECTORY, instruction=np.array([1, 2, 3], np.int16)), "subgoals"),
        (replace(TRAJECTORY, instruction=np.array([25], np.int16)), "vocabulary"),
        (replace(TRAJECTORY, events=np.array([[0, -1]], np.int32)), "vocabulary"),
    ],
)
def test_what_cannot_be_is_named(trajectory: Trajectory, field: str) -> None:
    with pytest.raises(StorageError, match=f"rollout 4 is impossible in maze: .*{field}"):
        require_possible(trajectory, SPEC)


def test_a_spec_comes_back_from_its_json() -> None:
    assert spec_from_json(SPEC.to_json()) == SPEC


@pytest.mark.parametrize(
    "changes",
    [
        {"vocabulary": "cells 5000"},
        {"observation_space": {"type": "Discrete", "n": 3, "start": 0}},
        {"observation_space": {"type": "Box"}},
        {"max_steps": 0},
        {"max_steps": "many"},
        {"more": 1},
    ],
    ids=str,
)
def test_a_spec_that_says_nonsense_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(StorageError, match="describe their environment wrongly"):
        spec_from_json({**SPEC.to_json(), **changes})
    with pytest.raises(StorageError):
        spec_from_json([1])
