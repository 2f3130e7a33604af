"""Optimiser steps: all crossings learn, schedules, divergence, and continuing bit by bit."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch
from tiny_agent import CONTEXT, random_batch, tiny_config, tiny_model, with_other_padding

from agent.learner import Learner
from store.errors import DivergedError


def learner_of(seed: int = 0, **changes) -> Learner:
    config = tiny_config(**changes)
    return Learner(tiny_model(config, seed), config)


def weights(learner: Learner) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in learner.model.state_dict().items()}


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("actor", ["dep", "ind"])
@pytest.mark.parametrize("critic", ["dep", "ind"])
def test_every_crossing_learns_a_fixed_batch(actor, critic):
    learner = learner_of(
        loss__actor=actor, loss__critic=critic, optimizer__learning_rate=1e-2, optimizer__warmup_updates=5
    )
    batch, draws = random_batch(0, lengths=(6, 6, 4, 5)), rng()
    critic_losses = [learner.update(batch, draws)["critic_loss"] for _ in range(60)]
    floor = 0.9 if critic == "ind" else 0.5  # a label is not a one-hot: its cross-entropy has a floor
    assert np.mean(critic_losses[-10:]) < floor * np.mean(critic_losses[:5])
    assert learner.update_count == 60


def test_metrics_are_finite_numbers():
    metrics = learner_of().update(random_batch(0), rng())
    assert {"actor_loss", "critic_loss", "gradient_norm", "value", "target", "entropy", "valid_ratio"} <= metrics.keys()
    assert all(isinstance(value, float) and np.isfinite(value) for value in metrics.values())
    assert metrics["valid_ratio"] == pytest.approx((6 + 2 + 5) / (3 * CONTEXT))
    assert 0 <= metrics["entropy"] <= np.log(3) + 1e-5
    assert 0 <= metrics["positive_advantage_ratio"] <= 1


def test_weight_decay_is_for_matrices_only():
    learner = learner_of(optimizer__weight_decay=0.1)
    decay = {id(p): group["weight_decay"] for group in learner.optimizer.param_groups for p in group["params"]}
    names = {name for name, p in learner.model.named_parameters() if decay.get(id(p), 0) > 0}
    assert {"critics.out.weight", "actor.out.weight", "representation.encoder.parts.view.table.weight"} <= names
    assert {name.rsplit(".", 1)[1] for name in names} == {"weight"}
    assert not any("norm" in name for name in names)
    trained = {name for name, p in learner.model.named_parameters() if p.requires_grad}
    assert len(decay) == len(trained)
    assert not any(name.startswith("target_") for name in trained)


def test_warm_up_is_linear():
    learner = learner_of(optimizer__learning_rate=0.4, optimizer__warmup_updates=4, optimizer__clip_norm=1e-9)
    rates = []
    for _ in range(6):
        learner.update(random_batch(0), rng())
        rates.append(learner.optimizer.param_groups[0]["lr"])
    assert rates == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.4, 0.4])


def test_without_warm_up_the_first_rate_is_the_rate():
    learner = learner_of(optimizer__learning_rate=0.4, optimizer__warmup_updates=0)
    learner.update(random_batch(0), rng())
    assert {group["lr"] for group in learner.optimizer.param_groups} == {0.4}


def test_the_gradient_is_clipped_and_its_own_norm_reported():
    learner = learner_of(optimizer__clip_norm=0.01)
    metrics = learner.update(random_batch(0), rng())
    clipped = torch.stack([p.grad.norm() for p in learner.named.values() if p.grad is not None]).norm()
    assert clipped.item() == pytest.approx(0.01, rel=1e-3)
    assert metrics["gradient_norm"] > 0.01


def test_the_first_step_is_adams():
    """With zero moments every parameter moves by the rate in the direction of its gradient."""
    learner = learner_of(optimizer__learning_rate=1e-3, optimizer__warmup_updates=0, optimizer__weight_decay=0.0)
    before = {name: p.detach().clone() for name, p in learner.named.items()}
    learner.update(random_batch(0), rng())
    for name, p in learner.named.items():
        assert p.grad is not None
        clear = p.grad.abs() > 1e-4
        torch.testing.assert_close(
            (p.detach() - before[name])[clear], -1e-3 * p.grad.sign()[clear], rtol=1e-2, atol=1e-6
        )


@pytest.mark.parametrize("critic", ["dep", "ind"])
def test_targets_follow_the_weights_after_the_step(critic):
    learner = learner_of(
        loss__critic=critic, loss__target_tau=0.25, optimizer__learning_rate=0.1, optimizer__warmup_updates=0
    )
    model = learner.model
    targets = list(model.target_actor.parameters())
    before = [p.clone() for p in targets]
    old_online = [p.detach().clone() for p in model.actor.parameters()]
    learner.update(random_batch(0), rng())
    for mine, theirs, was, stale in zip(targets, model.actor.parameters(), before, old_online, strict=True):
        torch.testing.assert_close(mine, 0.75 * was + 0.25 * theirs)
        assert not torch.allclose(mine, 0.75 * was + 0.25 * stale)


def test_statistics_of_observations_move_once_per_update_by_valid_steps():
    learner, batch = learner_of(), random_batch(0)
    learner.update(batch, rng())
    learner.update(batch, rng())
    norm = learner.model.representation.encoder.parts["light"].norm
    assert int(norm.count) == 2 * int(batch.token_valid.sum())


@pytest.mark.parametrize("critic", ["dep", "ind"])
def test_padding_changes_no_weight(critic):
    learners = [learner_of(loss__critic=critic) for _ in range(2)]
    batch = random_batch(0)
    for learner, part in zip(learners, (batch, with_other_padding(batch, 1)), strict=True):
        learner.update(part, rng())
    one, other = (weights(learner) for learner in learners)
    for name, tensor in one.items():
        torch.testing.assert_close(tensor, other[name], rtol=1e-3, atol=1e-5, msg=name)


class TestDivergence:
    @staticmethod
    def diverge(learner: Learner, batch, culprit: str, rescaled: tuple[str, ...] = ()) -> None:
        before = {name: p.detach().clone() for name, p in learner.model.named_parameters()}
        with pytest.raises(DivergedError, match=r"not finite at update 1 .*go on from it") as caught:
            learner.update(batch, rng())
        assert culprit in str(caught.value)
        assert learner.update_count == 0
        for name, p in learner.model.named_parameters():
            if rescaled and name.startswith(rescaled):
                continue
            assert torch.equal(p.nan_to_num(7.0), before[name].nan_to_num(7.0)), name

    @pytest.mark.parametrize("critic", ["dep", "ind"])
    @pytest.mark.parametrize("value", [torch.nan, torch.inf])
    def test_by_a_reward(self, critic, value):
        batch = random_batch(0)
        batch.rewards[0, 1] = value
        self.diverge(learner_of(loss__critic=critic), batch, "first bad tensor: rewards")

    @pytest.mark.parametrize("critic", ["dep", "ind"])
    def test_by_an_observation(self, critic):
        batch = random_batch(0)
        batch.inputs.observations["light"][1, 0] = torch.nan
        self.diverge(learner_of(loss__critic=critic), batch, "observation 'light'")

    @pytest.mark.parametrize("critic", ["dep", "ind"])
    @pytest.mark.parametrize(
        "name", ["critics.second.weight", "actor.out.bias", "representation.memory.blocks.0.widen.weight"]
    )
    def test_by_a_parameter(self, critic, name):
        learner = learner_of(loss__critic=critic)
        with torch.no_grad():
            learner.model.get_parameter(name).view(-1)[0] = torch.nan
        rescaled = ("critics.out.", "target_critics.out.") if critic == "dep" else ()  # by PopArt: the same function
        self.diverge(learner, random_batch(0), f"parameter {name}", rescaled)


def test_saved_state_continues_bit_by_bit():
    old, new = learner_of(seed=1), learner_of(seed=2)
    draws = rng(5)
    for k in range(3):
        old.update(random_batch(k), draws)
    new.model.load_state_dict(copy.deepcopy(old.model.state_dict()))
    new.load_state({name: tensor.clone() for name, tensor in old.state().items()}, old.update_count)
    assert new.update_count == 3
    again = copy.deepcopy(draws)
    for k in range(3, 6):
        assert old.update(random_batch(k), draws) == new.update(random_batch(k), again)
    for name, tensor in weights(old).items():
        assert torch.equal(tensor, weights(new)[name]), name
    for name, tensor in old.state().items():
        assert torch.equal(tensor, new.state()[name]), name


def test_the_state_of_another_model_is_refused():
    old, new = learner_of(), learner_of(model__num_layers=1)
    old.update(random_batch(0), rng())
    with pytest.raises(KeyError, match=r"blocks\.1"):
        new.load_state(old.state(), 1)


def test_a_fresh_state_is_empty_and_may_be_loaded():
    learner = learner_of()
    assert learner.state() == {}
    learner.load_state({}, 0)
    learner.update(random_batch(0), rng())


def test_bfloat16_takes_steps():
    metrics = learner_of(optimizer__bf16=True).update(random_batch(0), rng())
    exact = learner_of().update(random_batch(0), rng())
    assert metrics["critic_loss"] == pytest.approx(exact["critic_loss"], rel=0.05)
    assert metrics["value"] == pytest.approx(exact["value"], rel=0.1)


def test_a_batch_of_padding_changes_no_target():
    learner = learner_of(optimizer__weight_decay=0.0)
    batch = random_batch(0)
    nothing = replace(batch, valid=torch.zeros_like(batch.valid), token_valid=torch.zeros_like(batch.token_valid))
    metrics = learner.update(nothing, rng())
    assert metrics["critic_loss"] == metrics["actor_loss"] == metrics["gradient_norm"] == 0.0
