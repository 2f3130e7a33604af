"""Distributions over actions, in the code of `agent.nets.actions`: what a policy is made of.

Every distribution answers to four uses: the log-probability of what was done, `choices` to take an expectation over
(all of them where they can be counted, else draws), a draw made of given uniform numbers, and the likeliest action.
The parameters are the raw outputs of a network.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import gymnasium
import numpy as np
import torch
from gymnasium import spaces
from torch import Tensor
from torch.nn import functional as F

ILLEGAL = -1e9  # logit of an action that must not be taken: finite, so that 0 times it is 0

_LOG_STD = (-5.0, 2.0)  # bounds of the Gaussians' log standard deviation
_EDGE = 1 - 1e-4  # executed actions at the edge of the box count as a little inside: the density there is none
_NUM_COMPONENTS = 5


@dataclass(frozen=True)
class Choices:
    """M actions of each distribution, such that E f(a) is about sum_m weights_m f(actions_m).

    `actions` (..., M, E), or None for "each of the M discrete ones, in order". `weights` (..., M) sum to one. The
    gradient of the sum is an unbiased estimate of the expectation's: it flows through the actions, the weights or both.
    """

    actions: Tensor | None
    weights: Tensor
    log_probabilities: Tensor  # (..., M)

    @property
    def entropy(self) -> Tensor:
        """(...), exact or estimated from the draws."""
        return -(self.weights * self.log_probabilities).sum(-1)


class Distribution(Protocol):
    """Over encoded actions (..., E)."""

    def log_prob(self, actions: Tensor) -> Tensor:
        """(...) log-probability (or density) of encoded `actions`, which broadcast."""
        ...

    def choices(self, num_samples: int) -> Choices:
        """What an expectation is summed over; draws come from torch's global generator."""
        ...

    def draw(self, chances: Tensor) -> Tensor:
        """(..., E) made of uniform numbers `chances` (..., W) in [0, 1), W as the family says."""
        ...

    def likeliest(self) -> Tensor:
        """(..., E): the mode, or the mean where that is the better summary."""
        ...


class Categorical:
    """One of A actions; those where `legal` (..., A) is false have no probability."""

    def __init__(self, raw: Tensor, legal: Tensor | None = None) -> None:
        logits = raw.float()
        if legal is not None:
            nothing_legal = ~legal.any(-1, keepdim=True)  # the state after the last one
            logits = logits.masked_fill(~(legal | nothing_legal), ILLEGAL)
        self.log_probabilities = torch.log_softmax(logits, dim=-1)

    def log_prob(self, actions: Tensor) -> Tensor:
        return (self.log_probabilities * actions).sum(-1)

    def choices(self, num_samples: int) -> Choices:
        return Choices(None, self.log_probabilities.exp(), self.log_probabilities)

    def draw(self, chances: Tensor) -> Tensor:
        cumulative = self.log_probabilities.double().exp().cumsum(-1)
        index = (cumulative / cumulative[..., -1:] <= chances).sum(-1)
        return F.one_hot(index, self.log_probabilities.shape[-1]).float()

    def likeliest(self) -> Tensor:
        return F.one_hot(self.log_probabilities.argmax(-1), self.log_probabilities.shape[-1]).float()


class Bernoulli:
    """E independent bits."""

    def __init__(self, raw: Tensor) -> None:
        self.logits = raw.float()

    def log_prob(self, actions: Tensor) -> Tensor:
        return (actions * self.logits - F.softplus(self.logits)).sum(-1)

    def choices(self, num_samples: int) -> Choices:
        """Draws do not depend smoothly on the logits: the weights carry the gradient (score function)."""
        with torch.no_grad():
            probabilities = self.logits.sigmoid().unsqueeze(-2).expand(*_with_samples(self.logits, num_samples))
            actions = torch.bernoulli(probabilities)
        logits = self.logits.unsqueeze(-2)
        log_probabilities = (actions * logits - F.softplus(logits)).sum(-1)
        weights = (log_probabilities - log_probabilities.detach()).exp() / num_samples
        return Choices(actions, weights, log_probabilities)

    def draw(self, chances: Tensor) -> Tensor:
        return (chances < self.logits.sigmoid()).float()

    def likeliest(self) -> Tensor:
        return (self.logits > 0).float()


class TanhGaussian:
    """tanh of a Gaussian with independent coordinates; `raw` (..., 2E): means and log standard deviations."""

    def __init__(self, raw: Tensor) -> None:
        self.mean, log_std = raw.float().chunk(2, dim=-1)
        self.log_std = _bounded(log_std)

    def log_prob(self, actions: Tensor) -> Tensor:
        return self._log_density(actions.clamp(-_EDGE, _EDGE).atanh()).sum(-1)

    def choices(self, num_samples: int) -> Choices:
        mean, log_std = self.mean.unsqueeze(-2), self.log_std.unsqueeze(-2)
        noise = torch.randn(_with_samples(self.mean, num_samples), device=mean.device)
        before = mean + log_std.exp() * noise  # (..., M, E)
        log_probabilities = _log_tanh_gaussian(before, mean, log_std).sum(-1)
        return Choices(before.tanh(), torch.full_like(log_probabilities, 1 / num_samples), log_probabilities)

    def draw(self, chances: Tensor) -> Tensor:
        return (self.mean + self.log_std.exp() * standard_normal(chances)).tanh()

    def likeliest(self) -> Tensor:
        return self.mean.tanh()

    def _log_density(self, before: Tensor) -> Tensor:
        return _log_tanh_gaussian(before, self.mean, self.log_std)


