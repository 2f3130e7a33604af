"""The actor and the critic ensemble: from a representation to log-probabilities and values, for every discount."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from agent.nets.transformer import NEGATIVE_SLOPE


class ActorHead(nn.Module):
    """Two hidden layers, then one categorical distribution over A actions per discount."""

    def __init__(self, d_in: int, d_hidden: int, num_discounts: int, num_actions: int) -> None:
        super().__init__()
        self.shape = (num_discounts, num_actions)
        self.hidden = nn.Sequential(
            nn.Linear(d_in, d_hidden),
            nn.LeakyReLU(NEGATIVE_SLOPE),
            nn.Linear(d_hidden, d_hidden),
            nn.LeakyReLU(NEGATIVE_SLOPE),
        )
        self.out = nn.Linear(d_hidden, num_discounts * num_actions)
        nn.init.normal_(self.out.weight, std=0.01)
        nn.init.zeros_(self.out.bias)

    def forward(self, x: Tensor) -> Tensor:
        """`x` (..., d_in) to log pi(a | s): (..., G, A)."""
        logits = self.out(self.hidden(x)).unflatten(-1, self.shape)
        return torch.log_softmax(logits.float(), dim=-1)

    def last_discount(self, x: Tensor) -> Tensor:
        """log pi(a | s) (..., A) of the discount that acts, without computing the others."""
        num_actions = self.shape[1]
        logits = F.linear(self.hidden(x), self.out.weight[-num_actions:], self.out.bias[-num_actions:])
        return torch.log_softmax(logits, dim=-1)


class EnsembleLinear(nn.Module):
    """C independent linear layers as one batched matrix product: (C, N, d_in) to (C, N, d_out)."""

    def __init__(self, num_members: int, d_in: int, d_out: int, gain: float = 1.0) -> None:
        super().__init__()
        bound = gain / math.sqrt(d_in)
        self.weight = nn.Parameter(torch.empty(num_members, d_in, d_out).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.zeros(num_members, 1, d_out))

    def forward(self, x: Tensor, members: Tensor | None = None) -> Tensor:
        """All members, or only the `members` (K,) given: then `x` is (K, N, d_in)."""
        if members is None:
            return torch.baddbmm(self.bias, x, self.weight)
        return torch.baddbmm(self.bias[members], x, self.weight[members])


class CriticHead(nn.Module):
    """An ensemble of C critics. Each gives, for every discount and action, one scalar or U logits over value bins.

    The output layer's columns are ordered (G, A, U).
    """

    def __init__(
        self, num_critics: int, d_in: int, d_hidden: int, num_discounts: int, num_actions: int, num_bins: int
    ) -> None:
        super().__init__()
        self.num_critics = num_critics
        self.shape = (num_discounts, num_actions, num_bins)
        self.first = EnsembleLinear(num_critics, d_in, d_hidden)
        self.second = EnsembleLinear(num_critics, d_hidden, d_hidden)
        self.out = EnsembleLinear(num_critics, d_hidden, math.prod(self.shape), gain=0.1)

    def hidden(self, x: Tensor, members: Tensor | None = None) -> Tensor:
        """`x` (..., d_in) to the last hidden layer (C, N, d_hidden), N the product of the leading axes."""
        count = self.num_critics if members is None else len(members)
        flat = x.flatten(0, -2).expand(count, -1, -1)
        wide = F.leaky_relu(self.first(flat, members), NEGATIVE_SLOPE)
        return F.leaky_relu(self.second(wide, members), NEGATIVE_SLOPE)

    def outputs(self, hidden: Tensor, members: Tensor | None = None) -> Tensor:
        """All outputs of a hidden layer (C, N, d_hidden): (C, N, G, A, U)."""
        return self.out(hidden, members).unflatten(-1, self.shape)

    def taken_outputs(self, hidden: Tensor, actions: Tensor) -> Tensor:
        """Only the outputs of the executed `actions` (N,): (C, N, G, U).

        Many bins make a wide output layer: then steps are sorted by action and each action's columns are applied to
        its own steps alone, a fraction 1/A of the work.
        """
        num_discounts, num_actions, num_bins = self.shape
        if num_bins == 1:
            index = actions[:, None, None, None].expand(self.num_critics, -1, num_discounts, 1, 1)
            return self.outputs(hidden).gather(3, index).squeeze(3)
        order = torch.argsort(actions, stable=True)
        counts = torch.bincount(actions, minlength=num_actions).tolist()
        weight = self.out.weight.unflatten(-1, self.shape)  # (C, d_hidden, G, A, U)
        bias = self.out.bias.unflatten(-1, self.shape)
        parts = [
            torch.baddbmm(bias[:, :, :, action].flatten(2), part, weight[:, :, :, action].flatten(2))
            for action, part in enumerate(hidden.index_select(1, order).split(counts, dim=1))
            if part.shape[1]
        ]
        back = torch.argsort(order)
        return torch.cat(parts, dim=1).index_select(1, back).unflatten(-1, (num_discounts, num_bins))

    @torch.no_grad()
    def start_at(self, logits: Tensor) -> None:
        """Make every initial distribution over the value bins softmax(`logits` (U,)), whatever the state."""
        self.out.weight.mul_(0.01)
        self.out.bias.view(self.num_critics, -1, self.shape[-1]).copy_(logits)
