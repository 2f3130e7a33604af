"""What forecasts of reached goals are trained towards."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F


def forecast_error(logits: Tensor, reached: Tensor) -> Tensor:
    """Cross-entropy of `logits` (B, L, K) with the kinds of goals `reached` (B, L, K), summed over kinds: (B, L, 1)."""
    assert logits.shape == reached.shape
    errors = F.binary_cross_entropy_with_logits(logits, reached.to(logits.dtype), reduction="none")
    return errors.sum(-1, keepdim=True)
