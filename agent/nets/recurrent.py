"""A GRU memory: the recurrent baseline of the AMAGO papers, with the interface of the Transformer.

Each layer adds a GRU's output to what came in, normalised before (the Transformer's residual path), so that the present
step has a way around the recurrence. The GRU is PyTorch's, unchanged: no sigma-reparametrised layers.

It does not look at `time`: steps come in order, which is all that the Transformer learns from positions; an agent that
has to tell the time has to count.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


class HiddenStates:
    """What each of N actors remembers.

    `hidden`: (layers, N, d_model), meaningless for actors without a token; `lengths`: (N,) tokens behind each of them.
    """

    def __init__(self, layers: int, actors: int, width: int, device: torch.device) -> None:
        self.hidden = torch.zeros(layers, actors, width, device=device)
        self.lengths = torch.zeros(actors, dtype=torch.long, device=device)

    @property
    def device(self) -> torch.device:
        return self.lengths.device


class Layer(nn.Module):
    """x + GRU(norm(x))."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.gru = nn.GRU(d_model, d_model, batch_first=True)

    def forward(self, x: Tensor, hidden: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """`x` (B, T, d_model), after `hidden` (B, d_model), to the output and the hidden states after each step."""
        states, _ = self.gru(self.norm(x), None if hidden is None else hidden.unsqueeze(0))
        return x + states, states


class Recurrent(nn.Module):
    """Tokens (B, T, d_model) to representations (B, T, d_model), each from the steps up to its own.

    Padding may only stand at the end of a sequence: no real token comes after it.
    """

    def __init__(self, d_model: int, num_layers: int) -> None:
        super().__init__()
        self.d_model = d_model
        self.layers = nn.ModuleList(Layer(d_model) for _ in range(num_layers))
        self.norm_out = nn.LayerNorm(d_model)

    def forward(self, tokens: Tensor, time: Tensor) -> Tensor:
        x = tokens
        for layer in self.layers:
            x, _ = layer(x)
        return self.norm_out(x)

    def new_cache(self, num_actors: int, capacity: int) -> HiddenStates:
        """Empty memories for `num_actors` actors; they are of one size, whatever the `capacity` in tokens."""
        return HiddenStates(len(self.layers), num_actors, self.d_model, self.norm_out.weight.device)

    def prefill(self, tokens: Tensor, time: Tensor, lengths: Tensor, cache: HiddenStates, actors: Tensor) -> None:
        """Let `actors` (M,) remember `tokens` (M, T, d_model), `lengths` (M,) of which count, and nothing else."""
        x, rows = tokens, torch.arange(len(tokens), device=tokens.device)
        last = (lengths - 1).clamp(min=0)  # of no tokens any state will do: `step` does not look at it
        for index, layer in enumerate(self.layers):
            x, states = layer(x)
            cache.hidden[index, actors] = states[rows, last]
        cache.lengths[actors] = lengths

    def step(self, tokens: Tensor, time: Tensor, cache: HiddenStates) -> Tensor:
        """One token (N, d_model) for every actor: the representations (N, d_model) of a full pass."""
        x, empty = tokens.unsqueeze(1), (cache.lengths == 0).unsqueeze(-1)
        for index, layer in enumerate(self.layers):
            x, states = layer(x, cache.hidden[index].masked_fill(empty, 0.0))
            cache.hidden[index] = states[:, 0]
        cache.lengths += 1
        return self.norm_out(x).squeeze(1)
