"""What exploration makes of a policy's actions: noise from given uniform numbers, so that rollouts can be repeated.

Knows action spaces, not policies nor how much to explore (`agent.envs.exploration`).
"""

from __future__ import annotations

import math

import gymnasium
import numpy as np
import torch
from gymnasium import spaces

from agent.nets.distributions import standard_normal


def num_chances(space: gymnasium.Space) -> int:
    """Uniform numbers W that the noise of one action is made of."""
    width = math.prod(space.shape or ())
    return width if isinstance(space, spaces.Box) else 2 * width


def disturb(
    space: gymnasium.Space,
    actions: np.ndarray,
    chances: np.ndarray,
    epsilon: np.ndarray,
    legal: np.ndarray | None = None,
) -> np.ndarray:
    """Executed actions (N, ...).

    With probability `epsilon` (N,) any legal choice instead of a discrete action or a bit; on continuous ones Gaussian
    noise of standard deviation `epsilon`, in units of half the range.
    """
    if isinstance(space, spaces.Box):
        noise = standard_normal(torch.from_numpy(chances)).numpy() * epsilon[:, None]
        low, high = space.low, space.high
        return np.clip(actions + noise * (high - low) / 2, low, high).astype(space.dtype)
    if isinstance(space, spaces.MultiBinary):
        gate, bit = np.split(chances, 2, axis=1)
        return np.where(gate < epsilon[:, None], bit < 0.5, actions).astype(space.dtype)
    return np.where(chances[:, 0] < epsilon, anything(space, chances[:, 1:], legal), actions)


def anything(space: gymnasium.Space, chances: np.ndarray, legal: np.ndarray | None = None) -> np.ndarray:
    """Uniformly drawn legal actions (N, ...) from chances (N, W), of which the first are used."""
    if isinstance(space, spaces.Discrete):
        if legal is None:
            return (chances[:, 0] * space.n).astype(np.int64)
        nth = (chances[:, 0] * legal.sum(1)).astype(np.int64)  # of the legal ones
        return (legal.cumsum(1) <= nth[:, None]).sum(1).clip(max=legal.shape[1] - 1)
    width = math.prod(space.shape or ())
    if isinstance(space, spaces.MultiBinary):
        return (chances[:, :width] < 0.5).astype(space.dtype)
    assert isinstance(space, spaces.Box), space
    return (space.low + chances[:, :width] * (space.high - space.low)).astype(space.dtype)
