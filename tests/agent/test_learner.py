"""Optimiser steps: all crossings learn, schedules, divergence, and continuing bit by bit."""

import copy
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch
from tiny_agent import CONTEXT, KINDS, random_batch, tiny_config, tiny_model, with_other_padding

from agent.learner import Learner
from agent.nets.encoders import Normalised
from agent.nets.normalisation import RunningNorm
from store.errors import DivergedError

crossings = pytest.mark.parametrize(("actor", "critic"), list(product(("dep", "ind"), ("dep", "ind"))))


def learner_of(seed: int = 0, kind: str = "discrete", **changes) -> Learner:
    interface, more = KINDS[kind]
    config = tiny_config(**more, **changes)
    return Learner(tiny_model(config, seed, interface), config)


def weights(learner: Learner) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in learner.model.state_dict().items()}


def statistics_of(learner: Learner) -> RunningNorm:
    encoder = learner.model.representation.encoder
    part = encoder.parts[encoder.names.index("light")]
    assert isinstance(part, Normalised)
    return part.norm


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@crossings
def test_every_crossing_learns_a_fixed_batch(actor, critic):
    learner = learner_of(
        loss__actor=actor, loss__critic=critic, optimizer__learning_rate=1e-2, optimizer__warmup_updates=5
    )
    batch, draws = random_batch(0, lengths=(6, 6, 4, 5)), rng()
    critic_losses = [learner.update(batch, draws)["critic_loss"] for _ in range(60)]
    floor = 0.9 if critic == "ind" else 0.5  # a label is not a one-hot: its cross-entropy has a floor
    assert np.mean(critic_losses[-10:]) < floor * np.mean(critic_losses[:5])
    assert learner.update_count == 60


@crossings
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("memory", ["transformer", "gru", "none"])
def test_every_combination_takes_a_step(kind, memory, actor, critic):
    """Every kind of action, memory and crossing; labels and filter take turns."""
    learner = learner_of(
        kind=kind, model__memory=memory, loss__actor=actor, loss__critic=critic, loss__num_steps=2,
        loss__value_labels="hl_gauss" if memory == "gru" else "two_hot",
        loss__advantage_filter="exp" if memory == "none" else "binary",
    )  # fmt: skip
    before = weights(learner)
    metrics = learner.update(random_batch(0, interface=KINDS[kind][0]), rng())
    assert all(np.isfinite(value) for value in metrics.values())
    assert metrics["gradient_norm"] > 0
    moved = {name for name, tensor in weights(learner).items() if not torch.equal(tensor, before[name])}
    for part in ("representation.encoder.", "representation.memory.", "actor.", "critics.", "target_actor."):
        assert any(name.startswith(part) for name in moved), part
    assert all(tensor.isfinite().all() for tensor in weights(learner).values())


