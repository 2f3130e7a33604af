"""The whole training forward pass against a plain loop, gradient routing, and what padding may not do."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch
from tiny_agent import random_batch, tiny_config, tiny_model, with_other_padding

from agent.batch import Batch
from agent.config import Config
from agent.forward import Terms, loss_terms
from agent.nets.model import AgentModel

CROSSINGS = [(actor, critic) for actor in ("dep", "ind") for critic in ("dep", "ind")]
crossings = pytest.mark.parametrize(("actor", "critic"), CROSSINGS)
SUBSET = torch.tensor([2, 0])


def crossing(actor: str, critic: str, **more) -> Config:
    return tiny_config(loss__actor=actor, loss__critic=critic, **more)


def terms_of(model: AgentModel, batch: Batch, config: Config, subset: torch.Tensor = SUBSET) -> Terms:
    return loss_terms(model, batch, config.loss, subset)


def symlog(x: float) -> float:
    return float(np.sign(x) * np.log1p(abs(x)))


def symexp(x: float) -> float:
    return float(np.sign(x) * np.expm1(abs(x)))


class Reference:
    """The losses of algorithm.md, section 3, one number at a time. `model` is used as it is: give it a copy."""

    def __init__(self, model: AgentModel, batch: Batch, config: Config, subset: list[int]) -> None:
        self.model, self.batch, self.config = model, batch, config
        with torch.no_grad():
            self.states = model.representation(batch.inputs)
            self.policy = model.actor(self.states).exp()  # (B, T, G, A)
            self.target_policy = model.target_actor(self.states).exp()
            self.targets = self.all_targets(subset)
            if config.loss.critic == "dep":
                model.popart.update(self.targets, batch.valid, model.critics, model.target_critics)

    def outputs(self, head, c: int, b: int, t: int) -> torch.Tensor:
        """(G, A, U) of critic `c`."""
        return head.outputs(head.hidden(self.states[b, t : t + 1]))[c, 0]

    def value(self, head, c: int, b: int, t: int, g: int, a: int) -> float:
        out = self.outputs(head, c, b, t)[g, a]
        if self.config.loss.critic == "dep":
            return float(self.model.popart.sigma[g] * out[0] + self.model.popart.mu[g])
        mean = float(out.softmax(-1) @ self.model.bin_centers)
        return symexp(mean) if self.config.loss.value_symlog else mean

    def all_targets(self, subset: list[int]) -> torch.Tensor:
        loss, batch = self.config.loss, self.batch
        B, L = batch.actions.shape
        targets = torch.zeros(B, L, len(loss.discounts))
        for b, t, g in np.ndindex(*targets.shape):
            values = [
                sum(
                    float(self.target_policy[b, t + 1, g, a]) * self.value(self.model.target_critics, c, b, t + 1, g, a)
                    for a in range(self.policy.shape[-1])
                )
                for c in subset
            ]
            value = min(values) if loss.actor == "dep" else sum(values) / len(values)
            over = batch.terminated[b, t] or (loss.time_limit == "terminal" and batch.truncated[b, t])
            targets[b, t, g] = float(batch.rewards[b, t]) * loss.reward_scale
            targets[b, t, g] += 0.0 if over else loss.discounts[g] * value
        return targets

    def losses(self) -> tuple[float, float]:
        actor, critic = [], []
        for b, t in np.argwhere(self.batch.valid.numpy()).tolist():
            for g in range(len(self.config.loss.discounts)):
                critic += self.critic_losses(b, t, g)
                actor.append(self.actor_loss(b, t, g))
        return float(np.mean(actor)), float(np.mean(critic))

    def critic_losses(self, b: int, t: int, g: int) -> list[float]:
        model, y = self.model, float(self.targets[b, t, g])
        a = int(self.batch.actions[b, t])
        outs = [self.outputs(model.critics, c, b, t)[g, a] for c in range(model.critics.num_critics)]
        if self.config.loss.critic == "dep":
            normalised = (y - float(model.popart.mu[g])) / float(model.popart.sigma[g])
            return [(float(out[0]) - normalised) ** 2 for out in outs]
        centers = model.bin_centers.double().numpy()
        y = float(np.clip(symlog(y) if self.config.loss.value_symlog else y, centers[0], centers[-1]))
        label = np.maximum(0, 1 - np.abs(y - centers) / (centers[1] - centers[0]))
        return [-float(label @ out.double().log_softmax(-1).numpy()) for out in outs]

    def actor_loss(self, b: int, t: int, g: int) -> float:
        loss, model = self.config.loss, self.model
        num_critics, num_actions = model.critics.num_critics, self.policy.shape[-1]
        q = np.array(
            [[self.value(model.critics, c, b, t, g, a) for a in range(num_actions)] for c in range(num_critics)]
        )
        p, a = self.policy[b, t, g].double().numpy(), int(self.batch.actions[b, t])
        advantage = q.mean(0)[a] - p @ q.mean(0)
        cloning = -np.log(p[a]) if advantage > 0 else 0.0
        if loss.actor == "ind":
            return cloning
        if loss.critic == "dep":
            q = (q - float(model.popart.mu[g])) / float(model.popart.sigma[g])
        return loss.policy_gradient_weight * -(p @ q.min(0)) + loss.cloning_weight * cloning


@crossings
@pytest.mark.parametrize("time_limit", ["bootstrap", "terminal"])
@torch.no_grad()
def test_losses_against_plain_loops(actor, critic, time_limit):
    config = crossing(actor, critic, loss__time_limit=time_limit, loss__popart_beta=0.2)
    model, batch = tiny_model(config), random_batch(1)
    reference = Reference(copy.deepcopy(model), batch, config, SUBSET.tolist())
    terms = terms_of(model, batch, config)
    expected_actor, expected_critic = reference.losses()
    assert terms.actor.item() == pytest.approx(expected_actor, rel=1e-3, abs=1e-4)
    assert terms.critic.item() == pytest.approx(expected_critic, rel=1e-3, abs=1e-4)
    acting = reference.targets[..., -1][batch.valid].mean().item()
    assert terms.diagnostics["target"].item() == pytest.approx(acting, rel=1e-3)


@torch.no_grad()
def test_value_bins_without_symlog():
    config = crossing("ind", "ind", loss__value_symlog=False, loss__value_max=20.0)
    model, batch = tiny_model(config), random_batch(2)
    reference = Reference(copy.deepcopy(model), batch, config, [0, 1])
    terms = terms_of(model, batch, config, torch.tensor([0, 1]))
    expected = reference.losses()
    assert (terms.actor.item(), terms.critic.item()) == pytest.approx(expected, rel=1e-3)


@crossings
@torch.no_grad()
def test_only_the_drawn_critics_make_targets(actor, critic):
    config = crossing(actor, critic)
    model, batch = tiny_model(config), random_batch(3)
    before = terms_of(copy.deepcopy(model), batch, config).diagnostics["target"]

    def target_when_moved(member: int) -> torch.Tensor:
        moved = copy.deepcopy(model)
        moved.target_critics.out.bias[member].copy_(5 * torch.randn_like(moved.target_critics.out.bias[member]))
        return terms_of(moved, batch, config).diagnostics["target"]

    assert target_when_moved(1) == before
    assert any(target_when_moved(member) != before for member in SUBSET.tolist())


@torch.no_grad()
def test_dependent_actors_take_the_lowest_critic_independent_ones_the_mean():
    batch, targets = random_batch(4), {}
    for actor in ("dep", "ind"):
        config = crossing(actor, "dep")
        model = tiny_model(config)
        targets[actor] = [
            terms_of(copy.deepcopy(model), batch, config, torch.tensor(subset)).diagnostics["target"].item()
            for subset in ([0], [1], [0, 1])
        ]
    one, other, both = targets["ind"]
    assert both == pytest.approx((one + other) / 2, rel=1e-4)
    one, other, both = targets["dep"]
    assert both <= min(one, other) + 1e-5


@torch.no_grad()
def test_every_discount_makes_its_own_targets():
    """Values of one everywhere, no reward: the target of the last discount is the last discount."""
    config = crossing("ind", "dep", loss__discounts=(0.2, 0.5, 0.8))
    model, batch = tiny_model(config), random_batch(5, lengths=(6, 6))
    batch = replace(batch, rewards=torch.zeros_like(batch.rewards), terminated=torch.zeros_like(batch.terminated))
    for parameter, value in ((model.target_critics.out.weight, 0.0), (model.target_critics.out.bias, 1.0)):
        parameter.fill_(value)
    terms_of(model, batch, config)
    torch.testing.assert_close(model.popart.mu.float(), torch.tensor([0.2, 0.5, 0.8]))
    bias = model.target_critics.out.bias.unflatten(-1, model.target_critics.shape)[:, 0, :, :, 0]
    torch.testing.assert_close(model.popart.denormalise(bias.mT), torch.ones_like(bias.mT))


@torch.no_grad()
def test_n_step_targets_stop_at_the_end_of_the_window_and_of_the_attempt():
    """With values of zero an n-step target is a sum of discounted rewards."""
    config = crossing("ind", "dep", loss__num_steps=3, loss__reward_scale=1.0, loss__discounts=(0.5,))
    model, batch = tiny_model(config), random_batch(5, lengths=(6, 3))
    batch = replace(batch, rewards=torch.ones_like(batch.rewards))
    model.target_critics.out.weight.zero_()
    model.target_critics.out.bias.zero_()
    terms = terms_of(model, batch, config)
    full = [1.75] * 4 + [1.5, 1.0] + [1.75, 1.5, 1.0]
    assert terms.diagnostics["target"].item() == pytest.approx(np.mean(full))


def gradients(model: AgentModel, loss: torch.Tensor) -> dict[str, torch.Tensor]:
    """By name; parameters that `loss` does not reach are absent or zero."""
    model.zero_grad(set_to_none=True)
    loss.backward(retain_graph=True)
    return {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}


def reached(model: AgentModel, loss: torch.Tensor) -> set[str]:
    return {name.split(".")[0] for name, gradient in gradients(model, loss).items() if gradient.abs().sum() > 0}


@crossings
def test_gradients_go_where_they_should(actor, critic):
    config = crossing(actor, critic)
    model = tiny_model(config)
    terms = terms_of(model, random_batch(6), config)
    assert reached(model, terms.actor) == {"representation", "actor"}
    assert reached(model, terms.critic) == {"representation", "critics"}
    assert not any(parameter.grad is not None for parameter in model.target_critics.parameters())
    assert not any(buffer.requires_grad for buffer in model.buffers())
    assert not any(value.requires_grad for value in terms.diagnostics.values())


@crossings
def test_padding_changes_nothing(actor, critic):
    config = crossing(actor, critic)
    results = []
    for batch in (random_batch(7), with_other_padding(random_batch(7), seed=8)):
        model = tiny_model(config)
        terms = terms_of(model, batch, config)
        results.append((terms, gradients(model, terms.actor + terms.critic)))
    (one, slopes), (other, other_slopes) = results
    torch.testing.assert_close(one.actor, other.actor)
    torch.testing.assert_close(one.critic, other.critic)
    for name, value in one.diagnostics.items():
        torch.testing.assert_close(value, other.diagnostics[name], msg=name)
    for name, slope in slopes.items():
        torch.testing.assert_close(slope, other_slopes[name], rtol=1e-4, atol=1e-6, msg=name)


@torch.no_grad()
def test_decoding_in_chunks_is_decoding_at_once(monkeypatch):
    from agent import forward

    config = crossing("dep", "ind")
    model, batch = tiny_model(config), random_batch(9)
    whole = terms_of(model, batch, config)
    monkeypatch.setitem(forward._CHUNK, "cpu", 100)
    pieces = terms_of(model, batch, config)
    torch.testing.assert_close(pieces.actor, whole.actor)
    torch.testing.assert_close(pieces.diagnostics, whole.diagnostics)
