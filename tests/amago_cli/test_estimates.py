"""Needs of a run, by hand."""

from __future__ import annotations

import numpy as np
from gymnasium import spaces

from agent.config import Config, override
from amago_cli.estimates import describe_needs, space_bytes


def test_bytes_of_observations_and_actions() -> None:
    space = spaces.Dict(
        {
            "view": spaces.Box(0, 255, (9, 7), np.uint8),
            "daylight": spaces.Box(0, 1, (1,), np.float32),
            "facing": spaces.Discrete(4),  # int64
        }
    )
    assert space_bytes(space) == 9 * 7 + 4 + 8
    assert space_bytes(spaces.Box(-1, 1, (6,), np.float32)) == 24
    assert space_bytes(spaces.MultiBinary(5)) == 5


def test_the_budget_bounds_the_replay() -> None:
    changes = {"env.observation": "pixels", "run.steps": 1000, "replay.max_steps": 10_000}
    _, replay = describe_needs(override(Config(), changes))
    # 64 x 64 x 3 bytes of image and 16 of scalars, 1000 times
    assert replay.startswith("replay: 12.3 MB of memory when full, ")


def test_too_large_a_replay_is_said() -> None:
    _, replay = describe_needs(override(Config(), {"replay.max_steps": 10**12, "replay.max_bytes": 10**13}))
    assert replay.endswith("too little, lower replay.max_bytes")


def test_what_memory_does_not_hold_is_read_from_disk() -> None:
    changes = {"env.observation": "pixels", "run.steps": 1000, "replay.max_bytes": 2_300_000}
    _, replay = describe_needs(override(Config(), changes))
    assert replay.startswith("replay: 2.3 MB of memory when full, ") and replay.endswith("; 10.0 MB are read from disk")
