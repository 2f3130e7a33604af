"""Averages over the steps that exist."""

from __future__ import annotations

from torch import Tensor


def masked_mean(values: Tensor, valid: Tensor) -> Tensor:
    """Mean of `values` (..., B, L, G) over the steps where `valid` (B, L) is true, as a scalar.

    Every leading and trailing axis is averaged over; a batch without a valid step gives zero.
    """
    assert values.shape[-3:-1] == valid.shape, f"values {tuple(values.shape)} against mask {tuple(valid.shape)}"
    mask = valid.unsqueeze(-1).to(values.dtype)  # (B, L, 1)
    per_step = values.numel() // valid.numel()
    return (values * mask).sum() / (mask.sum() * per_step).clamp(min=1.0)
