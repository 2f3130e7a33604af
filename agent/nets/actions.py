"""Actions as the networks see them: one-hot choices, bits, or numbers in [-1, 1].

Knows action spaces, not distributions.
"""

from __future__ import annotations

import gymnasium
import numpy as np
import torch
from gymnasium import spaces
from torch import Tensor, nn
from torch.nn import functional as F


class ActionCode(nn.Module):
    """Encodes executed actions (..., ) or (..., D) as features (..., width), and decodes what was drawn."""

    width: int

    def encode(self, actions: Tensor) -> Tensor:
        """Features (..., width), float32."""
        raise NotImplementedError

    def decode(self, features: Tensor) -> Tensor:
        """The action that the environment executes, of the space's shape."""
        raise NotImplementedError


class ChoiceCode(ActionCode):
    """Discrete: one of `width` choices."""

    def __init__(self, num_actions: int) -> None:
        super().__init__()
        self.width = num_actions

    def encode(self, actions: Tensor) -> Tensor:
        return F.one_hot(actions.long(), self.width).float()

    def decode(self, features: Tensor) -> Tensor:
        return features.argmax(-1)


class BitsCode(ActionCode):
    """MultiBinary: `width` bits."""

    def __init__(self, num_bits: int) -> None:
        super().__init__()
        self.width = num_bits

    def encode(self, actions: Tensor) -> Tensor:
        return actions.float()

    def decode(self, features: Tensor) -> Tensor:
        return features.to(torch.int8)


class BoxCode(ActionCode):
    """Box: each number from [low, high] to [-1, 1] and back."""

    low: Tensor
    high: Tensor

    def __init__(self, low: np.ndarray, high: np.ndarray) -> None:
        super().__init__()
        self.width = low.size
        self.register_buffer("low", torch.tensor(low, dtype=torch.float32), persistent=False)
        self.register_buffer("high", torch.tensor(high, dtype=torch.float32), persistent=False)

    def encode(self, actions: Tensor) -> Tensor:
        """A number that never changes becomes 0."""
        middle, radius = self.low / 2 + self.high / 2, self.high / 2 - self.low / 2
        return ((actions - middle) / radius.clamp(min=1e-12)).clamp(-1, 1)

    def decode(self, features: Tensor) -> Tensor:
        """Never beyond the bounds, not even by rounding."""
        middle, radius = self.low / 2 + self.high / 2, self.high / 2 - self.low / 2
        return (features * radius + middle).clamp(self.low, self.high)


def action_code(space: gymnasium.Space) -> ActionCode:
    """The code of an action space; ValueError for a space that the agent cannot act in."""
    if isinstance(space, spaces.Discrete) and space.start == 0:
        return ChoiceCode(int(space.n))
    if isinstance(space, spaces.MultiBinary) and len(space.shape) == 1:
        return BitsCode(space.shape[0])
    if isinstance(space, spaces.Box) and len(space.shape) == 1 and np.isfinite([space.low, space.high]).all():
        return BoxCode(space.low, space.high)
    raise ValueError(
        f"the agent cannot act in {space}: it needs Discrete from 0 on, one-dimensional MultiBinary, or a "
        "one-dimensional Box with finite bounds"
    )
