"""What forecasts of reached goals are trained towards."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional as F

_TINY = 1e-12  # stands for a chance of 0, which has no logarithm


def reach_target(reached: Tensor, next_values: Tensor, dead: Tensor, valid: Tensor, discount: float) -> Tensor:
    """y_t = 1 where a goal is reached, else gamma max(V_{t+1}, y_{t+1}): the shortest way that is known, (B, L, K).

    `reached` (B, L, K) bool, `next_values` (B, L, K) of the steps after, `dead` (B, L) bool where nothing follows,
    `valid` (B, L) bool, the valid steps first. What the window goes on to reach is a bound from below on the best
    value, as in optimality tightening (He et al. 2017), so that one update tells of it all the steps before.
    """
    assert reached.shape == next_values.shape and dead.shape == valid.shape == reached.shape[:2]
    alive = (valid & ~dead).unsqueeze(-1)
    worth = torch.where(reached & valid.unsqueeze(-1), 1.0, discount * next_values * alive)
    fading = math.log(discount) * torch.arange(reached.shape[1], device=reached.device).view(-1, 1)
    # y_t is the largest gamma^(j - t) worth_j of all j >= t; logarithms keep it exact in long windows
    best = (worth.clamp(min=_TINY).log() + fading).flip(1).cummax(1).values.flip(1)
    return (best - fading).exp()


def forecast_error(logits: Tensor, targets: Tensor) -> Tensor:
    """Cross-entropy of `logits` (B, L, K) with `targets` (B, L, K) from 0 to 1, summed over kinds: (B, L)."""
    assert logits.shape == targets.shape
    return F.binary_cross_entropy_with_logits(logits, targets, reduction="none").sum(-1)


def move_error(moves: Tensor, positions: Tensor, is_first: Tensor) -> Tensor:
    """Squares of what `moves` (B, L, D) miss of the way between `positions` (B, L + 1, D), summed over D: (B, L).

    No error where an attempt begins after the step, `is_first` (B, L + 1): the world moved then, not the agent.
    """
    assert moves.shape[:2] == (positions.shape[0], positions.shape[1] - 1)
    way = positions.float().diff(dim=1)
    return (moves - way).square().sum(-1) * ~is_first[:, 1:]
