"""Running normalisation of real-valued inputs."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class RunningNorm(nn.Module):
    """(x - mean) / std per feature, clipped to +-`clip`; exact streaming moments (Chan et al. 1979).

    `update` moves the statistics and is called on training data only; `forward` never does.
    """

    count: Tensor
    mean: Tensor
    sum_squares: Tensor

    def __init__(self, num_features: int, clip: float = 10.0) -> None:
        super().__init__()
        self.clip = clip
        self.register_buffer("count", torch.zeros((), dtype=torch.float64))
        self.register_buffer("mean", torch.zeros(num_features, dtype=torch.float64))
        self.register_buffer("sum_squares", torch.zeros(num_features, dtype=torch.float64))

    @torch.no_grad()
    def update(self, x: Tensor, valid: Tensor) -> None:
        """Take in `x` (B, T, F) at the steps where `valid` (B, T) is true."""
        chosen = x[valid].double()  # (N, F)
        if not len(chosen):
            return
        total = self.count + len(chosen)
        mean = chosen.mean(0)
        delta = mean - self.mean
        self.sum_squares += (chosen - mean).square().sum(0) + delta.square() * self.count * len(chosen) / total
        self.mean += delta * len(chosen) / total
        self.count.copy_(total)

    def forward(self, x: Tensor) -> Tensor:
        """`x` (..., F) normalised; unchanged before the first update."""
        if not self.count:
            return x.clamp(-self.clip, self.clip)
        std = (self.sum_squares / self.count).clamp(min=1e-8).sqrt()
        return ((x - self.mean.float()) / std.float()).clamp(-self.clip, self.clip)
