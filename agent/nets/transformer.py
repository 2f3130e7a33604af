"""The causal Transformer that is the agent's memory.

Pre-norm blocks with NormFormer's extra norms and per-head scales, sigma-reparametrised linear layers and Leaky ReLU
(AMAGO, section 3.2). One set of weights, three ways through it: `forward` over whole windows, `prefill` of a cache from
a window, and `step` by one token with the cache.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from agent.nets.linear import SigmaLinear

NEGATIVE_SLOPE = 0.01


def sinusoid(time: Tensor, width: int) -> Tensor:
    """Sinusoidal code (..., width) of absolute step indices `time` (...) (Vaswani et al. 2017, section 3.5)."""
    rates = torch.exp(torch.arange(0, width, 2, device=time.device) * (-math.log(10_000.0) / width))
    angles = time.unsqueeze(-1) * rates
    return torch.cat([angles.sin(), angles.cos()], dim=-1)


class Cache:
    """Keys and values of the tokens already seen by each of N actors.

    `keys`, `values`: (layers, N, H, capacity, D); `lengths`: (N,) tokens held for each actor.
    """

    def __init__(self, layers: int, actors: int, heads: int, capacity: int, width: int, device: torch.device) -> None:
        shape = (layers, actors, heads, capacity, width)
        self.keys = torch.zeros(shape, device=device)
        self.values = torch.zeros(shape, device=device)
        self.lengths = torch.zeros(actors, dtype=torch.long, device=device)

    @property
    def device(self) -> torch.device:
        return self.lengths.device


class Attention(nn.Module):
    """Causal multi-head self-attention with a learned scale per head (NormFormer)."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.project_in = SigmaLinear(d_model, 3 * d_model)
        self.project_out = SigmaLinear(d_model, d_model)
        self.head_scale = nn.Parameter(torch.ones(num_heads))

    def _split(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        batch, length, width = x.shape
        heads = self.project_in(x).view(batch, length, 3, self.num_heads, width // self.num_heads)
        query, key, value = heads.permute(2, 0, 3, 1, 4).unbind(0)  # each (B, H, T, D)
        return query, key, value

    def _merge(self, attended: Tensor) -> Tensor:
        scaled = attended * self.head_scale[:, None, None].to(attended.dtype)
        return self.project_out(scaled.transpose(1, 2).flatten(2))  # (B, T, d_model)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """`x` (B, T, d_model) to the output of the same shape, and the keys and values (B, H, T, D)."""
        query, key, value = self._split(x)
        return self._merge(F.scaled_dot_product_attention(query, key, value, is_causal=True)), key, value

    def step(self, x: Tensor, keys: Tensor, values: Tensor, lengths: Tensor) -> Tensor:
        """One token `x` (N, 1, d_model) for each actor, appended to its `keys` and `values` (N, H, capacity, D)."""
        query, key, value = self._split(x)
        rows = torch.arange(len(x), device=x.device)
        keys[rows, :, lengths] = key[:, :, 0]
        values[rows, :, lengths] = value[:, :, 0]
        held = int(lengths.max()) + 1
        visible = torch.arange(held, device=x.device) <= lengths[:, None]  # (N, held)
        attended = F.scaled_dot_product_attention(
            query, keys[:, :, :held], values[:, :, :held], attn_mask=visible[:, None, None]
        )
        return self._merge(attended)


class Block(nn.Module):
    """One Transformer layer."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int) -> None:
        super().__init__()
        self.norm_attention = nn.LayerNorm(d_model)
        self.attention = Attention(d_model, num_heads)
        self.norm_attended = nn.LayerNorm(d_model)
        self.norm_feed_forward = nn.LayerNorm(d_model)
        self.widen = SigmaLinear(d_model, d_ff)
        self.norm_wide = nn.LayerNorm(d_ff)
        self.narrow = SigmaLinear(d_ff, d_model)

    def _feed_forward(self, x: Tensor) -> Tensor:
        wide = F.leaky_relu(self.widen(self.norm_feed_forward(x)), NEGATIVE_SLOPE)
        return x + self.narrow(self.norm_wide(wide))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        attended, key, value = self.attention(self.norm_attention(x))
        return self._feed_forward(x + self.norm_attended(attended)), key, value

    def step(self, x: Tensor, keys: Tensor, values: Tensor, lengths: Tensor) -> Tensor:
        attended = self.attention.step(self.norm_attention(x), keys, values, lengths)
        return self._feed_forward(x + self.norm_attended(attended))


class Transformer(nn.Module):
    """Tokens (B, T, d_model) with absolute times (B, T) to representations (B, T, d_model).

    Padding may only stand at the end of a sequence: causality then hides it from every real token.
    """

    def __init__(self, d_model: int, num_layers: int, num_heads: int, d_ff: int) -> None:
        super().__init__()
        self.d_model = d_model
        self.num_heads = num_heads
        self.blocks = nn.ModuleList(Block(d_model, num_heads, d_ff) for _ in range(num_layers))
        self.norm_out = nn.LayerNorm(d_model)

    def forward(self, tokens: Tensor, time: Tensor) -> Tensor:
        x = tokens + sinusoid(time, self.d_model)
        for block in self.blocks:
            x, _, _ = block(x)
        return self.norm_out(x)

    def new_cache(self, num_actors: int, capacity: int) -> Cache:
        """An empty cache for `num_actors` actors of at most `capacity` tokens each."""
        device = self.norm_out.weight.device
        width = self.d_model // self.num_heads
        return Cache(len(self.blocks), num_actors, self.num_heads, capacity, width, device)

    def prefill(self, tokens: Tensor, time: Tensor, lengths: Tensor, cache: Cache, actors: Tensor) -> None:
        """Replace the cached context of `actors` (M,) by `tokens` (M, T, d_model), `lengths` (M,) of which count."""
        x = tokens + sinusoid(time, self.d_model)
        for layer, block in enumerate(self.blocks):
            x, key, value = block(x)
            cache.keys[layer, actors, :, : tokens.shape[1]] = key
            cache.values[layer, actors, :, : tokens.shape[1]] = value
        cache.lengths[actors] = lengths

    def step(self, tokens: Tensor, time: Tensor, cache: Cache) -> Tensor:
        """One token (N, d_model) at `time` (N,) for every actor: the representations (N, d_model) of a full pass."""
        x = (tokens + sinusoid(time, self.d_model)).unsqueeze(1)
        for layer, block in enumerate(self.blocks):
            assert isinstance(block, Block)
            x = block.step(x, cache.keys[layer], cache.values[layer], cache.lengths)
        cache.lengths += 1
        return self.norm_out(x).squeeze(1)
