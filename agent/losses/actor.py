"""The two policy updates. Both return a loss per step, (B, L, G).

Expectations over the policy are sums over M choices of each step with `weights` (B, L, G, M): all actions with their
probabilities, or draws (see `agent.nets.distributions.Choices`).
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

MAX_WEIGHT = 20.0  # of the filter "exp": a few steps must not make the whole batch
MAX_GAIN = 5.0  # of the filter "linear", in root mean squares
MIN_SPREAD = 1e-3  # root mean square below which gains are not magnified further


def policy_gradient(weights: Tensor, values: Tensor) -> Tensor:
    """The dependent actor (AMAGO-2, Eq. 2): -E_{a ~ pi} min_c Q_c(s, a).

    `weights` (B, L, G, M); `values` (C, B, L, G, M) of critics whose parameters are constants here. The mean of the
    values is taken off as a constant: it changes no expected gradient, but the noise of weights that carry one (their
    sum is one for counted choices, on average for draws; there the gradient is scaled by (M - 1) / M).
    """
    assert values.shape[1:] == weights.shape
    lowest = values.amin(0)
    baseline = (weights * lowest).sum(-1, keepdim=True).detach()
    return -(weights * (lowest - baseline)).sum(-1) - baseline.squeeze(-1)


def advantage(taken: Tensor, weights: Tensor, values: Tensor) -> Tensor:
    """Q(s, a) - E_{a' ~ pi} Q(s, a') with Q the mean over critics, without gradient: (B, L, G).

    `taken` (C, B, L, G): values of the executed actions; `weights` (B, L, G, M) and `values` (C, B, L, G, M).
    """
    assert values.shape[1:] == weights.shape and taken.shape == values.shape[:-1]
    with torch.no_grad():
        return taken.mean(0) - (weights * values.mean(0)).sum(-1)


def advantage_filter(
    advantages: Tensor, valid: Tensor, kind: Literal["binary", "linear", "exp"], temperature: float
) -> Tensor:
    """What cloning a step is worth, without gradient, from `advantages` A (B, L, G) of the `valid` steps (B, L).

    "binary" 1{A > 0}; "exp" min(exp(A / T), MAX_WEIGHT); "linear" max(A, 0) by its root mean square over these
    steps, one for each discount, at most MAX_GAIN: errors of the critics about steps of no consequence then weigh next
    to nothing (as in self-imitation learning, Oh et al. 2018, Eq. 2, made free of the returns' scale).
    """
    with torch.no_grad():
        if kind == "binary":
            return (advantages > 0).to(advantages.dtype)
        if kind == "exp":
            return (advantages / temperature).exp().clamp(max=MAX_WEIGHT)
        gains = advantages.clamp(min=0) * valid.unsqueeze(-1)
        spread = (gains.square().sum((0, 1)) / valid.sum().clamp(min=1)).sqrt()  # (G,)
        return (gains / spread.clamp(min=MIN_SPREAD)).clamp(max=MAX_GAIN)


def filtered_cloning(log_probabilities: Tensor, worth: Tensor) -> Tensor:
    """The independent actor (AMAGO-2, Eq. 4): -f(A(s, a)) log pi(a | s), both arguments (B, L, G)."""
    assert log_probabilities.shape == worth.shape
    return -worth * log_probabilities
