"""One training forward pass: from a batch through the networks to the loss terms.

The only place where networks and losses meet. Both learning updates and their crossings run through the same lines.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from agent.batch import Batch
from agent.config import Config, LossConfig
from agent.losses import actor, critic
from agent.losses.reduce import masked_mean
from agent.losses.returns import expected_value, td_target
from agent.losses.two_hot import bin_centers, expectation, symexp, symlog
from agent.nets.heads import CriticHead
from agent.nets.model import AgentModel, Interface

# Logits decoded at once: on a CPU so few that they stay in the cache, on a GPU so many that it is busy.
_CHUNK = {"cpu": 2**20, "cuda": 2**26}


@dataclass(frozen=True)
class Terms:
    """The loss terms of one update, scalars, and what is worth watching beside them."""

    actor: Tensor
    critic: Tensor
    diagnostics: dict[str, Tensor]


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
    """
    states = model.representation(batch.inputs)  # (B, L+1, d_model)
    log_policy = model.actor(states[:, :-1])  # (B, L, G, A)
    targets = _targets(model, states[:, 1:].detach(), batch, config, subset)  # (B, L, G)
    if config.critic == "dep":
        model.popart.update(targets, batch.valid, model.critics, model.target_critics)
    hidden = model.critics.hidden(states[:, :-1])  # (C, N, d_head)
    critic_loss = _critic_loss(model, hidden, batch, targets, config)
    with torch.no_grad():
        action_values = _action_values(model, model.critics, hidden, batch.actions.shape, config)
    advantages = actor.advantage(action_values, log_policy, batch.actions)
    actor_loss = _actor_loss(model, log_policy, batch, action_values, advantages, config)
    with torch.no_grad():
        diagnostics = {
            "value": masked_mean(action_values.mean(0)[:, :, -1:].mean(-1), batch.valid),
            "target": masked_mean(targets[..., -1:], batch.valid),
            "positive_advantage_ratio": masked_mean((advantages > 0).float(), batch.valid),
            "entropy": masked_mean(-(log_policy.exp() * log_policy).sum(-1), batch.valid),
        }
    return Terms(masked_mean(actor_loss, batch.valid), masked_mean(critic_loss, batch.valid), diagnostics)


@torch.no_grad()
def _targets(model: AgentModel, next_states: Tensor, batch: Batch, config: LossConfig, subset: Tensor) -> Tensor:
    """TD targets (B, L, G): min over the drawn critics where a policy gradient exploits them, else their mean."""
    hidden = model.target_critics.hidden(next_states, subset)
    shape = batch.actions.shape
    action_values = _action_values(model, model.target_critics, hidden, shape, config, subset)
    values = expected_value(action_values, model.target_actor(next_states).exp())  # (K, B, L, G)
    reduced = values.amin(0) if config.actor == "dep" else values.mean(0)
    done = batch.terminated
    if config.time_limit == "terminal":
        done = done | batch.truncated
    rewards = batch.rewards * config.reward_scale
    return td_target(rewards, done, reduced, model.discounts, continues=_continues(batch), num_steps=config.num_steps)


def _continues(batch: Batch) -> Tensor:
    """Where the transition after this one (B, L) is in the window and belongs to the same attempt."""
    follows = batch.valid & ~batch.terminated & ~batch.truncated
    follows[:, :-1] &= batch.valid[:, 1:]
    follows[:, -1] = False
    return follows


def _action_values(
    model: AgentModel,
    critics: CriticHead,
    hidden: Tensor,
    shape: torch.Size,
    config: LossConfig,
    subset: Tensor | None = None,
) -> Tensor:
    """Values (C or K, B, L, G, A) in the scale of the scaled rewards, from the last hidden layer (C or K, N, d)."""
    if config.critic == "dep":
        outputs = critics.outputs(hidden, subset).squeeze(-1).float()  # (C, N, G, A)
        return model.popart.denormalise(outputs.transpose(-1, -2)).transpose(-1, -2).unflatten(1, shape)
    members = torch.arange(critics.num_critics, device=hidden.device) if subset is None else subset
    steps = max(1, _CHUNK[hidden.device.type] // math.prod(critics.shape))
    values = [
        torch.cat(
            [expectation(critics.outputs(some, member).float(), model.bin_centers) for some in part.split(steps, 1)],
            1,
        )
        for part, member in zip(hidden.split(1), members.split(1), strict=True)
    ]
    decoded = torch.cat(values).unflatten(1, shape)
    return symexp(decoded) if config.value_symlog else decoded


def _critic_loss(model: AgentModel, hidden: Tensor, batch: Batch, targets: Tensor, config: LossConfig) -> Tensor:
    """Loss (C, B, L, G) of the executed actions."""
    outputs = model.critics.taken_outputs(hidden, batch.actions.flatten()).float()
    outputs = outputs.unflatten(1, batch.actions.shape)  # (C, B, L, G, U)
    if config.critic == "dep":
        return critic.regression(outputs.squeeze(-1), model.popart.normalise(targets))
    return critic.classification(outputs, symlog(targets) if config.value_symlog else targets, model.bin_centers)


def _actor_loss(
    model: AgentModel,
    log_policy: Tensor,
    batch: Batch,
    action_values: Tensor,
    advantages: Tensor,
    config: LossConfig,
) -> Tensor:
    """Loss (B, L, G): filtered cloning alone, or the policy gradient with a little of it."""
    cloning = actor.filtered_cloning(log_policy, batch.actions, advantages)
    if config.actor == "ind":
        return cloning
    if config.critic == "dep":  # weights of the terms then do not depend on the scale of the returns
        action_values = model.popart.normalise(action_values.transpose(-1, -2)).transpose(-1, -2)
    gradient = actor.policy_gradient(log_policy, action_values)
    return config.policy_gradient_weight * gradient + config.cloning_weight * cloning
