"""Scalars as distributions over bins: the labels of the scale-resistant critic (AMAGO-2, Eqs. 5-6).

The printed equations swap the two weights; here the nearer bin gets the larger one.
"""

from __future__ import annotations

import torch
from torch import Tensor


def symlog(x: Tensor) -> Tensor:
    """sign(x) ln(1 + |x|)."""
    return x.sign() * x.abs().log1p()


def symexp(x: Tensor) -> Tensor:
    """The inverse of `symlog`: sign(x) (exp|x| - 1)."""
    return x.sign() * x.abs().expm1()


def bin_centers(num_bins: int, low: float, high: float, *, spaced_in_symlog: bool) -> Tensor:
    """`num_bins` evenly spaced bins (U,) from `low` to `high`, which are given as returns.

    With `spaced_in_symlog` the bins live in symlog space, and so do the labels' interpolation and the decoding.
    """
    limits = torch.tensor([low, high], dtype=torch.float64)
    if spaced_in_symlog:
        limits = symlog(limits)
    return torch.linspace(limits[0].item(), limits[1].item(), num_bins, dtype=torch.float64).float()


def two_hot(values: Tensor, centers: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The two neighbouring bins of each value and the weight of the upper one.

    `values` (...) in the space of the `centers` (U,), clipped to their range. Returns `lower` (...) and
    `upper` (...) bin indices and `weight` (...) in [0, 1]: the label is (1 - weight) at lower, weight at upper, so
    that sum(label * centers) is the clipped value. A value that is not a number has a weight that is none either.
    """
    spacing = centers[1] - centers[0]
    place = ((values - centers[0]) / spacing).clamp(0, len(centers) - 1)
    lower = place.nan_to_num().floor().clamp(max=len(centers) - 2).long()
    return lower, lower + 1, place - lower


def expectation(logits: Tensor, centers: Tensor) -> Tensor:
    """sum(softmax(logits) * centers): `logits` (..., U) give (...), in the space of the `centers`."""
    weights = (logits - logits.amax(-1, keepdim=True)).exp()
    with torch.autocast(logits.device.type, enabled=False):  # advantages are small differences of these values
        sums = weights @ torch.stack([centers, torch.ones_like(centers)], dim=-1)  # one pass for both sums
    return sums[..., 0] / sums[..., 1]
