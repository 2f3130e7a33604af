"""PopArt: normalised value targets, with outputs preserved when the statistics move (van Hasselt et al. 2016).

One pair of statistics per discount, shared by all critics and their targets.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from agent.nets.heads import CriticHead

MIN_SIGMA = 1e-2  # rewards can be absent for a long time: noise must not be blown up


class PopArt(nn.Module):
    """Exponential moving mean and scale of the targets of each of G discounts, with bias correction."""

    mean_sum: Tensor
    square_sum: Tensor
    weight_sum: Tensor

    def __init__(self, num_discounts: int, beta: float) -> None:
        super().__init__()
        self.beta = beta
        for name in ("mean_sum", "square_sum"):
            self.register_buffer(name, torch.zeros(num_discounts, dtype=torch.float64))
        self.register_buffer("weight_sum", torch.zeros((), dtype=torch.float64))

    @property
    def mu(self) -> Tensor:
        """Mean of the targets (G,); 0 before the first."""
        return self.mean_sum / self.weight_sum.clamp(min=1e-12)

    @property
    def sigma(self) -> Tensor:
        """Standard deviation of the targets (G,), at least `MIN_SIGMA`; 1 before the first."""
        if not self.weight_sum:
            return torch.ones_like(self.mean_sum)
        variance = self.square_sum / self.weight_sum - self.mu.square()
        return variance.clamp(min=MIN_SIGMA**2).sqrt()

    def normalise(self, values: Tensor) -> Tensor:
        """(y - mu) / sigma for `values` (..., G)."""
        return (values - self.mu.float()) / self.sigma.float()

    def denormalise(self, values: Tensor) -> Tensor:
        """sigma y + mu for `values` (..., G)."""
        return values * self.sigma.float() + self.mu.float()

    @torch.no_grad()
    def update(self, targets: Tensor, valid: Tensor, *critics: CriticHead) -> None:
        """Move the statistics towards `targets` (B, L, G) at `valid` (B, L); the `critics` keep their outputs.

        Targets that are not finite move nothing: they will show in the loss.
        """
        chosen = targets[valid].double()  # (N, G)
        if not len(chosen) or not chosen.isfinite().all():
            return
        old_mu, old_sigma = self.mu, self.sigma
        self.mean_sum.lerp_(chosen.mean(0), self.beta)
        self.square_sum.lerp_(chosen.square().mean(0), self.beta)
        self.weight_sum.lerp_(torch.ones_like(self.weight_sum), self.beta)
        ratio = (old_sigma / self.sigma).float()[:, None, None]  # (G, 1, 1), over actions and the one output
        shift = ((old_mu - self.mu) / self.sigma).float()[:, None, None]
        for critic in critics:
            critic.out.weight.unflatten(-1, critic.shape).mul_(ratio)
            critic.out.bias.unflatten(-1, critic.shape).mul_(ratio).add_(shift)
