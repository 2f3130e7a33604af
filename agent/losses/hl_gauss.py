"""Scalars as Gaussian histograms over bins: the alternative to two-hot labels (Farebrother et al. 2024, HL-Gauss)."""

from __future__ import annotations

import math

import torch
from torch import Tensor

SIGMA = 0.75  # standard deviation in bins, the paper's choice


def hl_gauss(values: Tensor, centers: Tensor) -> Tensor:
    """The mass of N(value, (SIGMA spacing)^2) in each bin: `values` (...) and even `centers` (U,) give (..., U).

    Values are clipped to the range of the centers; what falls outside the bins is left out and the rest sums to one.
    """
    spacing = centers[1] - centers[0]
    edges = torch.cat([centers - spacing / 2, centers[-1:] + spacing / 2])  # (U + 1,)
    clipped = values.clamp(centers[0], centers[-1]).unsqueeze(-1)
    cumulative = torch.special.erf((edges - clipped) / (math.sqrt(2) * SIGMA * spacing))
    mass = cumulative.diff(dim=-1)
    return mass / (cumulative[..., -1:] - cumulative[..., :1])
