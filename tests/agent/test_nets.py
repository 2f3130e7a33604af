"""The heads, the critic ensembles, the code of actions, running normalisation, and the model as a whole."""

import math

import numpy as np
import pytest
import torch
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_agent import KINDS, tiny_config, tiny_model
from torch import nn
from torch.nn import functional as F

from agent.nets.actions import action_code
from agent.nets.heads import ActionCritic, ActorHead, ChoiceCritic, CriticHead, EnsembleLinear
from agent.nets.model import ActingModel, acting_tensors, num_parameters
from agent.nets.normalisation import RunningNorm
from agent.nets.transformer import NEGATIVE_SLOPE
from agent.values import value_bins

SIZES = (4, 3, 5, 2, 3, 6)  # C, d_in, d_hidden, G, A or E, U


def randomised(head: CriticHead) -> CriticHead:
    for layer in head.children():
        nn.init.normal_(layer.bias)
    return head


def separate(layer: EnsembleLinear, member: int) -> nn.Linear:
    linear = nn.Linear(layer.weight.shape[1], layer.weight.shape[2])
    linear.weight.data = layer.weight[member].T.clone()
    linear.bias.data = layer.bias[member, 0].clone()
    return linear


class TestChoiceCritic:
    def test_the_ensemble_is_as_many_separate_networks(self):
        head = randomised(ChoiceCritic(*SIZES))
        x = torch.randn(2, 7, 3)
        outputs = head.policy_outputs(head.features(x), None)
        assert outputs.shape == (4, 14, 2, 3, 6)
        for member in range(4):
            layers = [separate(layer, member) for layer in (head.first, head.second, head.out)]
            alone = nn.Sequential(
                layers[0], nn.LeakyReLU(NEGATIVE_SLOPE), layers[1], nn.LeakyReLU(NEGATIVE_SLOPE), layers[2]
            )
            torch.testing.assert_close(outputs[member], alone(x.flatten(0, 1)).unflatten(-1, (2, 3, 6)))

    @pytest.mark.parametrize("members", [[0], [2, 0], [3, 1, 2]])
    def test_only_the_drawn_members_are_evaluated(self, members):
        head = randomised(ChoiceCritic(*SIZES))
        x, drawn = torch.randn(9, 3), torch.tensor(members)
        features = head.features(x, drawn)
        torch.testing.assert_close(features, head.features(x)[drawn])
        expected = head.policy_outputs(head.features(x), None)[drawn]
        torch.testing.assert_close(head.policy_outputs(features, None, drawn), expected)

    @settings(deadline=None, max_examples=30)
    @given(st.integers(0, 1000), st.integers(1, 20), st.integers(1, 4), st.integers(1, 5), st.integers(1, 4))
    def test_taken_outputs_are_the_outputs_at_the_action(self, seed, num_steps, G, A, U):
        torch.manual_seed(seed)
        head = randomised(ChoiceCritic(3, 4, 5, G, A, U))
        features = head.features(torch.randn(num_steps, 4))
        actions = torch.randint(A, (num_steps,))
        index = actions[None, :, None, None, None].expand(3, -1, G, 1, U)
        expected = head.policy_outputs(features, None).gather(3, index).squeeze(3)
        torch.testing.assert_close(head.taken_outputs(features, F.one_hot(actions, A).float()), expected)

    @pytest.mark.parametrize("num_bins", [1, 5])
    def test_taken_outputs_have_the_same_gradient(self, num_bins):
        head = randomised(ChoiceCritic(2, 3, 4, 2, 3, num_bins))
        x, actions = torch.randn(6, 3), torch.tensor([2, 0, 2, 1, 1, 0])
        factors = torch.randn(2, 6, 2, num_bins)
        parameters = list(head.parameters())
        taken = head.taken_outputs(head.features(x), F.one_hot(actions, 3).float())
        fast = torch.autograd.grad((taken * factors).sum(), parameters)
        everything = head.out(head.features(x)).unflatten(-1, head.shape)
        picked = everything[:, torch.arange(6), :, actions].transpose(0, 1)
        slow = torch.autograd.grad((picked * factors).sum(), parameters)
        for one, other in zip(fast, slow, strict=True):
            torch.testing.assert_close(one, other)


