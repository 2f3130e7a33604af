"""From the outputs of critics to values.

The values of learning, in the scale of the scaled rewards. Knows networks and the losses' ways to write a number down,
no batch and no actor.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from agent.config import LossConfig
from agent.losses.two_hot import bin_centers, expectation, symexp
from agent.nets.distributions import Choices
from agent.nets.heads import CriticHead
from agent.nets.model import ActingModel

# Logits decoded at once: on a CPU so few that they stay in the cache, on a GPU so many that it is busy.
_CHUNK = {"cpu": 2**20, "cuda": 2**26}


def value_bins(config: LossConfig) -> Tensor:
    """The bins (U,) of the independent critic; none for the dependent one."""
    if config.critic == "dep":
        return torch.empty(0)
    return bin_centers(config.num_bins, config.value_min, config.value_max, spaced_in_symlog=config.value_symlog)


def policy_values(
    model: ActingModel,
    critics: CriticHead,
    features: Tensor,
    choices: Choices,
    config: LossConfig,
    members: Tensor | None = None,
) -> Tensor:
    """Values (C or K, B, L, G, M) of a policy's choices, from features (C or K, N, ...) of the states.

    Many bins make large outputs: they are decoded in parts, one critic and some steps at a time.
    """
    shape = choices.weights.shape[:2]  # B, L
    actions = None if choices.actions is None else choices.actions.flatten(0, 1)  # (N, G, M, E)
    if config.critic == "dep":
        return decode(model, critics.policy_outputs(features, actions, members), config, trailing=1).unflatten(1, shape)
    ensemble = torch.arange(critics.num_critics, device=features.device) if members is None else members
    per_step = math.prod(choices.weights.shape[2:]) * critics.shape[-1]
    steps = max(1, _CHUNK[features.device.type] // per_step)
    tried = [None] * -(-features.shape[1] // steps) if actions is None else actions.split(steps)
    values = [
        torch.cat(
            [
                decode(model, critics.policy_outputs(some, acts, member), config, trailing=1)
                for some, acts in zip(part.split(steps, 1), tried, strict=True)
            ],
            1,
        )
        for part, member in zip(features.split(1), ensemble.split(1), strict=True)
    ]
    return torch.cat(values).unflatten(1, shape)


def decode(model: ActingModel, outputs: Tensor, config: LossConfig, trailing: int = 0) -> Tensor:
    """Outputs (..., G, U), or with `trailing` 1 (..., G, M, U), as values in the scale of the scaled rewards."""
    if config.critic == "dep":
        return per_discount(model.popart.denormalise, outputs.squeeze(-1).float(), trailing)
    decoded = expectation(outputs.float(), model.bin_centers)
    return symexp(decoded) if config.value_symlog else decoded


def per_discount(scale: Callable[[Tensor], Tensor], values: Tensor, trailing: int) -> Tensor:
    """`scale`, which wants the discounts last, on `values` (..., G) or (..., G, M)."""
    return scale(values.transpose(-1, -2)).transpose(-1, -2) if trailing else scale(values)
