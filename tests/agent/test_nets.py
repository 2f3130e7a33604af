"""The heads, the critic ensemble, running normalisation, and the model as a whole."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_agent import tiny_config, tiny_model
from torch import nn

from agent.nets.heads import ActorHead, CriticHead, EnsembleLinear
from agent.nets.model import ActingModel, acting_tensors, num_parameters
from agent.nets.normalisation import RunningNorm
from agent.nets.transformer import NEGATIVE_SLOPE


def randomised(head: CriticHead) -> CriticHead:
    for layer in (head.first, head.second, head.out):
        nn.init.normal_(layer.bias)
    return head


def separate(layer: EnsembleLinear, member: int) -> nn.Linear:
    linear = nn.Linear(layer.weight.shape[1], layer.weight.shape[2])
    linear.weight.data = layer.weight[member].T.clone()
    linear.bias.data = layer.bias[member, 0].clone()
    return linear


def test_the_ensemble_is_as_many_separate_networks():
    head = randomised(CriticHead(4, d_in=3, d_hidden=5, num_discounts=2, num_actions=3, num_bins=6))
    x = torch.randn(2, 7, 3)
    outputs = head.outputs(head.hidden(x))
    assert outputs.shape == (4, 14, 2, 3, 6)
    for member in range(4):
        layers = [separate(layer, member) for layer in (head.first, head.second, head.out)]
        alone = nn.Sequential(
            layers[0], nn.LeakyReLU(NEGATIVE_SLOPE), layers[1], nn.LeakyReLU(NEGATIVE_SLOPE), layers[2]
        )
        torch.testing.assert_close(outputs[member], alone(x.flatten(0, 1)).unflatten(-1, (2, 3, 6)))


@pytest.mark.parametrize("members", [[0], [2, 0], [3, 1, 2]])
def test_only_the_drawn_members_are_evaluated(members):
    head = randomised(CriticHead(4, 3, 5, 2, 3, 6))
    x, drawn = torch.randn(9, 3), torch.tensor(members)
    hidden = head.hidden(x, drawn)
    torch.testing.assert_close(hidden, head.hidden(x)[drawn])
    torch.testing.assert_close(head.outputs(hidden, drawn), head.outputs(head.hidden(x))[drawn])


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 1000), st.integers(1, 20), st.integers(1, 4), st.integers(1, 5), st.integers(1, 4))
def test_taken_outputs_are_the_outputs_at_the_action(seed, num_steps, G, A, U):
    torch.manual_seed(seed)
    head = randomised(CriticHead(3, 4, 5, G, A, U))
    hidden = head.hidden(torch.randn(num_steps, 4))
    actions = torch.randint(A, (num_steps,))
    index = actions[None, :, None, None, None].expand(3, -1, G, 1, U)
    expected = head.outputs(hidden).gather(3, index).squeeze(3)
    torch.testing.assert_close(head.taken_outputs(hidden, actions), expected)


def test_taken_outputs_have_the_same_gradient():
    head = randomised(CriticHead(2, 3, 4, 2, 3, 5))
    x, actions = torch.randn(6, 3), torch.tensor([2, 0, 2, 1, 1, 0])
    factors = torch.randn(2, 6, 2, 5)
    parameters = list(head.parameters())
    fast = torch.autograd.grad((head.taken_outputs(head.hidden(x), actions) * factors).sum(), parameters)
    picked = head.outputs(head.hidden(x))[:, torch.arange(6), :, actions].transpose(0, 1)
    slow = torch.autograd.grad((picked * factors).sum(), parameters)
    for one, other in zip(fast, slow, strict=True):
        torch.testing.assert_close(one, other)


def test_critics_can_start_at_one_distribution():
    head = CriticHead(2, 3, 4, 2, 3, 5)
    logits = torch.tensor([0.0, 1.0, 3.0, 1.0, 0.0])
    head.start_at(logits)
    started = head.outputs(head.hidden(torch.randn(6, 3)))
    torch.testing.assert_close(started, logits.expand(2, 6, 2, 3, 5), rtol=0, atol=0.05)


def test_actor_gives_a_distribution_per_discount_and_the_last_one_acts():
    actor = ActorHead(4, 5, num_discounts=3, num_actions=6)
    nn.init.normal_(actor.out.weight)
    nn.init.normal_(actor.out.bias)
    x = torch.randn(2, 7, 4)
    log_policy = actor(x)
    assert log_policy.shape == (2, 7, 3, 6)
    torch.testing.assert_close(log_policy.exp().sum(-1), torch.ones(2, 7, 3))
    torch.testing.assert_close(actor.last_discount(x), log_policy[:, :, -1])


def test_actor_starts_nearly_uniform():
    assert (ActorHead(64, 64, 1, 17)(torch.randn(5, 64)).exp() - 1 / 17).abs().max() < 0.02


class TestRunningNorm:
    @settings(deadline=None, max_examples=20)
    @given(st.integers(0, 1000), st.integers(1, 6), st.floats(-1000, 1000), st.floats(0.1, 100))
    def test_streaming_moments_are_those_of_all_data(self, seed, count, offset, scale):
        rng = np.random.default_rng(seed)
        norm = RunningNorm(3)
        batches = [rng.normal(offset, scale, size=(2, 5, 3)).astype(np.float32) for _ in range(count)]
        masks = [rng.random((2, 5)) < 0.6 for _ in range(count)]
        for batch, mask in zip(batches, masks, strict=True):
            norm.update(torch.from_numpy(batch), torch.from_numpy(mask))
        seen = np.concatenate([batch[mask] for batch, mask in zip(batches, masks, strict=True)]).astype(float)
        assert int(norm.count) == len(seen)
        if len(seen) > 1:
            np.testing.assert_allclose(norm.mean, seen.mean(0), rtol=1e-6, atol=1e-6)
            np.testing.assert_allclose(norm.sum_squares / norm.count, seen.var(0), rtol=1e-6)

    def test_forward_normalises_clips_and_moves_nothing(self):
        norm = RunningNorm(1, clip=3.0)
        data = torch.tensor([[[2.0], [4.0], [6.0]]])
        norm.update(data, torch.ones(1, 3, dtype=torch.bool))
        expected = [[[-math.sqrt(1.5)], [0.0], [math.sqrt(1.5)]]]
        torch.testing.assert_close(norm(data), torch.tensor(expected))
        assert norm(torch.tensor([[1e9]])).item() == 3.0
        assert int(norm.count) == 3

    def test_before_data_and_for_constants_it_stays_finite(self):
        norm = RunningNorm(1)
        assert norm(torch.tensor([[0.5]])).item() == 0.5
        norm.update(torch.full((1, 4, 1), 7.0), torch.ones(1, 4, dtype=torch.bool))
        assert norm(torch.tensor([[7.0]])).item() == 0.0


class TestModel:
    def test_targets_are_copies_without_gradient(self):
        model = tiny_model(tiny_config())
        for name, parameter in model.named_parameters():
            assert parameter.requires_grad == (not name.startswith("target_")), name

    @settings(deadline=None, max_examples=10)
    @given(st.floats(0.001, 1.0))
    def test_update_targets_is_an_exponential_average(self, tau):
        model = tiny_model(tiny_config())
        pairs = [(model.target_actor, model.actor), (model.target_critics, model.critics)]
        before = [[p.clone() for p in target.parameters()] for target, _ in pairs]
        model.update_targets(tau)
        for (target, online), old in zip(pairs, before, strict=True):
            for mine, theirs, was in zip(target.parameters(), online.parameters(), old, strict=True):
                torch.testing.assert_close(mine, (1 - tau) * was + tau * theirs)

    def test_an_actor_needs_only_its_part(self):
        from tiny_agent import INTERFACE

        config = tiny_config()
        model = tiny_model(config)
        acting = ActingModel(INTERFACE, config)
        tensors = acting_tensors(model)
        assert tensors.keys() == acting_tensors(acting).keys() == acting.state_dict().keys()
        acting.load_state_dict(tensors)

    def test_num_parameters_counts_what_is_trained(self):
        model = tiny_model(tiny_config())
        assert num_parameters(model.parameters()) == sum(
            p.numel() for name, p in model.named_parameters() if not name.startswith("target_")
        )

    @pytest.mark.parametrize("critic", ["ind", "dep"])
    def test_the_discount_that_acts_is_the_last(self, critic):
        model = tiny_model(tiny_config(loss__critic=critic, loss__discounts=(0.3, 0.6, 0.95)))
        torch.testing.assert_close(model.discounts, torch.tensor([0.3, 0.6, 0.95]))
        assert model.critics.shape == (3, 3, 12 if critic == "ind" else 1)

    def test_fresh_values_are_near_zero(self):
        from agent.losses.two_hot import expectation, symexp

        torch.manual_seed(0)
        from tiny_agent import INTERFACE

        from agent.forward import build_model

        model = build_model(INTERFACE, tiny_config(loss__num_bins=64))
        outputs = model.critics.outputs(model.critics.hidden(torch.randn(20, 8)))
        assert symexp(expectation(outputs, model.bin_centers)).abs().max() < 0.1
