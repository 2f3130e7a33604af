"""From one time step's observation, instruction and history to one token.

How a part of the observation is encoded follows from its Gymnasium space alone:
few categories are one-hot, many categories and small counts are embedded, larger bounded integers are scaled to
[-1, 1], images go through a convolutional network, other reals are normalised by running statistics.
"""

from __future__ import annotations

import math

import gymnasium
import numpy as np
import torch
from gymnasium import spaces
from torch import Tensor, nn
from torch.nn import functional as F

from agent.batch import Inputs
from agent.nets.actions import ActionCode
from agent.nets.images import Eye, Image
from agent.nets.normalisation import RunningNorm
from agent.nets.part import Part
from agent.nets.transformer import NEGATIVE_SLOPE

# Categories of at most so many are one-hot, more are embedded; counts of at most so many are embedded, more scaled.
MAX_VALUES = 16


class OneHot(Part):
    """Categories in [low, low + n), few of them: each becomes n indicators."""

    def __init__(self, num_elements: int, low: int, num_values: int) -> None:
        super().__init__()
        self.low, self.num_values = low, num_values
        self.width = num_elements * num_values

    def forward(self, x: Tensor) -> Tensor:
        indices = (_flat(x).long() - self.low).clamp(0, self.num_values - 1)
        return F.one_hot(indices, self.num_values).flatten(2).float()


class Bits(Part):
    """Indicators as they are, such as the mask of legal actions."""

    def __init__(self, num_elements: int) -> None:
        super().__init__()
        self.width = num_elements

    def forward(self, x: Tensor) -> Tensor:
        return _flat(x).float()


class Embedded(Part):
    """Integers in [low, low + n), such as the cells of a symbolic grid: one learned vector for each value.

    Counts too, such as an inventory's: that the second log has come must not be a whisper beside a changed cell.
    """

    def __init__(self, num_elements: int, low: int, num_values: int, d_token: int) -> None:
        super().__init__()
        self.low = low
        self.table = nn.Embedding(num_values, d_token)
        self.width = num_elements * d_token

    def forward(self, x: Tensor) -> Tensor:
        return self.table(_flat(x).int() - self.low).flatten(2)


class Scaled(Part):
    """Bounded integers, mapped from [low, high] to [-1, 1]."""

    low: Tensor
    high: Tensor

    def __init__(self, low: np.ndarray, high: np.ndarray) -> None:
        super().__init__()
        self.register_buffer("low", torch.tensor(low, dtype=torch.float32).flatten(), persistent=False)
        self.register_buffer("high", torch.tensor(high, dtype=torch.float32).flatten(), persistent=False)
        self.width = low.size

    def forward(self, x: Tensor) -> Tensor:
        return 2 * (_flat(x).float() - self.low) / (self.high - self.low).clamp(min=1) - 1


class Normalised(Part):
    """Reals, normalised by running statistics."""

    def __init__(self, num_features: int) -> None:
        super().__init__()
        self.norm = RunningNorm(num_features)
        self.width = num_features

    def update(self, x: Tensor, valid: Tensor) -> None:
        self.norm.update(_flat(x).float(), valid)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(_flat(x).float())


def _flat(x: Tensor) -> Tensor:
    return x.reshape(*x.shape[:2], -1)  # (B, T, ...) to (B, T, elements), also where an element is a scalar


def part_for(space: gymnasium.Space, d_token: int, d_encoder: int, eye: Eye) -> Part:
    """The encoder of one entry of the observation space; ValueError for a space nobody encodes."""
    if isinstance(space, spaces.MultiBinary):
        return Bits(math.prod(space.shape))
    if isinstance(space, spaces.Discrete):
        space = spaces.MultiDiscrete([space.n], start=[space.start])
    if isinstance(space, spaces.MultiDiscrete):
        low = int(space.start.min())
        num_values = int((space.start.astype(int) + space.nvec).max()) - low
        if num_values <= MAX_VALUES:
            return OneHot(space.nvec.size, low, num_values)
        return Embedded(space.nvec.size, low, num_values, d_token)
    if isinstance(space, spaces.Box) and len(space.shape) == 3 and space.dtype == np.uint8:
        height, width, channels = space.shape
        return Image(height, width, channels, d_encoder, eye)
    if isinstance(space, spaces.Box) and np.issubdtype(space.dtype, np.integer):
        low, num_values = int(space.low.min()), int(space.high.max()) - int(space.low.min()) + 1
        if num_values <= MAX_VALUES:
            return Embedded(math.prod(space.shape), low, num_values, d_token)
        return Scaled(space.low, space.high)
    if isinstance(space, spaces.Box):
        return Normalised(math.prod(space.shape))
    raise ValueError(f"no encoder for an observation of type {space}")


class StepEncoder(nn.Module):
    """Everything known at a time step to one token (B, T, d_model).

    Beside the observation: the goals still to do (active one first), the previous action and reward, and whether an
    attempt has just begun (AMAGO, section 3.1).
    """

    goal_tokens: Tensor

    def __init__(
        self,
        observation_space: spaces.Dict,
        actions: ActionCode,
        goal_tokens: np.ndarray | None,
        num_goal_slots: int,
        *,
        d_token: int,
        d_encoder: int,
        d_model: int,
        eye: Eye,
    ) -> None:
        """`goal_tokens` (goals + 1, words) gives the words of each goal, or is None without instructions."""
        super().__init__()
        self.actions = actions
        self.names = tuple(observation_space)  # not the keys of a ModuleDict, which refuses "a.b" and "type"
        parts = [part_for(observation_space[name], d_token, d_encoder, eye) for name in self.names]
        self.parts = nn.ModuleList(parts)
        self.images = tuple(name for name, part in zip(self.names, parts, strict=True) if isinstance(part, Image))
        self.width = sum(part.width for part in parts) + actions.width + 2
        self.goal_words: nn.Embedding | None = None
        if goal_tokens is not None:
            self.register_buffer("goal_tokens", torch.tensor(goal_tokens, dtype=torch.long), persistent=False)
            self.goal_words = nn.Embedding(int(goal_tokens.max()) + 1, d_token)
            self.width += num_goal_slots * goal_tokens.shape[1] * d_token
        self.mix = nn.Sequential(
            nn.Linear(self.width, d_encoder),
            nn.LeakyReLU(NEGATIVE_SLOPE),
            nn.Linear(d_encoder, d_model),
            nn.LayerNorm(d_model),
        )

    def update_statistics(self, inputs: Inputs, valid: Tensor) -> None:
        """Take in a training batch; `valid` (B, T)."""
        for name, part in zip(self.names, self.parts, strict=True):
            assert isinstance(part, Part)
            part.update(inputs.observations[name], valid)

    def forward(self, inputs: Inputs) -> Tensor:
        return self.mix(self.features(inputs))

    def features(self, inputs: Inputs) -> Tensor:
        """All there is to mix into a token, (B, T, width)."""
        features = [part(inputs.observations[name]) for name, part in zip(self.names, self.parts, strict=True)]
        begun = inputs.is_first.unsqueeze(-1).float()  # (B, T, 1)
        previous = self.actions.encode(inputs.previous_actions) * (inputs.time > 0).unsqueeze(-1)
        rewards = inputs.previous_rewards.unsqueeze(-1)
        features += [previous, rewards.sign() * rewards.abs().log1p(), begun]
        if self.goal_words is not None:
            words = self.goal_tokens[inputs.goals.long()]  # (B, T, slots, words)
            features.append(self.goal_words(words).flatten(2))
        return torch.cat(features, dim=-1)
