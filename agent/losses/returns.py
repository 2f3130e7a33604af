"""What the critics are trained towards."""

from __future__ import annotations

from torch import Tensor


def expected_value(action_values: Tensor, probabilities: Tensor) -> Tensor:
    """E_{a ~ pi} Q(s, a), exactly: `action_values` (..., G, A) and `probabilities` (..., G, A) give (..., G)."""
    return (action_values * probabilities).sum(-1)


def td_target(rewards: Tensor, terminated: Tensor, next_values: Tensor, discounts: Tensor) -> Tensor:
    """y_t = r_t + gamma (1 - d_t) V(s_{t+1}), one column per discount (AMAGO-2, section 3).

    Shapes: `rewards` (B, L) already scaled, `terminated` (B, L) bool, `next_values` (B, L, G), `discounts` (G,).
    Returns (B, L, G). Truncation is not termination: it bootstraps.
    """
    assert next_values.shape == (*rewards.shape, len(discounts)), f"next_values {tuple(next_values.shape)}"
    alive = (~terminated).to(next_values.dtype).unsqueeze(-1)  # (B, L, 1)
    return rewards.unsqueeze(-1) + discounts * alive * next_values
