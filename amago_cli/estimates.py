"""What a run will need, known before it starts."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from amago_cli.output import size

if TYPE_CHECKING:
    import gymnasium

    from agent.config import Config

# Beside the observation: action, reward, terminated, truncated, is_first, progress.
SCALAR_BYTES_PER_STEP = 8 + 4 + 1 + 1 + 1 + 1


def describe_replay(config: Config) -> str:
    """Memory of a full replay against what is free, in words."""
    import psutil

    needed, free = replay_bytes(config), psutil.virtual_memory().available
    text = f"replay: {size(needed)} of memory when full, {size(free)} free"
    return text if needed < free else f"{text}: too little, lower replay.max_steps"


def replay_bytes(config: Config) -> int:
    """Bytes of `replay.max_steps` steps, or of the whole run when that is shorter."""
    from agent.catalog import ENVIRONMENTS

    env = ENVIRONMENTS[config.env.name].factory(config.env)()
    steps = min(config.replay.max_steps, config.run.steps or config.replay.max_steps)
    return steps * (observation_bytes(env.observation_space) + SCALAR_BYTES_PER_STEP)


def observation_bytes(space: gymnasium.Space) -> int:
    """Bytes of one observation."""
    from gymnasium.spaces import Dict

    if isinstance(space, Dict):
        return sum(observation_bytes(part) for part in space.values())
    assert space.dtype is not None and space.shape is not None, space
    return space.dtype.itemsize * prod(space.shape)
