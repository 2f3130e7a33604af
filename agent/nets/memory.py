"""What the agent's memories have in common, and which of them the configuration asks for."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

import torch
from torch import Tensor

from agent.config import ModelConfig
from agent.nets.memoryless import Memoryless
from agent.nets.recurrent import Recurrent
from agent.nets.transformer import Transformer


class Cache(Protocol):
    """What N actors remember between two steps. An actor whose length is set to 0 remembers nothing."""

    lengths: Tensor  # (N,) tokens behind each actor

    @property
    def device(self) -> torch.device: ...


C = TypeVar("C", bound=Cache)


class Memory(Protocol[C]):
    """A module from tokens to representations, whole windows at once or, with a cache, step by step: the same function.

    Position t depends on tokens 0..t only, so padding at the end of a window disturbs nothing.
    """

    def __call__(self, tokens: Tensor, time: Tensor) -> Tensor:
        """`tokens` (B, T, d_model) at absolute times (B, T) to representations (B, T, d_model)."""
        ...

    def new_cache(self, num_actors: int, capacity: int) -> C:
        """An empty cache for `num_actors` actors of at most `capacity` tokens each."""
        ...

    def prefill(self, tokens: Tensor, time: Tensor, lengths: Tensor, cache: C, actors: Tensor) -> None:
        """Replace what `actors` (M,) remember by `tokens` (M, T, d_model), `lengths` (M,) of which count."""
        ...

    def step(self, tokens: Tensor, time: Tensor, cache: C) -> Tensor:
        """One token (N, d_model) at `time` (N,) for every actor: the representations (N, d_model) of a full pass."""
        ...


def build_memory(model: ModelConfig) -> Memory[Any]:
    """The module that `model.memory` names."""
    if model.memory == "transformer":
        return Transformer(model.d_model, model.num_layers, model.num_heads, model.d_ff)
    if model.memory == "gru":
        return Recurrent(model.d_model, model.num_layers)
    return Memoryless(model.d_model, model.num_layers, model.d_ff)
