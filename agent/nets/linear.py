"""Linear layers whose largest singular value is a learned parameter (sigma-reparametrisation).

W_hat = (gamma / sigma(W)) W keeps attention logits from exploding (Zhai et al. 2023, section 3; used by AMAGO).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class SigmaLinear(nn.Module):
    """y = (gamma / sigma(W)) W x + b, with sigma(W) estimated by power iteration.

    The singular vectors start exact (SVD) and are moved by `iterate_power`, once per update; a forward pass never
    moves them, so acting and learning see the same function.
    """

    u: Tensor
    v: Tensor

    def __init__(self, d_in: int, d_out: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(d_out, d_in))
        self.bias = nn.Parameter(torch.zeros(d_out))
        self.gamma = nn.Parameter(torch.ones(()))
        nn.init.trunc_normal_(self.weight, std=0.02)
        left, _, right = torch.linalg.svd(self.weight.detach(), full_matrices=False)
        self.register_buffer("u", left[:, 0].contiguous())
        self.register_buffer("v", right[0].contiguous())
        self._folded: Tensor | None = None

    def effective_weight(self) -> Tensor:
        """(gamma / sigma) W, differentiable in W and gamma."""
        sigma = (self.weight * torch.outer(self.u, self.v)).sum()  # u^T W v, in full precision under autocast too
        return self.weight * (self.gamma / sigma)

    def fold(self) -> None:
        """Remember the effective weight, for many forward passes without a change of parameters."""
        self._folded = self.effective_weight().detach()

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, self.effective_weight() if self._folded is None else self._folded, self.bias)


@torch.no_grad()
def iterate_power(module: nn.Module) -> None:
    """One power iteration on every `SigmaLinear` inside `module`."""
    for layer in module.modules():
        if isinstance(layer, SigmaLinear):
            layer.v.copy_(F.normalize(layer.weight.mT @ layer.u, dim=0, eps=1e-12))
            layer.u.copy_(F.normalize(layer.weight @ layer.v, dim=0, eps=1e-12))


def fold(module: nn.Module) -> None:
    """Fold every `SigmaLinear` inside `module`; call it again after the parameters change."""
    for layer in module.modules():
        if isinstance(layer, SigmaLinear):
            layer.fold()
