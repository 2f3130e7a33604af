"""What the critics are trained towards."""

from __future__ import annotations

import torch
from torch import Tensor


def expected_value(values: Tensor, weights: Tensor) -> Tensor:
    """E_{a ~ pi} Q(s, a) over M choices: `values` (..., G, M) and `weights` (..., G, M) give (..., G)."""
    return (values * weights).sum(-1)


def td_target(
    rewards: Tensor,
    terminated: Tensor,
    next_values: Tensor,
    discounts: Tensor,
    *,
    continues: Tensor | None = None,
    num_steps: int = 1,
) -> Tensor:
    """y_t = r_t + gamma (1 - d_t) V(s_{t+1}), one column per discount (AMAGO-2, section 3).

    With `num_steps` n > 1 the n-step return: V(s_{t+1}) is replaced by the (n - 1)-step target of t + 1 wherever
    `continues` (B, L) says that the next transition of the same rollout is in the window; elsewhere it bootstraps
    earlier.

    Shapes: `rewards` (B, L) already scaled, `terminated` (B, L) bool, `next_values` (B, L, G), `discounts` (G,).
    Returns (B, L, G). Truncation is not termination: it bootstraps.
    """
    assert next_values.shape == (*rewards.shape, len(discounts)), f"next_values {tuple(next_values.shape)}"
    alive = discounts * (~terminated).to(next_values.dtype).unsqueeze(-1)  # (B, L, G)
    immediate = rewards.unsqueeze(-1)
    target = one_step = immediate + alive * next_values
    for _ in range(num_steps - 1):
        assert continues is not None and not continues[:, -1].any()
        later = torch.cat([target[:, 1:], target[:, -1:]], dim=1)
        target = torch.where(continues.unsqueeze(-1), immediate + alive * later, one_step)
    return target
