"""One training forward pass: from a batch through the networks to the loss terms.

The only place where networks and losses meet. Both learning updates, their crossings and all kinds of actions run
through the same lines: a policy is evaluated by `Choices`, all actions where they can be counted, else draws.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from agent.batch import POSITION, Batch
from agent.config import Config, LossConfig
from agent.losses import actor, critic
from agent.losses.foresight import forecast_error, move_error, reach_target
from agent.losses.reduce import masked_mean
from agent.losses.returns import expected_value, td_target
from agent.losses.two_hot import symlog
from agent.nets.distributions import Choices
from agent.nets.foresight import DISCOUNT
from agent.nets.model import AgentModel, Interface, Represented
from agent.values import decode, per_discount, policy_values, value_bins


@dataclass(frozen=True)
class Terms:
    """The loss terms of one update, scalars, what is worth watching beside them, and the TD targets (B, L, G)."""

    actor: Tensor
    critic: Tensor
    foresight: Tensor | None
    diagnostics: dict[str, Tensor]
    targets: Tensor


def build_model(interface: Interface, config: Config) -> AgentModel:
    """A new agent with random weights (from torch's global generator)."""
    return AgentModel(interface, config, value_bins(config.loss))


def loss_terms(model: AgentModel, batch: Batch, config: LossConfig, subset: Tensor) -> Terms:
    """The losses of `batch`, not weighted; `subset` (K,) are the target critics that make the TD targets.

    The gradient of all terms reaches the representation; the actor's never reaches the critics, that of foresight no
    head; the targets get none.
    Draws of actions come from torch's global generator. Nothing of the model changes.
    """
    represented = model.representation(batch.inputs)
    states = represented.states  # (B, L+1, width)
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
        values = policy_values(model, model.critics, features.detach(), choices, config)  # (C, B, L, G, M)
    with torch.no_grad():
        taken = decode(model, outputs, config)  # (C, B, L, G)
        advantages = actor.advantage(taken, choices.weights, values)
    worth = actor.advantage_filter(advantages, batch.valid, config.advantage_filter, config.advantage_temperature)
    cloning = actor.filtered_cloning(policy.log_prob(actions.unsqueeze(-2)), worth)
    actor_loss = _actor_loss(model, choices, values, cloning, config)
    foresight = _foresight_loss(model, represented, batch)
    with torch.no_grad():
        diagnostics = {
            "value": masked_mean(taken.mean(0)[..., -1:], batch.valid),
            "target": masked_mean(targets[..., -1:], batch.valid),
            "positive_advantage_ratio": masked_mean((advantages > 0).float(), batch.valid),
            "entropy": masked_mean(choices.entropy, batch.valid),
        }
        if foresight is not None:
            diagnostics["foresight_loss"] = foresight.detach()
    return Terms(
        masked_mean(actor_loss, batch.valid), masked_mean(critic_loss, batch.valid), foresight, diagnostics, targets
    )


def _foresight_loss(model: AgentModel, represented: Represented, batch: Batch) -> Tensor | None:
    """How far forecasts of the executed actions are from what followed, a scalar; None without foresight."""
    foreseen = represented.foreseen
    if foreseen is None:
        return None
    error = forecast_error(
        _of_actions(foreseen.reach[:, :-1], batch.actions), _reach_targets(model, represented, batch)
    )
    position = batch.inputs.observations.get(POSITION)
    if foreseen.moves is not None and position is not None:
        moves = _of_actions(foreseen.moves[:, :-1], batch.actions)
        error = error + move_error(moves, position, batch.inputs.is_first)
    return masked_mean(error.unsqueeze(-1), batch.valid)


@torch.no_grad()
def _reach_targets(model: AgentModel, represented: Represented, batch: Batch) -> Tensor:
    """What forecasts are to be (B, L, K): the online network chooses, the target values (van Hasselt et al. 2016)."""
    assert model.target_foresight is not None and represented.foreseen is not None and represented.known is not None
    later = represented.foreseen.reach[:, 1:]
    if batch.inputs.legal is not None:
        later = later.masked_fill(~batch.inputs.legal[:, 1:].unsqueeze(-1), -torch.inf)
    best = later.argmax(2, keepdim=True)  # (B, L, 1, K)
    values = model.target_foresight(represented.known[:, 1:]).reach.gather(2, best).squeeze(2).sigmoid()
    dead = batch.terminated & (batch.rewards <= 0)  # when an instruction is done the world goes on
    return reach_target(batch.reached, values.float(), dead, batch.valid, DISCOUNT)


def _of_actions(outputs: Tensor, actions: Tensor) -> Tensor:
    """Of `outputs` (B, L, A, K) those of the executed `actions` (B, L): (B, L, K)."""
    index = actions.long()[..., None, None].expand(*actions.shape, 1, outputs.shape[-1])
    return outputs.gather(2, index).squeeze(2)


@torch.no_grad()
def _targets(model: AgentModel, next_states: Tensor, batch: Batch, config: LossConfig, subset: Tensor) -> Tensor:
    """TD targets (B, L, G): min over the drawn critics where a policy gradient exploits them, else their mean."""
    legal = batch.inputs.legal
    policy = model.policy(model.target_actor, next_states, None if legal is None else legal[:, 1:])
    choices = policy.choices(config.action_samples)
    features = model.target_critics.features(next_states, subset)
    values = expected_value(
        policy_values(model, model.target_critics, features, choices, config, subset), choices.weights
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


def _critic_loss(model: AgentModel, outputs: Tensor, targets: Tensor, config: LossConfig) -> Tensor:
    """Loss (C, B, L, G) of the executed actions."""
    if config.critic == "dep":
        return critic.regression(outputs.squeeze(-1), model.popart.normalise(targets))
    labelled = critic.classification if config.value_labels == "two_hot" else critic.histogram
    return labelled(outputs, symlog(targets) if config.value_symlog else targets, model.bin_centers)


def _actor_loss(model: AgentModel, choices: Choices, values: Tensor, cloning: Tensor, config: LossConfig) -> Tensor:
    """Loss (B, L, G): filtered cloning alone, or the policy gradient with a little of it; less the entropy."""
    bonus = config.entropy_weight * choices.entropy
    if config.actor == "ind":
        return cloning - bonus
    if config.critic == "dep":  # weights of the terms then do not depend on the scale of the returns
        values = per_discount(model.popart.normalise, values, trailing=1)
    gradient = actor.policy_gradient(choices.weights, values)
    return config.policy_gradient_weight * gradient + config.cloning_weight * cloning - bonus
