"""No memory: every step by itself, with the interface of the Transformer. It shows what a task asks of memory.

The layers are the Transformer's without attention. `time` goes unused with it: there it says how the past is ordered,
and here there is no past; a task in which the present time matters has it among its observations.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from agent.nets.linear import SigmaLinear
from agent.nets.transformer import NEGATIVE_SLOPE


class Count:
    """How many tokens each of N actors has seen, `lengths` (N,): nothing of them is kept."""

    def __init__(self, actors: int, device: torch.device) -> None:
        self.lengths = torch.zeros(actors, dtype=torch.long, device=device)

    @property
    def device(self) -> torch.device:
        return self.lengths.device


class FeedForward(nn.Module):
    """One residual layer on each position."""

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.widen = SigmaLinear(d_model, d_ff)
        self.norm_wide = nn.LayerNorm(d_ff)
        self.narrow = SigmaLinear(d_ff, d_model)

    def forward(self, x: Tensor) -> Tensor:
        wide = F.leaky_relu(self.widen(self.norm(x)), NEGATIVE_SLOPE)
        return x + self.narrow(self.norm_wide(wide))


class Memoryless(nn.Module):
    """Tokens (..., d_model) to representations (..., d_model), each from its own token."""

    def __init__(self, d_model: int, num_layers: int, d_ff: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(*(FeedForward(d_model, d_ff) for _ in range(num_layers)))
        self.norm_out = nn.LayerNorm(d_model)

    def forward(self, tokens: Tensor, time: Tensor) -> Tensor:
        return self.norm_out(self.layers(tokens))

    def new_cache(self, num_actors: int, capacity: int) -> Count:
        """A cache that holds no tokens, whatever the `capacity`."""
        return Count(num_actors, self.norm_out.weight.device)

    def prefill(self, tokens: Tensor, time: Tensor, lengths: Tensor, cache: Count, actors: Tensor) -> None:
        """Nothing of `tokens` (M, T, d_model) is kept but their number, `lengths` (M,)."""
        cache.lengths[actors] = lengths

    def step(self, tokens: Tensor, time: Tensor, cache: Count) -> Tensor:
        """One token (N, d_model) for every actor, to representations (N, d_model)."""
        cache.lengths += 1
        return self(tokens, time)
