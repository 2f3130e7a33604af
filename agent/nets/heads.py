"""The actor and the critic ensembles: from a representation to parameters of a policy and to values, per discount."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from agent.nets.transformer import NEGATIVE_SLOPE

LEAN = 2.0
"""Nats that an action loses at first for each step it loses, see `Foresight.promise`."""


class ActorHead(nn.Module):
    """Two hidden layers, then the P raw parameters of one distribution per discount.

    Beside them it leans on what was foreseen, as much as it learns to: what each action loses goes into its logit.
    """

    def __init__(
        self, d_in: int, d_hidden: int, num_discounts: int, num_parameters: int, foreseen: slice | None = None
    ) -> None:
        """`foreseen`: where among the inputs the P losses of the actions are; None where there are none."""
        super().__init__()
        self.foreseen = foreseen
        self.lean = None if foreseen is None else nn.Parameter(torch.full((num_discounts, 1), LEAN))
        self.shape = (num_discounts, num_parameters)
        self.hidden = nn.Sequential(
            nn.Linear(d_in, d_hidden),
            nn.LeakyReLU(NEGATIVE_SLOPE),
            nn.Linear(d_hidden, d_hidden),
            nn.LeakyReLU(NEGATIVE_SLOPE),
        )
        self.out = nn.Linear(d_hidden, num_discounts * num_parameters)
        nn.init.normal_(self.out.weight, std=0.01)
        nn.init.zeros_(self.out.bias)

    def forward(self, x: Tensor) -> Tensor:
        """`x` (..., d_in) to (..., G, P)."""
        raw = self.out(self.hidden(x)).unflatten(-1, self.shape)
        return raw if self.lean is None else raw + self.lean * x[..., self.foreseen].unsqueeze(-2)

    def last_discount(self, x: Tensor) -> Tensor:
        """(..., P) for the discount that acts, without computing the others."""
        num_parameters = self.shape[1]
        raw = F.linear(self.hidden(x), self.out.weight[-num_parameters:], self.out.bias[-num_parameters:])
        return raw if self.lean is None else raw + self.lean[-1] * x[..., self.foreseen]


class EnsembleLinear(nn.Module):
    """C independent linear layers as one batched matrix product: (C, N, d_in) to (C, N, d_out)."""

    def __init__(self, num_members: int, d_in: int, d_out: int) -> None:
        super().__init__()
        bound = 1 / math.sqrt(d_in)
        self.weight = nn.Parameter(torch.empty(num_members, d_in, d_out).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.zeros(num_members, 1, d_out))

    def forward(self, x: Tensor, members: Tensor | None = None, *, frozen: bool = False) -> Tensor:
        """All members, or only the `members` (K,) given: then `x` is (K, N, d_in). `frozen`: no gradient for them."""
        weight, bias = (self.weight.detach(), self.bias.detach()) if frozen else (self.weight, self.bias)
        if members is None:
            return torch.baddbmm(bias, x, weight)
        return torch.baddbmm(bias[members], x, weight[members])


class CriticHead(nn.Module):
    """An ensemble of C critics. Each gives, for every discount, one scalar or U logits over value bins.

    Values come in two steps: `features` of the states alone (C, N, ...), then outputs for actions in these states:
    `taken_outputs` to train on, `policy_outputs` to evaluate a policy by, where the critics count as constants.
    """

    shape: tuple[int, int, int]  # order of the output layer's columns: (G, actions, U)

    def __init__(self, num_critics: int, d_hidden: int, shape: tuple[int, int, int]) -> None:
        super().__init__()
        self.num_critics = num_critics
        self.shape = shape
        self.out = EnsembleLinear(num_critics, d_hidden, math.prod(shape))

    def features(self, x: Tensor, members: Tensor | None = None) -> Tensor:
        """`x` (..., d_in) to (C or K, N, d_hidden), N the product of the leading axes."""
        raise NotImplementedError

    def taken_outputs(self, features: Tensor, actions: Tensor) -> Tensor:
        """Outputs (C, N, G, U) of the executed `actions` (N, E), encoded."""
        raise NotImplementedError

    def policy_outputs(self, features: Tensor, actions: Tensor | None, members: Tensor | None = None) -> Tensor:
        """Outputs (C or K, N, G, M, U) of the M choices of a policy: `actions` (N, G, M, E), or None for all."""
        raise NotImplementedError

    @torch.no_grad()
    def start_at(self, logits: Tensor) -> None:
        """Make every initial distribution over the value bins softmax(`logits` (U,)), whatever the state."""
        self.out.weight.mul_(0.1)
        self.out.bias.view(self.num_critics, -1, self.shape[-1]).copy_(logits)

    def _flat(self, x: Tensor, members: Tensor | None) -> Tensor:
        return x.flatten(0, -2).expand(self.num_critics if members is None else len(members), -1, -1)


class ChoiceCritic(CriticHead):
    """For discrete actions: the outputs of all A actions in one pass, columns ordered (G, A, U)."""

    def __init__(
        self, num_critics: int, d_in: int, d_hidden: int, num_discounts: int, num_actions: int, num_bins: int
    ) -> None:
        super().__init__(num_critics, d_hidden, (num_discounts, num_actions, num_bins))
        self.first = EnsembleLinear(num_critics, d_in, d_hidden)
        self.second = EnsembleLinear(num_critics, d_hidden, d_hidden)

    def features(self, x: Tensor, members: Tensor | None = None) -> Tensor:
        wide = F.leaky_relu(self.first(self._flat(x, members), members), NEGATIVE_SLOPE)
        return F.leaky_relu(self.second(wide, members), NEGATIVE_SLOPE)

    def policy_outputs(self, features: Tensor, actions: Tensor | None, members: Tensor | None = None) -> Tensor:
        assert actions is None, "discrete actions are counted, not drawn"
        return self.out(features, members, frozen=True).unflatten(-1, self.shape)

    def taken_outputs(self, features: Tensor, actions: Tensor) -> Tensor:
        """Many bins make a wide output layer: then steps are sorted by action and each action's columns are applied to
        its own steps alone, a fraction 1/A of the work.
        """
        num_discounts, num_actions, num_bins = self.shape
        taken = actions.argmax(-1)
        if num_bins == 1:
            index = taken[:, None, None, None].expand(self.num_critics, -1, num_discounts, 1, 1)
            return self.out(features).unflatten(-1, self.shape).gather(3, index).squeeze(3)
        order = torch.argsort(taken, stable=True)
        counts = torch.bincount(taken, minlength=num_actions).tolist()
        weight = self.out.weight.unflatten(-1, self.shape)  # (C, d_hidden, G, A, U)
        bias = self.out.bias.unflatten(-1, self.shape)
        parts = [
            torch.baddbmm(bias[:, :, :, action].flatten(2), part, weight[:, :, :, action].flatten(2))
            for action, part in enumerate(features.index_select(1, order).split(counts, dim=1))
            if part.shape[1]
        ]
        back = torch.argsort(order)
        return torch.cat(parts, dim=1).index_select(1, back).unflatten(-1, (num_discounts, num_bins))


class ActionCritic(CriticHead):
    """For actions that cannot be counted: the action is an input. Columns ordered (G, 1, U).

    The state's part of the first layer is computed once, however many actions are tried in it.
    """

    def __init__(
        self, num_critics: int, d_in: int, d_hidden: int, num_discounts: int, d_action: int, num_bins: int
    ) -> None:
        super().__init__(num_critics, d_hidden, (num_discounts, 1, num_bins))
        self.first = EnsembleLinear(num_critics, d_in, d_hidden)
        self.act = EnsembleLinear(num_critics, d_action, d_hidden)
        self.second = EnsembleLinear(num_critics, d_hidden, d_hidden)

    def features(self, x: Tensor, members: Tensor | None = None) -> Tensor:
        """Before the nonlinearity: the action's part is still to be added."""
        return self.first(self._flat(x, members), members)

    def taken_outputs(self, features: Tensor, actions: Tensor) -> Tensor:
        acted = self.act(self._flat(actions, None))
        hidden = F.leaky_relu(self.second(F.leaky_relu(features + acted, NEGATIVE_SLOPE)), NEGATIVE_SLOPE)
        return self.out(hidden).unflatten(-1, self.shape).squeeze(3)

    def policy_outputs(self, features: Tensor, actions: Tensor | None, members: Tensor | None = None) -> Tensor:
        """The policy of each discount is evaluated by that discount's columns alone."""
        assert actions is not None, "actions that cannot be counted must be drawn"
        each = actions.shape[:3]  # N, G, M
        acted = self.act(self._flat(actions, members), members, frozen=True).unflatten(1, each)
        wide = F.leaky_relu(features[:, :, None, None] + acted, NEGATIVE_SLOPE)
        hidden = F.leaky_relu(self.second(wide.flatten(1, 3), members, frozen=True), NEGATIVE_SLOPE).unflatten(1, each)
        weight, bias = self.out.weight.detach(), self.out.bias.detach()
        if members is not None:
            weight, bias = weight[members], bias[members]
        weight, bias = (x.unflatten(-1, (self.shape[0], self.shape[2])) for x in (weight, bias))  # (C, d | 1, G, U)
        return torch.einsum("cngmd,cdgu->cngmu", hidden, weight) + bias.transpose(1, 2).unsqueeze(1)