class TanhMixture:
    """A mixture of five tanh-Gaussians over the whole action; `raw` (..., 5 (1 + 2E))."""

    def __init__(self, raw: Tensor) -> None:
        logits, mean, log_std = raw.float().tensor_split((_NUM_COMPONENTS, (raw.shape[-1] + _NUM_COMPONENTS) // 2), -1)
        self.log_weights = torch.log_softmax(logits, dim=-1)  # (..., 5)
        self.mean = mean.unflatten(-1, (_NUM_COMPONENTS, -1))  # (..., 5, E)
        self.log_std = _bounded(log_std.unflatten(-1, (_NUM_COMPONENTS, -1)))

    def log_prob(self, actions: Tensor) -> Tensor:
        before = actions.clamp(-_EDGE, _EDGE).atanh().unsqueeze(-2)
        each = _log_tanh_gaussian(before, self.mean, self.log_std).sum(-1)
        return torch.logsumexp(self.log_weights + each, dim=-1)

    def choices(self, num_samples: int) -> Choices:
        """One draw of each component, weighed by its probability: the gradient reaches the weights exactly."""
        before = self.mean + self.log_std.exp() * torch.randn_like(self.mean)  # (..., 5, E)
        each = _log_tanh_gaussian(before.unsqueeze(-2), self.mean.unsqueeze(-3), self.log_std.unsqueeze(-3)).sum(-1)
        log_probabilities = torch.logsumexp(self.log_weights.unsqueeze(-2) + each, dim=-1)
        return Choices(before.tanh(), self.log_weights.exp(), log_probabilities)

    def draw(self, chances: Tensor) -> Tensor:
        component = Categorical(self.log_weights).draw(chances[..., :1]).unsqueeze(-1)
        mean, log_std = (self.mean * component).sum(-2), (self.log_std * component).sum(-2)
        return (mean + log_std.exp() * standard_normal(chances[..., 1:])).tanh()

    def likeliest(self) -> Tensor:
        component = Categorical(self.log_weights).likeliest().unsqueeze(-1)
        return (self.mean * component).sum(-2).tanh()


class Beta:
    """Independent Beta distributions stretched to [-1, 1]; `raw` (..., 2E), both shapes at least 1: one mode."""

    def __init__(self, raw: Tensor) -> None:
        alpha, beta = (1 + F.softplus(raw.float())).chunk(2, dim=-1)
        self.distribution = torch.distributions.Beta(alpha, beta, validate_args=False)

    def log_prob(self, actions: Tensor) -> Tensor:
        inside = (actions.clamp(-_EDGE, _EDGE) + 1) / 2
        return (self.distribution.log_prob(inside) - math.log(2)).sum(-1)

    def choices(self, num_samples: int) -> Choices:
        actions = 2 * self.distribution.rsample(torch.Size((num_samples,))) - 1  # (M, ..., E)
        log_probabilities = self.log_prob(actions).movedim(0, -1)
        weights = torch.full_like(log_probabilities, 1 / num_samples)
        return Choices(actions.movedim(0, -2), weights, log_probabilities)

    def draw(self, chances: Tensor) -> Tensor:
        """No formula turns a uniform number into a draw: each seeds a generator of its own."""
        alpha, beta = (
            x.detach().double().cpu().numpy()
            for x in (self.distribution.concentration1, self.distribution.concentration0)
        )
        seeds = (chances[..., 0].double() * 2**32).long().cpu().numpy()
        drawn = np.empty(alpha.shape)
        for at in np.ndindex(seeds.shape):
            drawn[at] = np.random.default_rng(seeds[at]).beta(alpha[at], beta[at])
        return torch.from_numpy(2 * drawn - 1).float().to(chances.device)

    def likeliest(self) -> Tensor:
        return 2 * self.distribution.mean - 1


@dataclass(frozen=True)
class Family:
    """A kind of distribution for one action space."""

    num_parameters: int
    num_chances: int  # uniform numbers of a draw
    make: Callable[[Tensor, Tensor | None], Distribution]  # from parameters and, for discrete actions, legality


def family_of(space: gymnasium.Space, continuous: str) -> Family:
    """The family for an action space; `continuous` names the one for a Box: "gaussian", "mixture" or "beta"."""
    if isinstance(space, spaces.Discrete):
        return Family(int(space.n), 1, Categorical)
    width = math.prod(space.shape or ())
    if isinstance(space, spaces.MultiBinary):
        return Family(width, width, lambda raw, legal: Bernoulli(raw))
    return {
        "gaussian": Family(2 * width, width, lambda raw, legal: TanhGaussian(raw)),
        "mixture": Family(_NUM_COMPONENTS * (1 + 2 * width), 1 + width, lambda raw, legal: TanhMixture(raw)),
        "beta": Family(2 * width, 1, lambda raw, legal: Beta(raw)),
    }[continuous]


def standard_normal(chances: Tensor) -> Tensor:
    """Standard normal numbers from uniform ones in [0, 1)."""
    return math.sqrt(2) * torch.erfinv((2 * chances.double() - 1).clamp(-1 + 1e-9, 1 - 1e-9)).float()


def _bounded(log_std: Tensor) -> Tensor:
    low, high = _LOG_STD
    return low + (high - low) * log_std.sigmoid()


def _with_samples(parameters: Tensor, num_samples: int) -> tuple[int, ...]:
    return (*parameters.shape[:-1], num_samples, parameters.shape[-1])


def _log_tanh_gaussian(before: Tensor, mean: Tensor, log_std: Tensor) -> Tensor:
    """log density of tanh(z) at z = `before`, by coordinate: log N(z) - log(1 - tanh(z)^2), stable for large |z|."""
    normal = -0.5 * ((before - mean) / log_std.exp()).square() - log_std - 0.5 * math.log(2 * math.pi)
    return normal - 2 * (math.log(2) - before - F.softplus(-2 * before))
