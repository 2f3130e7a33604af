"""The two value updates. Both return a loss per step, (..., B, L, G); reduce with `masked_mean`."""

from __future__ import annotations

import torch
from torch import Tensor

from agent.losses.hl_gauss import hl_gauss
from agent.losses.two_hot import two_hot


def regression(normalised_values: Tensor, normalised_targets: Tensor) -> Tensor:
    """The dependent critic (AMAGO-2, Eq. 1): (Q(s, a) - y)^2, both in PopArt's normalised space.

    `normalised_values` (C, B, L, G), `normalised_targets` (B, L, G) without gradient.
    """
    assert normalised_values.shape[1:] == normalised_targets.shape
    return (normalised_values - normalised_targets.detach()).square()


def classification(logits: Tensor, targets: Tensor, centers: Tensor) -> Tensor:
    """The independent critic (AMAGO-2, Eq. 3): -twohot(y)^T log Q(. | s, a).

    `logits` (C, B, L, G, U), `targets` (B, L, G) in the space of the bin `centers` (U,), without gradient.
    """
    assert logits.shape[1:-1] == targets.shape and logits.shape[-1] == len(centers)
    lower, upper, weight = two_hot(targets.detach(), centers)
    log_probability = torch.log_softmax(logits, dim=-1)

    def at(bins: Tensor) -> Tensor:
        index = bins.expand(logits.shape[:-1]).unsqueeze(-1)  # (C, B, L, G, 1)
        return log_probability.gather(-1, index).squeeze(-1)

    return -((1 - weight) * at(lower) + weight * at(upper))


def histogram(logits: Tensor, targets: Tensor, centers: Tensor) -> Tensor:
    """The independent critic with Gaussian labels (HL-Gauss): -hl_gauss(y)^T log Q(. | s, a); shapes as above."""
    assert logits.shape[1:-1] == targets.shape and logits.shape[-1] == len(centers)
    return -(hl_gauss(targets.detach(), centers) * torch.log_softmax(logits, dim=-1)).sum(-1)