class TestActionCritic:
    """Its input is state and action side by side, whatever way it is computed."""

    @staticmethod
    def alone(head: ActionCritic, member: int, x: torch.Tensor, actions: torch.Tensor) -> torch.Tensor:
        """(N, G, U) of one member as a network of its own, `x` (N, d_in) and `actions` (N, E)."""
        first, act, second, out = (separate(layer, member) for layer in (head.first, head.act, head.second, head.out))
        both = nn.Linear(x.shape[-1] + actions.shape[-1], first.out_features)
        both.weight.data = torch.cat([first.weight, act.weight], dim=1)
        both.bias.data = first.bias + act.bias
        network = nn.Sequential(both, nn.LeakyReLU(NEGATIVE_SLOPE), second, nn.LeakyReLU(NEGATIVE_SLOPE), out)
        return network(torch.cat([x, actions], dim=1)).unflatten(-1, (head.shape[0], head.shape[2]))

    def test_taken_outputs_are_those_of_separate_networks(self):
        head = randomised(ActionCritic(*SIZES))
        x, actions = torch.randn(14, 3), torch.rand(14, 3)
        outputs = head.taken_outputs(head.features(x), actions)
        assert outputs.shape == (4, 14, 2, 6)
        for member in range(4):
            torch.testing.assert_close(outputs[member], self.alone(head, member, x, actions))

    @pytest.mark.parametrize("members", [None, [2, 0], [3]])
    def test_the_choices_of_each_discount_are_evaluated_by_that_discount(self, members):
        head = randomised(ActionCritic(*SIZES))
        x, actions = torch.randn(2, 7, 3), torch.rand(14, 2, 5, 3)  # N, G, M, E
        drawn = None if members is None else torch.tensor(members)
        outputs = head.policy_outputs(head.features(x, drawn), actions, drawn)
        assert outputs.shape == (4 if members is None else len(members), 14, 2, 5, 6)
        for row, member in enumerate(members or range(4)):
            for g, m in np.ndindex(2, 5):
                expected = self.alone(head, member, x.flatten(0, 1), actions[:, g, m])[:, g]
                torch.testing.assert_close(outputs[row, :, g, m], expected)

    def test_the_gradient_of_the_choices_is_that_of_the_networks(self):
        head = randomised(ActionCritic(*SIZES))
        x, actions = torch.randn(6, 3), torch.rand(6, 2, 4, 3, requires_grad=True)
        factors = torch.randn(4, 6, 2, 4, 6)
        fast = torch.autograd.grad((head.policy_outputs(head.features(x), actions) * factors).sum(), actions)[0]
        slow = sum(
            (self.alone(head, member, x, actions[:, g, m])[:, g] * factors[member, :, g, m]).sum()
            for member, g, m in np.ndindex(4, 2, 4)
        )
        assert isinstance(slow, torch.Tensor)
        torch.testing.assert_close(fast, torch.autograd.grad(slow, actions)[0])

    def test_one_action_tried_is_the_same_as_taken(self):
        head = randomised(ActionCritic(*SIZES))
        x, actions = torch.randn(6, 3), torch.rand(6, 3)
        tried = head.policy_outputs(head.features(x), actions[:, None, None].expand(-1, 2, 1, -1))
        torch.testing.assert_close(tried[:, :, :, 0], head.taken_outputs(head.features(x), actions))


@pytest.mark.parametrize("kind", [ChoiceCritic, ActionCritic])
class TestCritics:
    def actions(self, head: CriticHead, num_steps: int) -> torch.Tensor | None:
        return None if isinstance(head, ChoiceCritic) else torch.rand(num_steps, 2, 4, 3)

    def test_a_policy_moves_no_critic(self, kind):
        head = randomised(kind(*SIZES))
        features = head.features(torch.randn(6, 3)).detach().requires_grad_()
        actions = self.actions(head, 6)
        head.policy_outputs(features, actions).sum().backward()
        assert features.grad is not None and features.grad.abs().sum() > 0
        assert all(parameter.grad is None for parameter in head.parameters())

    def test_critics_can_start_at_one_distribution(self, kind):
        head = kind(*SIZES)
        logits = torch.tensor([0.0, 1.0, 3.0, 1.0, 0.0, 0.0])
        head.start_at(logits)
        started = head.policy_outputs(head.features(torch.randn(6, 3)), self.actions(head, 6))
        torch.testing.assert_close(started, logits.expand(started.shape), rtol=0, atol=0.15)


