"""The losses against numbers worked out by hand and against plain loops over their definitions."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from agent.losses import actor, critic
from agent.losses.reduce import masked_mean
from agent.losses.returns import expected_value, td_target
from agent.losses.two_hot import bin_centers

SIZES = st.tuples(*[st.integers(1, 3)] * 5)  # C, B, L, G, A
SEEDS = st.integers(0, 10_000)
few = settings(deadline=None, max_examples=25)


def normal(seed: int, *shape: int) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape).astype(np.float32))


def policy(seed: int, *shape: int) -> torch.Tensor:
    return torch.log_softmax(normal(seed, *shape), dim=-1)


def flags(seed: int, *shape: int, share: float = 0.5) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).random(shape) < share)


class TestTdTarget:
    def test_by_hand(self):
        target = td_target(
            torch.tensor([[10.0, 0.0]]),
            torch.tensor([[False, True]]),
            torch.tensor([[[4.0, 8.0], [100.0, 100.0]]]),
            torch.tensor([0.5, 0.9]),
        )
        torch.testing.assert_close(target, torch.tensor([[[12.0, 17.2], [0.0, 0.0]]]))

    @few
    @given(SEEDS, SIZES)
    def test_against_a_loop(self, seed, sizes):
        _, B, L, G, _ = sizes
        rewards, done, values = normal(seed, B, L), flags(seed, B, L), normal(seed + 1, B, L, G)
        gammas = torch.linspace(0.3, 0.95, G)
        target = td_target(rewards, done, values, gammas)
        for b, t, g in np.ndindex(B, L, G):
            bootstrap = 0.0 if done[b, t] else float(gammas[g] * values[b, t, g])
            assert target[b, t, g].item() == pytest.approx(float(rewards[b, t]) + bootstrap, abs=1e-5)

    @few
    @given(SEEDS, st.integers(1, 3), st.integers(1, 6), st.integers(1, 4))
    def test_n_steps_against_a_loop(self, seed, B, L, n):
        rewards, done, values = normal(seed, B, L), flags(seed, B, L, share=0.2), normal(seed + 1, B, L, 2)
        gammas = torch.tensor([0.5, 0.9])
        continues = flags(seed + 2, B, L, share=0.8) & ~done
        continues[:, -1] = False
        target = td_target(rewards, done, values, gammas, continues=continues, num_steps=n)
        for b, t, g in np.ndindex(B, L, 2):
            expected, weight, k = 0.0, 1.0, t
            while True:
                expected += weight * float(rewards[b, k])
                weight *= float(gammas[g])
                if done[b, k]:
                    break
                if not continues[b, k] or k - t == n - 1:
                    expected += weight * float(values[b, k, g])
                    break
                k += 1
            assert target[b, t, g].item() == pytest.approx(expected, abs=1e-4)

    @few
    @given(
        SEEDS,
        st.lists(
            st.tuples(st.integers(1, 8), st.sampled_from(["terminated", "truncated", "window"])), min_size=1, max_size=4
        ),
        st.integers(1, 10),
    )
    def test_n_steps_over_windows_of_episodes(self, seed, episodes, n):
        """Each row is an episode that ends one way or another; what stands behind its end is not a number."""
        B, L = len(episodes), max(length for length, _ in episodes)
        rewards, values = normal(seed, B, L), normal(seed + 1, B, L, 2)
        gammas = torch.tensor([0.5, 0.9])
        terminated, continues = torch.zeros(B, L, dtype=torch.bool), torch.zeros(B, L, dtype=torch.bool)
        for b, (length, end) in enumerate(episodes):
            rewards[b, length:], values[b, length:] = math.nan, math.nan
            terminated[b, length - 1] = end == "terminated"
            continues[b, : length - 1] = True
        target = td_target(rewards, terminated, values, gammas, continues=continues, num_steps=n)

        def expected(b: int, t: int, g: int, steps: int) -> float:
            """r_t + gamma times what t + 1 is worth, with so many `steps` of reward to come, this one included."""
            length, end = episodes[b]
            if t == length - 1:
                later = 0.0 if end == "terminated" else float(values[b, t, g])
            else:
                later = float(values[b, t, g]) if steps == 1 else expected(b, t + 1, g, steps - 1)
            return float(rewards[b, t]) + float(gammas[g]) * later

        for b, (length, _) in enumerate(episodes):
            for t, g in np.ndindex(length, 2):
                assert target[b, t, g].item() == pytest.approx(expected(b, t, g, n), abs=1e-4)

    @few
    @given(SEEDS, st.integers(1, 9), st.integers(1, 12))
    def test_every_sweep_of_n_steps_makes_n_more_values_exact(self, seed, L, n):
        """Bootstrapping on its own targets, backwards from the end: at last the discounted return, whatever n is."""
        rewards, gammas = normal(seed, 1, L), torch.tensor([0.5, 0.9])
        done = torch.arange(L)[None] == L - 1
        exact = torch.zeros(1, L, 2)
        for t in range(L):
            exact[0, t] = sum(rewards[0, k] * gammas ** (k - t) for k in range(t, L))
        target = normal(seed + 1, 1, L, 2) + 10  # of which nothing is right
        for sweep in range(1, -(-L // n) + 1):
            values = torch.cat([target[:, 1:], target[:, :1]], dim=1)
            target = td_target(rewards, done, values, gammas, continues=~done, num_steps=n)
            right = torch.isclose(target, exact, atol=1e-4).all(-1)[0]
            assert right.tolist() == [t >= L - sweep * n for t in range(L)]


@few
@given(SEEDS, SIZES)
def test_expected_value_against_a_loop(seed, sizes):
    values, probabilities = normal(seed, *sizes), policy(seed + 1, *sizes[1:]).exp()
    expected = expected_value(values, probabilities)
    assert expected.shape == sizes[:-1]
    for c, b, t, g in np.ndindex(*sizes[:-1]):
        total = sum(float(values[c, b, t, g, a] * probabilities[b, t, g, a]) for a in range(sizes[-1]))
        assert expected[c, b, t, g].item() == pytest.approx(total, abs=1e-5)


class TestCritics:
    def test_regression_by_hand(self):
        values = torch.tensor([[[[1.0]]], [[[3.0]]]])
        loss = critic.regression(values, torch.tensor([[[2.5]]]))
        torch.testing.assert_close(loss, torch.tensor([[[[2.25]]], [[[0.25]]]]))

    def test_classification_by_hand(self):
        logits = torch.log(torch.tensor([0.5, 0.25, 0.25])).reshape(1, 1, 1, 1, 3)
        loss = critic.classification(logits, torch.tensor([[[0.25]]]), torch.tensor([0.0, 1.0, 2.0]))
        assert loss.item() == pytest.approx(-(0.75 * math.log(0.5) + 0.25 * math.log(0.25)))

    @few
    @given(SEEDS, SIZES, st.integers(2, 9))
    def test_classification_against_a_loop(self, seed, sizes, num_bins):
        C, B, L, G, _ = sizes
        centers = bin_centers(num_bins, -2.0, 3.0, spaced_in_symlog=False)
        logits, targets = normal(seed, C, B, L, G, num_bins), 2 * normal(seed + 1, B, L, G)
        loss = critic.classification(logits, targets, centers)
        for c, b, t, g in np.ndindex(C, B, L, G):
            y = min(max(float(targets[b, t, g]), -2.0), 3.0)
            exponentials = [math.exp(float(x)) for x in logits[c, b, t, g]]
            spacing = 5.0 / (num_bins - 1)
            expected = 0.0
            for u, exponential in enumerate(exponentials):
                label = max(0.0, 1 - abs(y - (-2.0 + u * spacing)) / spacing)
                expected -= label * math.log(exponential / sum(exponentials))
            assert loss[c, b, t, g].item() == pytest.approx(expected, abs=1e-4)

    @few
    @given(SEEDS, SIZES, st.integers(2, 9))
    def test_histogram_against_a_loop(self, seed, sizes, num_bins):
        C, B, L, G, _ = sizes
        centers = bin_centers(num_bins, -2.0, 3.0, spaced_in_symlog=False)
        logits, targets = normal(seed, C, B, L, G, num_bins), 2 * normal(seed + 1, B, L, G)
        loss = critic.histogram(logits, targets, centers)
        spacing = 5.0 / (num_bins - 1)
        for c, b, t, g in np.ndindex(C, B, L, G):
            law = norm(min(max(float(targets[b, t, g]), -2.0), 3.0), 0.75 * spacing)
            middles = [-2.0 + u * spacing for u in range(num_bins)]
            masses = [law.cdf(x + spacing / 2) - law.cdf(x - spacing / 2) for x in middles]
            exponentials = [math.exp(float(x)) for x in logits[c, b, t, g]]
            expected = -sum(
                mass / sum(masses) * math.log(exponential / sum(exponentials))
                for mass, exponential in zip(masses, exponentials, strict=True)
            )
            assert loss[c, b, t, g].item() == pytest.approx(expected, abs=1e-4)

    @pytest.mark.parametrize("loss", [critic.classification, critic.histogram])
    def test_the_minimum_is_the_label(self, loss):
        """Descending the loss finds the distribution whose expectation is the target."""
        centers = bin_centers(8, -1.0, 6.0, spaced_in_symlog=False)
        logits = torch.zeros(1, 1, 1, 1, 8, requires_grad=True)
        optimizer = torch.optim.Adam([logits], lr=0.3)
        for _ in range(150):
            optimizer.zero_grad()
            loss(logits, torch.tensor([[[2.3]]]), centers).sum().backward()
            optimizer.step()
        assert (logits.softmax(-1) @ centers).item() == pytest.approx(2.3, abs=0.05)

    def test_targets_get_no_gradient(self):
        targets = torch.ones(1, 1, 1, requires_grad=True)
        values = torch.zeros(1, 1, 1, 1, requires_grad=True)
        critic.regression(values, targets).sum().backward()
        logits = torch.zeros(1, 1, 1, 1, 3, requires_grad=True)
        for labelled in (critic.classification, critic.histogram):
            labelled(logits, targets, torch.tensor([0.0, 1.0, 2.0])).sum().backward()
        assert targets.grad is None and values.grad is not None and logits.grad is not None


class TestActors:
    WEIGHTS = torch.tensor([[[[0.25, 0.75]]]])  # (B, L, G, M)
    VALUES = torch.tensor([[[[[4.0, 0.0]]]], [[[[2.0, 1.0]]]]])  # (C, B, L, G, M)

    def test_policy_gradient_by_hand(self):
        loss = actor.policy_gradient(self.WEIGHTS, self.VALUES)
        torch.testing.assert_close(loss, torch.tensor([[[-0.5]]]))  # -(1/4 min(4, 2) + 3/4 min(0, 1))

    def test_its_gradient_by_hand(self):
        """Of the weights: how much worse a choice is than the mean; of the values: the lowest critic's weight."""
        weights, values = self.WEIGHTS.clone().requires_grad_(), self.VALUES.clone().requires_grad_()
        actor.policy_gradient(weights, values).sum().backward()
        assert weights.grad is not None and values.grad is not None
        torch.testing.assert_close(weights.grad.flatten(), torch.tensor([-1.5, 0.5]))
        torch.testing.assert_close(values.grad.flatten(), torch.tensor([0.0, -0.75, -0.25, 0.0]))

    @few
    @given(SEEDS, SIZES)
    def test_the_baseline_changes_no_gradient_of_counted_choices(self, seed, sizes):
        """Probabilities sum to one whatever the logits: the gradient is that of the plain expectation."""
        logits, values = normal(seed, *sizes[1:]).requires_grad_(), normal(seed + 1, *sizes)
        loss = actor.policy_gradient(logits.softmax(-1), values).sum()
        plain = -(logits.softmax(-1) * values.amin(0)).sum()
        torch.testing.assert_close(*(torch.autograd.grad(x, logits)[0] for x in (loss, plain)), rtol=1e-4, atol=1e-5)

    def test_advantage_by_hand(self):
        advantages = [actor.advantage(self.VALUES[..., a], self.WEIGHTS, self.VALUES).item() for a in (0, 1)]
        assert advantages == pytest.approx([3 - (0.75 + 0.375), 0.5 - (0.75 + 0.375)])

    def test_filters_by_hand(self):
        advantages, valid = torch.tensor([0.1, 0.0, -0.1, 100.0]).view(1, 4, 1), torch.ones(1, 4, dtype=torch.bool)
        hard = actor.advantage_filter(advantages, valid, "binary", 1.0)
        assert hard.flatten().tolist() == [1.0, 0.0, 0.0, 1.0]
        soft = actor.advantage_filter(advantages, valid, "exp", 0.5).flatten()
        torch.testing.assert_close(soft, torch.tensor([math.exp(0.2), 1.0, math.exp(-0.2), actor.MAX_WEIGHT]))

    def test_linear_filter_by_hand(self):
        """The second discount's advantages are ten times the first's; the last step does not exist."""
        first = torch.tensor([3.0, -1.0, 0.0, 4.0, 1e6])
        advantages, valid = torch.stack([first, 10 * first], -1).unsqueeze(0), torch.tensor([[1, 1, 1, 1, 0]]).bool()
        worth = actor.advantage_filter(advantages, valid, "linear", 1.0)  # root mean square 2.5: (9 + 16) / 4
        expected = torch.tensor([1.2, 0.0, 0.0, 1.6]).unsqueeze(-1).expand(4, 2)
        torch.testing.assert_close(worth[0, :4], expected)

    def test_linear_filter_bounds_what_one_step_weighs(self):
        advantages = torch.zeros(1, 100, 1)
        advantages[0, 7] = 30.0  # root mean square 3: ten of them
        worth = actor.advantage_filter(advantages, torch.ones(1, 100, dtype=torch.bool), "linear", 1.0)
        assert worth[0, 7].item() == actor.MAX_GAIN and worth.sum() == actor.MAX_GAIN
        tiny = actor.advantage_filter(advantages * 1e-9, torch.ones(1, 100, dtype=torch.bool), "linear", 1.0)
        assert 0 < tiny[0, 7].item() < 1e-4  # nothing but rounding errors: not magnified

    def test_filtered_cloning_by_hand(self):
        worth = torch.tensor([[[1.0]], [[0.0]], [[2.5]]])
        loss = actor.filtered_cloning(torch.full((3, 1, 1), math.log(0.75)), worth)
        torch.testing.assert_close(loss.flatten(), torch.tensor([-math.log(0.75), 0.0, -2.5 * math.log(0.75)]))

    @few
    @given(SEEDS, SIZES)
    def test_against_loops(self, seed, sizes):
        _, B, L, G, M = sizes
        weights, values = policy(seed, B, L, G, M).exp(), normal(seed + 1, *sizes)
        taken, log_probs = normal(seed + 2, *sizes[:-1]), normal(seed + 3, B, L, G)
        valid = torch.ones(B, L, dtype=torch.bool)
        advantages = actor.advantage(taken, weights, values)
        gradient = actor.policy_gradient(weights, values)
        cloning = actor.filtered_cloning(log_probs, actor.advantage_filter(advantages, valid, "binary", 1.0))
        for b, t, g in np.ndindex(B, L, G):
            p = [float(x) for x in weights[b, t, g]]
            q = values[:, b, t, g].double().numpy()  # (C, M)
            executed = taken[:, b, t, g].double().numpy().mean()
            expected = executed - sum(p[k] * q.mean(0)[k] for k in range(M))
            assert advantages[b, t, g].item() == pytest.approx(expected, abs=1e-5)
            assert gradient[b, t, g].item() == pytest.approx(-sum(p[k] * q.min(0)[k] for k in range(M)), abs=1e-5)
            wanted = -float(log_probs[b, t, g]) if advantages[b, t, g] > 0 else 0.0
            assert cloning[b, t, g].item() == pytest.approx(wanted, abs=1e-5)

    @pytest.mark.parametrize("kind", ["binary", "linear", "exp"])
    def test_only_the_policy_gets_gradient_of_cloning(self, kind):
        weights, values = self.WEIGHTS.clone().requires_grad_(), self.VALUES.clone().requires_grad_()
        log_probs = torch.zeros(1, 1, 1, requires_grad=True)
        valid = torch.ones(1, 1, dtype=torch.bool)
        worth = actor.advantage_filter(actor.advantage(values[..., 0], weights, values), valid, kind, 1.0)
        assert not worth.requires_grad
        actor.filtered_cloning(log_probs, worth).sum().backward()
        assert values.grad is None and weights.grad is None
        assert log_probs.grad is not None and log_probs.grad.item() == -worth.item() < 0


class TestMaskedMean:
    def test_by_hand(self):
        values = torch.tensor([[[1.0, 3.0], [100.0, 100.0]], [[5.0, 7.0], [9.0, 11.0]]])
        valid = torch.tensor([[True, False], [True, True]])
        assert masked_mean(values, valid).item() == pytest.approx((1 + 3 + 5 + 7 + 9 + 11) / 6)

    def test_nothing_valid_gives_zero(self):
        assert masked_mean(torch.ones(2, 3, 1), torch.zeros(2, 3, dtype=torch.bool)).item() == 0.0

    @few
    @given(SEEDS, SIZES)
    def test_against_a_loop(self, seed, sizes):
        C, B, L, G, _ = sizes
        values, valid = normal(seed, C, B, L, G), flags(seed, B, L)
        chosen = [float(values[c, b, t, g]) for c, b, t, g in np.ndindex(C, B, L, G) if valid[b, t]]
        expected = sum(chosen) / len(chosen) if chosen else 0.0
        assert masked_mean(values, valid).item() == pytest.approx(expected, abs=1e-5)
