"""What a run will need, known before it starts."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from amago_cli.environments import look_at
from amago_cli.output import size

if TYPE_CHECKING:
    import gymnasium

    from agent.config import Config
    from agent.env_check.finding import Finding
    from agent.envs.base import EnvSpec

# Beside observation and action: reward, terminated, truncated, is_first, progress.
SCALAR_BYTES_PER_STEP = 4 + 1 + 1 + 1 + 1


def describe_needs(config: Config) -> list[str]:
    """Size of the networks, and memory of a full replay against what is free, in words."""
    import psutil

    spec = look_at(config)
    whole, free = _replay_bytes(config, spec), psutil.virtual_memory().available
    needed = min(whole, config.replay.max_bytes)
    replay = f"replay: {size(needed)} of memory when full, {size(free)} free"
    if whole > needed:
        replay += f"; {size(whole - needed)} are read from disk"
    if needed > free:
        replay += ": too little, lower replay.max_bytes"
    return [f"networks: {_num_parameters(config, spec):,} parameters", replay]


def describe_memory(config: Config, spec: EnvSpec) -> Finding:
    """What one step takes, and a full replay."""
    from agent.env_check.finding import Finding

    steps, per_step = config.replay.max_steps, bytes_per_step(spec)
    text = f"{size(per_step)} a step, {size(steps * per_step)} for a replay of {steps:,} steps"
    if steps * per_step > config.replay.max_bytes:
        text += f", of which {size(config.replay.max_bytes)} in memory"
    return Finding("memory", True, text)


def bytes_per_step(spec: EnvSpec) -> int:
    """Bytes of one step in the replay, uncompressed."""
    return space_bytes(spec.observation_space) + space_bytes(spec.action_space) + SCALAR_BYTES_PER_STEP


def space_bytes(space: gymnasium.Space) -> int:
    """Bytes of one element: an observation, an action."""
    from gymnasium.spaces import Dict

    if isinstance(space, Dict):
        return sum(space_bytes(part) for part in space.values())
    assert space.dtype is not None and space.shape is not None, space
    return space.dtype.itemsize * prod(space.shape)


def _replay_bytes(config: Config, spec: EnvSpec) -> int:
    steps = min(config.replay.max_steps, config.run.steps or config.replay.max_steps)
    return steps * bytes_per_step(spec)


def _num_parameters(config: Config, spec: EnvSpec) -> int:
    """Trained numbers; the target networks repeat some of them."""
    import torch

    from agent.forward import build_model
    from agent.interface import interface_of
    from agent.nets.model import num_parameters

    torch.set_num_threads(1)  # the matrices are small: more would only wait for each other
    model = build_model(interface_of(spec), config)
    return num_parameters(model.parameters())