@pytest.mark.parametrize("labels", ["two_hot", "hl_gauss"])
@pytest.mark.parametrize("advantage_filter", ["binary", "linear", "exp"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_label_and_filter_takes_steps(kind, labels, advantage_filter):
    changes = {"loss__value_labels": labels, "loss__advantage_filter": advantage_filter}
    learner, draws = learner_of(kind=kind, **changes), rng()
    for k in range(3):
        metrics = learner.update(random_batch(k, interface=KINDS[kind][0]), draws)
        assert all(np.isfinite(value) for value in metrics.values())


@pytest.mark.parametrize("kind", ["bits", "gaussian", "mixture", "beta"])
def test_draws_follow_from_the_generator_alone(kind):
    """Whatever torch's own generator was at."""
    results = []
    for noise in (1, 2):
        learner = learner_of(kind=kind, loss__actor="dep")
        torch.manual_seed(noise)
        results.append((learner.update(random_batch(0, interface=KINDS[kind][0]), rng()), weights(learner)))
    assert results[0][0] == results[1][0]
    for name, tensor in results[0][1].items():
        assert torch.equal(tensor, results[1][1][name]), name


class TestMicroBatches:
    LENGTHS = (6, 1, 5, 2, 3, 6, 4)  # of unequal parts: 3, 2 and 2 rows

    def after(self, micro_batches: int, kind: str = "discrete", updates: int = 2, **changes) -> tuple[Learner, list]:
        learner = learner_of(
            kind=kind, optimizer__micro_batches=micro_batches, optimizer__clip_norm=1e9, loss__num_steps=3,
            optimizer__warmup_updates=0, loss__popart_beta=0.1, **changes,
        )  # fmt: skip
        draws = rng()
        batches = [random_batch(k, self.LENGTHS, interface=KINDS[kind][0]) for k in range(updates)]
        return learner, [learner.update(batch, draws) for batch in batches]

    @crossings
    @pytest.mark.parametrize("kind", ["discrete", "masked"])
    def test_parts_make_the_gradient_metrics_and_statistics_of_the_whole(self, kind, actor, critic):
        (whole, one), (parts, other) = (self.after(n, kind, loss__actor=actor, loss__critic=critic) for n in (1, 3))
        for mine, theirs in zip(one, other, strict=True):
            assert mine == pytest.approx(theirs, rel=1e-3, abs=1e-5)
        for name, parameter in whole.named.items():
            slope = parts.named[name].grad
            assert parameter.grad is not None and slope is not None
            torch.testing.assert_close(parameter.grad, slope, rtol=1e-3, atol=1e-5, msg=name)
        if critic == "dep":
            assert whole.model.popart.weight_sum > 0
        for name, tensor in whole.model.popart.state_dict().items():
            torch.testing.assert_close(tensor, parts.model.popart.state_dict()[name], rtol=1e-4, atol=1e-6)
        assert torch.equal(statistics_of(whole).mean, statistics_of(parts).mean)

    def test_parts_of_other_actions_take_steps(self):
        for kind in ("bits", "gaussian"):
            _, metrics = self.after(3, kind, loss__actor="dep")
            assert all(np.isfinite(value) for value in metrics[-1].values())

    def test_a_part_without_a_valid_step(self):
        """Counts for nothing, and does not divide by zero."""
        batch = random_batch(0, (6, 3, 5), interface=KINDS["discrete"][0])
        batch.valid[1], batch.token_valid[1] = False, False
        learner, parts = learner_of(), learner_of(optimizer__micro_batches=3)
        assert learner.update(batch, rng()) == pytest.approx(parts.update(batch, rng()), rel=1e-3, abs=1e-5)

    def test_rows_are_split_in_order(self):
        batch = random_batch(0, self.LENGTHS, interface=KINDS["masked"][0])
        parts = batch.split(3)
        assert [len(part.valid) for part in parts] == [3, 2, 2]
        for name in ("actions", "rewards", "terminated", "truncated", "valid", "token_valid"):
            assert torch.equal(torch.cat([getattr(part, name) for part in parts]), getattr(batch, name))
        for name in ("goals", "previous_actions", "previous_rewards", "is_first", "time"):
            joined = torch.cat([getattr(part.inputs, name) for part in parts])
            assert torch.equal(joined, getattr(batch.inputs, name))
        for key, value in batch.inputs.observations.items():
            assert torch.equal(torch.cat([part.inputs.observations[key] for part in parts]), value)


@pytest.mark.parametrize("actor", ["dep", "ind"])
def test_popart_moves_after_the_step_and_keeps_the_values(actor):
    """What the critics say is the same before and after the statistics move, also what the targets say."""
    learner = learner_of(loss__actor=actor, loss__critic="dep", loss__popart_beta=0.3)
    model, batch, moves = learner.model, random_batch(0), []
    update = model.popart.update

    def values() -> list[torch.Tensor]:
        x = torch.linspace(-1, 1, 40).reshape(5, 8)
        outs = [head.policy_outputs(head.features(x), None) for head in (model.critics, model.target_critics)]
        return [model.popart.denormalise(out.squeeze(-1).mT).mT for out in outs]

    def spied(targets, valid, *critics) -> None:
        with torch.no_grad():
            before = values()
            update(targets, valid, *critics)
            moves.append((learner.optimizer.state[model.critics.out.weight]["step"].item(), before, values()))

    model.popart.update = spied
    old = model.popart.mu.clone()
    learner.update(batch, rng())
    ((steps, before, after),) = moves
    assert steps == 1
    assert not torch.equal(model.popart.mu, old)
    torch.testing.assert_close(after, before, rtol=1e-4, atol=1e-4)


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
    view = learner.model.representation.encoder.names.index("view")
    assert {"critics.out.weight", "actor.out.weight", f"representation.encoder.parts.{view}.table.weight"} <= names
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
    norm = statistics_of(learner)
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
    def diverge(learner: Learner, batch, culprit: str) -> None:
        before = {name: p.detach().clone() for name, p in learner.model.named_parameters()}
        with pytest.raises(DivergedError, match=r"not finite at update 1 .*go on from it") as caught:
            learner.update(batch, rng())
        assert culprit in str(caught.value)
        assert learner.update_count == 0
        assert learner.model.popart.weight_sum == 0
        for name, p in learner.model.named_parameters():
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
        self.diverge(learner, random_batch(0), f"parameter {name}")


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