def test_actor_gives_parameters_per_discount_and_the_last_one_acts():
    actor = ActorHead(4, 5, num_discounts=3, num_parameters=6)
    nn.init.normal_(actor.out.weight)
    nn.init.normal_(actor.out.bias)
    x = torch.randn(2, 7, 4)
    raw = actor(x)
    assert raw.shape == (2, 7, 3, 6)
    assert len({tuple(row) for row in raw[0, 0].tolist()}) == 3
    torch.testing.assert_close(actor.last_discount(x), raw[:, :, -1])


def test_actor_starts_nearly_uniform():
    assert (ActorHead(64, 64, 1, 17)(torch.randn(5, 64)).softmax(-1) - 1 / 17).abs().max() < 0.02


class TestActionCode:
    def test_choices(self):
        code = action_code(spaces.Discrete(4))
        assert code.encode(torch.tensor([2, 0])).tolist() == [[0, 0, 1, 0], [1, 0, 0, 0]]
        assert code.decode(torch.eye(4)).tolist() == [0, 1, 2, 3]

    def test_bits(self):
        code, bits = action_code(spaces.MultiBinary(3)), torch.tensor([[0, 1, 1]], dtype=torch.int8)
        assert code.encode(bits).tolist() == [[0.0, 1.0, 1.0]] and code.encode(bits).dtype == torch.float32
        assert torch.equal(code.decode(code.encode(bits)), bits)

    def test_numbers(self):
        code = action_code(spaces.Box(np.float32([-1, 0]), np.float32([3, 10])))
        actions = torch.tensor([[-1.0, 10.0], [1.0, 5.0], [3.0, 2.5]])
        encoded = torch.tensor([[-1.0, 1.0], [0.0, 0.0], [1.0, -0.5]])
        torch.testing.assert_close(code.encode(actions), encoded)
        torch.testing.assert_close(code.decode(encoded), actions)

    @settings(deadline=None, max_examples=60)
    @given(
        st.floats(-1e6, 1e6, width=32),
        st.floats(0, 1e6, width=32),
        st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=4),
    )
    def test_numbers_stay_within_any_bounds(self, low, width, features):
        space = spaces.Box(np.float32([low]), np.float32([low]) + np.float32(width))
        code = action_code(space)
        for feature in (*features, -1.0, 1.0):
            decoded = code.decode(torch.tensor([feature]))
            assert space.contains(decoded.numpy())
            again = code.encode(decoded)
            assert again.isfinite().all() and again.abs() <= 1
            if width > 1e-3 * abs(low) and width > 1e-3:
                assert again.item() == pytest.approx(feature, abs=1e-3)

    @pytest.mark.parametrize(
        "space",
        [
            spaces.Discrete(3, start=1),
            spaces.Box(-1, np.inf, (2,)),
            spaces.Box(-1, 1, (2, 2)),
            spaces.MultiBinary((2, 2)),
            spaces.MultiDiscrete([2, 3]),
        ],
    )
    def test_what_the_agent_cannot_do(self, space):
        with pytest.raises(ValueError, match="cannot act in"):
            action_code(space)


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

    @pytest.mark.parametrize("kind", KINDS)
    def test_an_actor_needs_only_its_part(self, kind):
        interface, more = KINDS[kind]
        config = tiny_config(**more)
        model = tiny_model(config, interface=interface)
        acting = ActingModel(interface, config, value_bins(config.loss))
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
        outputs = model.critics.policy_outputs(model.critics.features(torch.randn(20, 8)), None)
        assert symexp(expectation(outputs, model.bin_centers)).abs().max() < 0.1
