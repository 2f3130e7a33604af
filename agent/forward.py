"""One training forward pass: from a batch through the networks to the loss terms.

The only place where networks and losses meet. Both learning updates, their crossings and all kinds of actions run
through the same lines: a policy is evaluated by `Choices`, all actions where they can be counted, else draws.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from agent.batch import Batch
from agent.config import Config, LossConfig
from agent.losses import actor, critic
from agent.losses.reduce import masked_mean
from agent.losses.returns import expected_value, td_target
from agent.losses.two_hot import bin_centers, expectation, symexp, symlog
from agent.nets.distributions import Choices
from agent.nets.heads import CriticHead
from agent.nets.model import AgentModel, Interface

# Logits decoded at once: on a CPU so few that they stay in the cache, on a GPU so many that it is busy.
_CHUNK = {"cpu": 2**20, "cuda": 2**26}


@dataclass(frozen=True)
class Terms:
    """The loss terms of one update, scalars, what is worth watching beside them, and the TD targets (B, L, G)."""

    actor: Tensor
    critic: Tensor
    diagnostics: dict[str, Tensor]
    targets: Tensor


def build_model(interface: Interface, config: Config) -> AgentModel:
    """A new agent with random weights (from torch's global generator)."""
    loss = config.loss
    centers = torch.empty(0)
    if loss.critic == "ind":
        centers = bin_centers(loss.num_bins, loss.value_min, loss.value_max, spaced_in_symlog=loss.value_symlog)
    return AgentModel(interface, config, centers)


def loss_terms(model: AgentModel, batch: Batch, config: LossConfig, subset: Tensor) -> Terms:
    """Actor and critic loss of `batch`; `subset` (K,) are the target critics that make the TD targets.

    The gradient of both terms reaches the representation; the actor's never reaches the critics; the targets get none.
    Draws of actions come from torch's global generator. Nothing of the model changes.
    """
    states = model.representation(batch.inputs)  # (B, L+1, d_model)
    legal = batch.inputs.legal
    here = None if legal is None else legal[:, :-1]
    policy = model.policy(model.actor, states[:, :-1], here)  # (B, L, G)
    targets = _targets(model, states[:, 1:].detach(), batch, config, subset)  # (B, L, G)
    features = model.critics.features(states[:, :-1])  # (C, N, d_head)
    actions = model.code.encode(batch.actions)  # (B, L, E)
    outputs = model.critics.taken_outputs(features, actions.flatten(0, 1)).float().unflatten(1, batch.valid.shape)
    critic_loss = _critic_loss(model, outputs, targets, config)  # (C, B, L, G)

    choices = policy.choices(config.action_samples)
    needs_values_gradient = config.actor == "dep" and choices.actions is not None
    with torch.set_grad_enabled(needs_values_gradient and torch.is_grad_enabled()):
        values = _policy_values(model, model.critics, features.detach(), choices, config)  # (C, B, L, G, M)
    with torch.no_grad():
        taken = _decode(model, outputs, config)  # (C, B, L, G)
        advantages = actor.advantage(taken, choices.weights, values)
    worth = actor.advantage_filter(advantages, config.advantage_filter, config.advantage_temperature)
    cloning = actor.filtered_cloning(policy.log_prob(actions.unsqueeze(-2)), worth)
    actor_loss = _actor_loss(model, choices, values, cloning, config)
    with torch.no_grad():
        diagnostics = {
            "value": masked_mean(taken.mean(0)[..., -1:], batch.valid),
            "target": masked_mean(targets[..., -1:], batch.valid),
            "positive_advantage_ratio": masked_mean((advantages > 0).float(), batch.valid),
            "entropy": masked_mean(choices.entropy, batch.valid),
        }
    return Terms(masked_mean(actor_loss, batch.valid), masked_mean(critic_loss, batch.valid), diagnostics, targets)


@torch.no_grad()
def _targets(model: AgentModel, next_states: Tensor, batch: Batch, config: LossConfig, subset: Tensor) -> Tensor:
    """TD targets (B, L, G): min over the drawn critics where a policy gradient exploits them, else their mean."""
    legal = batch.inputs.legal
    policy = model.policy(model.target_actor, next_states, None if legal is None else legal[:, 1:])
    choices = policy.choices(config.action_samples)
    features = model.target_critics.features(next_states, subset)
    values = expected_value(
        _policy_values(model, model.target_critics, features, choices, config, subset), choices.weights
    )  # (K, B, L, G)
    reduced = values.amin(0) if config.actor == "dep" else values.mean(0)
    done = batch.terminated
    if config.time_limit == "terminal":
        done = done | batch.truncated
    rewards = batch.rewards * config.reward_scale
    return td_target(rewards, done, reduced, model.discounts, continues=_continues(batch), num_steps=config.num_steps)


def _continues(batch: Batch) -> Tensor:
    """Where the transition after this one (B, L) is in the window and belongs to the same rollout."""
    follows = batch.valid & ~batch.terminated & ~batch.truncated
    follows[:, :-1] &= batch.valid[:, 1:]
    follows[:, -1] = False
    return follows


def _policy_values(
    model: AgentModel,
    critics: CriticHead,
    features: Tensor,
    choices: Choices,
    config: LossConfig,
    members: Tensor | None = None,
) -> Tensor:
    """Values (C or K, B, L, G, M) of a policy's choices, from features (C or K, N, ...) of the states.

    Many bins make large outputs: they are decoded in parts, one critic and some steps at a time.
    """
    shape = choices.weights.shape[:2]  # B, L
    actions = None if choices.actions is None else choices.actions.flatten(0, 1)  # (N, G, M, E)
    if config.critic == "dep":
        return _decode(model, critics.policy_outputs(features, actions, members), config, trailing=1).unflatten(
            1, shape
        )
    ensemble = torch.arange(critics.num_critics, device=features.device) if members is None else members
    per_step = math.prod(choices.weights.shape[2:]) * critics.shape[-1]
    steps = max(1, _CHUNK[features.device.type] // per_step)
    tried = [None] * -(-features.shape[1] // steps) if actions is None else actions.split(steps)
    values = [
        torch.cat(
            [
                _decode(model, critics.policy_outputs(some, acts, member), config, trailing=1)
                for some, acts in zip(part.split(steps, 1), tried, strict=True)
            ],
            1,
        )
        for part, member in zip(features.split(1), ensemble.split(1), strict=True)
    ]
    return torch.cat(values).unflatten(1, shape)


def _decode(model: AgentModel, outputs: Tensor, config: LossConfig, trailing: int = 0) -> Tensor:
    """Outputs (..., G, U), or with `trailing` 1 (..., G, M, U), as values in the scale of the scaled rewards."""
    if config.critic == "dep":
        return _per_discount(model.popart.denormalise, outputs.squeeze(-1).float(), trailing)
    decoded = expectation(outputs.float(), model.bin_centers)
    return symexp(decoded) if config.value_symlog else decoded


def _critic_loss(model: AgentModel, outputs: Tensor, targets: Tensor, config: LossConfig) -> Tensor:
    """Loss (C, B, L, G) of the executed actions."""
    if config.critic == "dep":
        return critic.regression(outputs.squeeze(-1), model.popart.normalise(targets))
    labelled = critic.classification if config.value_labels == "two_hot" else critic.histogram
    return labelled(outputs, symlog(targets) if config.value_symlog else targets, model.bin_centers)


def _actor_loss(model: AgentModel, choices: Choices, values: Tensor, cloning: Tensor, config: LossConfig) -> Tensor:
    """Loss (B, L, G): filtered cloning alone, or the policy gradient with a little of it."""
    if config.actor == "ind":
        return cloning
    if config.critic == "dep":  # weights of the terms then do not depend on the scale of the returns
        values = _per_discount(model.popart.normalise, values, trailing=1)
    gradient = actor.policy_gradient(choices.weights, values)
    return config.policy_gradient_weight * gradient + config.cloning_weight * cloning


def _per_discount(scale: Callable[[Tensor], Tensor], values: Tensor, trailing: int) -> Tensor:
    """`scale`, which wants the discounts last, on `values` (..., G) or (..., G, M)."""
    return scale(values.transpose(-1, -2)).transpose(-1, -2) if trailing else scale(values)
