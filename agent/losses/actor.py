"""The two policy updates for categorical actions. Both return a loss per step, (B, L, G)."""

from __future__ import annotations

import torch
from torch import Tensor


def policy_gradient(log_policy: Tensor, action_values: Tensor) -> Tensor:
    """The dependent actor (AMAGO-2, Eq. 2): -E_{a ~ pi} min_c Q_c(s, a), the expectation taken exactly.

    `log_policy` (B, L, G, A); `action_values` (C, B, L, G, A), used as constants: no gradient reaches the critics.
    """
    assert action_values.shape[1:] == log_policy.shape
    lowest = action_values.detach().amin(0)
    return -(log_policy.exp() * lowest).sum(-1)


def advantage(action_values: Tensor, log_policy: Tensor, actions: Tensor) -> Tensor:
    """Q(s, a) - E_{a' ~ pi} Q(s, a') with Q the mean over critics, without gradient: (B, L, G).

    `action_values` (C, B, L, G, A), `log_policy` (B, L, G, A), `actions` (B, L) the actions that were executed.
    """
    with torch.no_grad():
        mean = action_values.mean(0)  # (B, L, G, A)
        return taken(mean, actions) - (log_policy.exp() * mean).sum(-1)


def filtered_cloning(log_policy: Tensor, actions: Tensor, advantages: Tensor) -> Tensor:
    """The independent actor (AMAGO-2, Eq. 4): -1{A(s, a) > 0} log pi(a | s).

    `log_policy` (B, L, G, A), `actions` (B, L), `advantages` (B, L, G).
    """
    return -(advantages > 0).to(log_policy.dtype) * taken(log_policy, actions)


def taken(per_action: Tensor, actions: Tensor) -> Tensor:
    """The entries of `per_action` (..., B, L, G, A) at `actions` (B, L): (..., B, L, G)."""
    assert per_action.shape[-4:-2] == actions.shape
    index = actions[..., None, None].expand(*per_action.shape[:-1], 1)
    return per_action.gather(-1, index).squeeze(-1)
