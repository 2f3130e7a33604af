"""The whole agent: step encoder, memory, actor, critics and the target copies of the two heads.

Built from what flows in and out (`Interface`) and the configured sizes. Knows no environment, loss or optimiser.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass

import gymnasium
import numpy as np
import torch
from gymnasium import spaces
from torch import Tensor, nn

from agent.batch import POSITION, Inputs
from agent.config import Config
from agent.nets.actions import action_code
from agent.nets.distributions import Distribution, family_of
from agent.nets.encoders import StepEncoder
from agent.nets.foresight import Foreseen, Foresight
from agent.nets.heads import ActionCritic, ActorHead, ChoiceCritic, CriticHead
from agent.nets.images import Eye
from agent.nets.memory import build_memory
from agent.nets.popart import PopArt


@dataclass(frozen=True)
class Interface:
    """What the agent sees and does."""

    observation_space: spaces.Dict
    action_space: gymnasium.Space
    goal_tokens: np.ndarray | None  # (goals + 1, words) the words of each goal; None without instructions
    num_goal_slots: int  # longest instruction
    goal_kinds: np.ndarray | None = None  # (goals,) number of each goal's kind, from 0: of what there is to foresee
    goal_places: np.ndarray | None = None  # (goals, D) the `POSITION` that reaches each, NaN for what is no place


@dataclass(frozen=True)
class Represented:
    """What the heads see, and what foresight goes by and finds, where there is any."""

    states: Tensor  # (B, T, width)
    known: Tensor | None = None  # (B, T, d_in)
    foreseen: Foreseen | None = None


_ACTING = ("representation.", "actor.", "critics.", "popart.")


class Representation(nn.Module):
    """Steps to representations: what actor and critics share."""

    def __init__(self, interface: Interface, config: Config) -> None:
        super().__init__()
        model = config.model
        self.encoder = StepEncoder(
            interface.observation_space,
            action_code(interface.action_space),
            interface.goal_tokens,
            interface.num_goal_slots,
            d_token=model.d_token,
            d_encoder=model.d_encoder,
            d_model=model.d_model,
            eye=Eye(model.image_network, model.image_channels),
        )
        self.memory = build_memory(model)
        self.foresight = _foresight(interface, config, self.encoder.width + model.d_model)
        self.width = model.d_model + (self.foresight.width if self.foresight else 0)
        self.lost = slice(model.d_model, self.width - 1) if self.foresight else None  # where actions' lost steps stand

    def forward(self, inputs: Inputs) -> Represented:
        """(B, T) steps; position t depends on steps 0..t only."""
        features = self.encoder.features(inputs)
        return self.complete(self.memory(self.encoder.mix(features), inputs.time), features, inputs)

    def complete(self, remembered: Tensor, features: Tensor, inputs: Inputs) -> Represented:
        """What the memory gives, (B, T, d_model), and behind it what is foreseen of the active goal."""
        if self.foresight is None:
            return Represented(remembered)
        known = torch.cat([features, remembered], dim=-1)
        foreseen = self.foresight(known)
        promise = self.foresight.promise(foreseen, inputs.goals, inputs.observations.get(POSITION))
        return Represented(torch.cat([remembered, promise], dim=-1), known, foreseen)


class ActingModel(nn.Module):
    """The part of the agent that an actor needs: the critics too, to tell what it expects."""

    discounts: Tensor
    bin_centers: Tensor

    def __init__(self, interface: Interface, config: Config, bin_centers: Tensor) -> None:
        """`bin_centers` (U,): the value bins of the independent critic; empty for the dependent one."""
        super().__init__()
        self.representation = Representation(interface, config)
        self.action_space = interface.action_space
        self.code = action_code(interface.action_space)
        self.family = family_of(interface.action_space, config.model.continuous)
        self.actor = _actor(interface, config, self.representation)
        self.register_buffer("discounts", torch.tensor(config.loss.discounts), persistent=False)
        self.register_buffer("bin_centers", bin_centers, persistent=False)
        self.critics = _critics(interface, config, self.representation.width, len(bin_centers))
        self.popart = PopArt(len(config.loss.discounts), config.loss.popart_beta)

    def policy(self, actor: ActorHead, states: Tensor, legal: Tensor | None) -> Distribution:
        """The policies (..., G) of `actor` in `states` (..., d_model); `legal` (..., A) or None."""
        return self.family.make(actor(states), None if legal is None else legal.unsqueeze(-2))


class AgentModel(ActingModel):
    """The part that a learner needs: target networks besides."""

    def __init__(self, interface: Interface, config: Config, bin_centers: Tensor) -> None:
        super().__init__(interface, config, bin_centers)
        if len(bin_centers):
            spacing = bin_centers[1] - bin_centers[0]
            self.critics.start_at(-(bin_centers / (2 * spacing)).square().clamp(max=16))  # values start near zero
        self.target_actor = _actor(interface, config, self.representation)
        self.target_critics = _critics(interface, config, self.representation.width, len(bin_centers))
        self.target_actor.load_state_dict(self.actor.state_dict())
        self.target_critics.load_state_dict(self.critics.state_dict())
        self.target_foresight = copy.deepcopy(self.representation.foresight)
        for target, _ in self._targets():
            target.requires_grad_(False)

    @torch.no_grad()
    def update_targets(self, tau: float) -> None:
        """target <- (1 - tau) target + tau online, for heads and foresight; what is below them has no target."""
        for target, online in self._targets():
            for frozen, trained in zip(target.parameters(), online.parameters(), strict=True):
                frozen.lerp_(trained, tau)

    def _targets(self) -> list[tuple[nn.Module, nn.Module]]:
        """The copies that targets are made with, and what they follow."""
        pairs: list[tuple[nn.Module, nn.Module]] = [
            (self.target_actor, self.actor),
            (self.target_critics, self.critics),
        ]
        if self.target_foresight is not None and self.representation.foresight is not None:
            pairs.append((self.target_foresight, self.representation.foresight))
        return pairs


def acting_tensors(model: ActingModel) -> dict[str, Tensor]:
    """The parameters and buffers that an actor needs, by name, whether `model` is a learner's or an actor's."""
    state = model.state_dict()
    return {name: state[name] for name in state if name.startswith(_ACTING)}


def num_parameters(parameters: Iterable[nn.Parameter]) -> int:
    """Trainable numbers among `parameters`."""
    return sum(p.numel() for p in parameters if p.requires_grad)


def _foresight(interface: Interface, config: Config, d_in: int) -> Foresight | None:
    space, kinds = interface.action_space, interface.goal_kinds
    if not config.model.foresight or kinds is None or not isinstance(space, spaces.Discrete):
        return None
    return Foresight(d_in, config.model.d_encoder, int(space.n), kinds, interface.goal_places)


def _actor(interface: Interface, config: Config, below: Representation) -> ActorHead:
    num_parameters = family_of(interface.action_space, config.model.continuous).num_parameters
    return ActorHead(below.width, config.model.d_head, len(config.loss.discounts), num_parameters, below.lost)


def _critics(interface: Interface, config: Config, width: int, num_bins: int) -> CriticHead:
    model = config.model
    kind = ChoiceCritic if isinstance(interface.action_space, spaces.Discrete) else ActionCritic
    sizes = (len(config.loss.discounts), action_code(interface.action_space).width, max(num_bins, 1))
    return kind(model.num_critics, width, model.d_head, *sizes)
