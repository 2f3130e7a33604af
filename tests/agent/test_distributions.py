"""Distributions over actions against torch's and SciPy's, numerical integrals and enumeration."""

import math
from itertools import pairwise, product

import numpy as np
import pytest
import torch
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import quad
from torch import Tensor

from agent.nets.distributions import (
    ILLEGAL,
    Bernoulli,
    Beta,
    Categorical,
    Choices,
    Distribution,
    Family,
    TanhGaussian,
    TanhMixture,
    family_of,
    standard_normal,
)

BOX = spaces.Box(-1, 1, (2,))
CONTINUOUS = {"gaussian": TanhGaussian, "mixture": TanhMixture, "beta": Beta}
FAMILIES = {
    "categorical": family_of(spaces.Discrete(5), "gaussian"),
    "bernoulli": family_of(spaces.MultiBinary(3), "gaussian"),
    **{name: family_of(BOX, name) for name in CONTINUOUS},
}
few = settings(deadline=None, max_examples=25)
seeds = st.integers(0, 10_000)


def raw_of(family: Family, seed: int, *shape: int, scale: float = 1.0) -> Tensor:
    rng = np.random.default_rng(seed)
    return torch.from_numpy(scale * rng.normal(size=(*shape, family.num_parameters)).astype(np.float32))


def one_number(name: str, seed: int = 0) -> Distribution:
    """A distribution of a single continuous number."""
    return CONTINUOUS[name](raw_of(family_of(spaces.Box(-1, 1, (1,)), name), seed))


def uniform(seed: int, *shape: int) -> Tensor:
    return torch.from_numpy(np.random.default_rng(seed).random(shape, np.float32))


@pytest.mark.parametrize("name", FAMILIES)
def test_shapes(name):
    family = FAMILIES[name]
    distribution = family.make(raw_of(family, 0, 4, 2), None)
    width = {"categorical": 5, "bernoulli": 3}.get(name, 2)
    drawn = distribution.draw(uniform(0, 4, 2, family.num_chances))
    assert drawn.shape == distribution.likeliest().shape == (4, 2, width)
    assert distribution.log_prob(drawn).shape == (4, 2)
    assert drawn.dtype == torch.float32
    choices = distribution.choices(6)
    count = {"categorical": 5, "mixture": 5}.get(name, 6)
    assert choices.weights.shape == choices.log_probabilities.shape == (4, 2, count)
    assert (choices.actions is None) == (name == "categorical")
    if choices.actions is not None:
        assert choices.actions.shape == (4, 2, count, width)
    assert choices.entropy.shape == (4, 2)
    torch.testing.assert_close(choices.weights.sum(-1), torch.ones(4, 2))


@pytest.mark.parametrize("name", FAMILIES)
def test_log_prob_broadcasts_over_distributions(name):
    """One action for the policies of several discounts."""
    family = FAMILIES[name]
    raw = raw_of(family, 0, 4, 3)
    action = family.make(raw, None).draw(uniform(0, 4, 3, family.num_chances))[:, :1]
    together = family.make(raw, None).log_prob(action)
    for g in range(3):
        torch.testing.assert_close(together[:, g], family.make(raw[:, g], None).log_prob(action[:, 0]))


@pytest.mark.parametrize("name", ["bernoulli", *CONTINUOUS])
def test_the_choices_know_their_log_probabilities(name):
    family = FAMILIES[name]
    distribution = family.make(raw_of(family, 0, 50, scale=0.5), None)
    choices = distribution.choices(6)
    assert choices.actions is not None
    again = torch.stack([distribution.log_prob(choices.actions[:, m]) for m in range(choices.weights.shape[1])], 1)
    inside = choices.actions.abs().amax(-1) < 0.999 if name in CONTINUOUS else torch.ones_like(again, dtype=torch.bool)
    torch.testing.assert_close(choices.log_probabilities[inside], again[inside], rtol=1e-3, atol=1e-3)
    assert inside.float().mean() > 0.9


class TestCategorical:
    @few
    @given(seeds)
    def test_log_prob_is_torchs(self, seed):
        raw = raw_of(FAMILIES["categorical"], seed, 6)
        actions = torch.randint(5, (6,))
        expected = torch.distributions.Categorical(logits=raw).log_prob(actions)
        torch.testing.assert_close(Categorical(raw).log_prob(torch.eye(5)[actions]), expected)
        torch.testing.assert_close(
            Categorical(raw).choices(2).entropy, torch.distributions.Categorical(logits=raw).entropy()
        )

    @few
    @given(seeds, st.lists(st.booleans(), min_size=5, max_size=5).filter(any))
    def test_a_mask_is_the_distribution_of_the_rest(self, seed, allowed):
        raw, legal = raw_of(FAMILIES["categorical"], seed), torch.tensor(allowed)
        masked = Categorical(raw, legal)
        rest = torch.log_softmax(raw[legal], -1)
        torch.testing.assert_close(masked.log_probabilities[legal], rest)
        choices = masked.choices(2)
        assert (choices.weights[~legal] == 0).all()
        torch.testing.assert_close(choices.entropy, -(rest.exp() * rest).sum())
        assert legal[masked.likeliest().argmax()]
        chances = torch.cat([uniform(seed, 50, 1), torch.tensor([[0.0], [np.nextafter(np.float32(1), np.float32(0))]])])
        for action in masked.draw(chances).argmax(-1):
            assert legal[action]

    def test_where_nothing_is_legal_everything_is(self):
        raw = raw_of(FAMILIES["categorical"], 0)
        nothing = Categorical(raw, torch.zeros(5, dtype=torch.bool))
        torch.testing.assert_close(nothing.log_probabilities, Categorical(raw).log_probabilities)

    def test_illegal_actions_get_no_gradient_and_make_nothing_infinite(self):
        raw = raw_of(FAMILIES["categorical"], 0).requires_grad_()
        masked = Categorical(raw, torch.tensor([True, False, True, True, False]))
        choices = masked.choices(2)
        (choices.entropy + (choices.weights * torch.arange(5)).sum() + masked.log_prob(torch.eye(5)[0])).backward()
        assert raw.grad is not None and raw.grad.isfinite().all()
        assert raw.grad[[1, 4]].tolist() == [0.0, 0.0] and (raw.grad[[0, 2, 3]] != 0).all()
        assert masked.log_prob(torch.eye(5)[1]).item() == pytest.approx(ILLEGAL, rel=1e-3)

    def test_draws_have_the_probabilities(self):
        distribution = Categorical(torch.tensor([0.1, 0.4, 0.2, 0.3]).log(), torch.tensor([True, True, False, True]))
        drawn = distribution.draw(uniform(0, 4000, 1)).sum(0)
        assert drawn[2] == 0
        assert stats.chisquare(drawn[[0, 1, 3]], np.array([1, 4, 3]) / 8 * 4000).pvalue > 0.01


class TestBernoulli:
    @few
    @given(seeds)
    def test_log_prob_is_torchs(self, seed):
        raw, bits = raw_of(FAMILIES["bernoulli"], seed, 6, scale=3.0), torch.randint(2, (6, 3)).float()
        expected = torch.distributions.Bernoulli(logits=raw).log_prob(bits).sum(-1)
        torch.testing.assert_close(Bernoulli(raw).log_prob(bits), expected)

    def test_it_sums_to_one(self):
        distribution = Bernoulli(raw_of(FAMILIES["bernoulli"], 0))
        every = torch.tensor(list(product((0.0, 1.0), repeat=3)))
        assert distribution.log_prob(every).exp().sum().item() == pytest.approx(1.0, rel=1e-5)
        likeliest = every[distribution.log_prob(every).argmax()]
        torch.testing.assert_close(distribution.likeliest(), likeliest)

    def test_draws_have_the_probabilities(self):
        distribution = Bernoulli(torch.tensor([0.3, -1.0, 0.7]))
        drawn = distribution.draw(uniform(0, 4000, 3)) @ torch.tensor([4.0, 2.0, 1.0])
        every = torch.tensor(list(product((0.0, 1.0), repeat=3)))
        expected = distribution.log_prob(every).exp().double().numpy()
        counts = np.bincount(drawn.long().numpy(), minlength=8)
        assert stats.chisquare(counts, 4000 * expected / expected.sum()).pvalue > 0.01


class TestContinuous:
    @pytest.mark.parametrize("name", CONTINUOUS)
    @pytest.mark.parametrize("seed", range(4))
    def test_the_density_integrates_to_one(self, name, seed):
        distribution = one_number(name, seed)

        def density(x: float) -> float:
            return distribution.log_prob(torch.tensor([x])).exp().item()

        edges = np.tanh(np.linspace(-5, 5, 9))
        total = sum(quad(density, a, b, limit=30, epsabs=1e-3)[0] for a, b in pairwise(edges))
        assert total == pytest.approx(1.0, abs=0.01)

    @few
    @given(seeds)
    def test_tanh_gaussian_is_torchs(self, seed):
        raw = raw_of(FAMILIES["gaussian"], seed, 7)
        mean, log_std = raw.chunk(2, -1)
        normal = torch.distributions.Normal(mean, (-5 + 7 * log_std.sigmoid()).exp())
        reference = torch.distributions.TransformedDistribution(normal, torch.distributions.TanhTransform())
        actions = 1.9 * uniform(seed, 7, 2) - 0.95
        torch.testing.assert_close(
            TanhGaussian(raw).log_prob(actions), reference.log_prob(actions).sum(-1), rtol=1e-4, atol=1e-3
        )

    @few
    @given(seeds)
    def test_beta_is_scipys(self, seed):
        raw = raw_of(FAMILIES["beta"], seed, 7)
        alpha, beta = (1 + np.log1p(np.exp(raw.double().numpy()))).reshape(7, 2, 2).transpose(1, 0, 2)
        actions = 1.9 * uniform(seed, 7, 2) - 0.95
        expected = stats.beta(alpha, beta, loc=-1, scale=2).logpdf(actions.double().numpy()).sum(-1)
        np.testing.assert_allclose(Beta(raw).log_prob(actions), expected, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(Beta(raw).likeliest(), 2 * alpha / (alpha + beta) - 1, rtol=1e-4, atol=1e-5)

    @few
    @given(seeds)
    def test_the_mixture_is_the_sum_of_its_parts(self, seed):
        raw = raw_of(FAMILIES["mixture"], seed)
        logits, means, log_stds = raw[:5], raw[5:15].reshape(5, 2), raw[15:].reshape(5, 2)
        parts = [TanhGaussian(torch.cat([mean, log_std])) for mean, log_std in zip(means, log_stds, strict=True)]
        action = 1.9 * uniform(seed, 2) - 0.95
        weights = logits.softmax(-1)
        expected = sum(w * part.log_prob(action).exp() for w, part in zip(weights, parts, strict=True))
        assert isinstance(expected, Tensor)
        torch.testing.assert_close(TanhMixture(raw).log_prob(action).exp(), expected, rtol=1e-3, atol=1e-5)
        torch.testing.assert_close(TanhMixture(raw).likeliest(), parts[int(weights.argmax())].likeliest())

    @pytest.mark.parametrize("name", CONTINUOUS)
    @pytest.mark.parametrize("seed", range(3))
    def test_draws_are_distributed_so(self, name, seed):
        """Kolmogorov and Smirnov against the integral of the density."""
        family = family_of(spaces.Box(-1, 1, (1,)), name)
        raw = raw_of(family, seed)
        drawn = CONTINUOUS[name](raw.expand(3000, -1)).draw(uniform(seed, 3000, family.num_chances))[:, 0]
        grid = torch.linspace(-8, 8, 20_001, dtype=torch.float64).tanh().float()
        density = CONTINUOUS[name](raw).log_prob(grid[:, None]).exp().double().numpy()
        x = grid.double().numpy()
        cumulative = np.concatenate([[0], np.cumsum((density[1:] + density[:-1]) / 2 * np.diff(x))])
        assert cumulative[-1] == pytest.approx(1.0, abs=0.02)
        result = stats.kstest(drawn.numpy(), lambda at: np.interp(at, x, cumulative / cumulative[-1]))
        assert result.pvalue > 0.01

    @pytest.mark.parametrize("name", CONTINUOUS)
    def test_coordinates_are_drawn_apart(self, name):
        """Of a mixture within its component."""
        family = FAMILIES[name]
        raw = raw_of(family, 1)
        if name == "mixture":
            raw[:5] = torch.tensor([50.0, 0, 0, 0, 0])
        drawn = family.make(raw.expand(3000, -1), None).draw(uniform(0, 3000, family.num_chances))
        assert abs(np.corrcoef(drawn.numpy().T)[0, 1]) < 0.05

    @pytest.mark.parametrize("name", CONTINUOUS)
    def test_what_is_done_at_the_edge_has_a_finite_density_and_gradient(self, name):
        raw = raw_of(FAMILIES[name], 0, 4, scale=3.0).requires_grad_()
        edges = torch.tensor([[1.0, 1.0], [-1.0, 1.0], [0.0, -1.0], [-1.0, -1.0]])
        found = FAMILIES[name].make(raw, None).log_prob(edges)
        found.sum().backward()
        assert raw.grad is not None and found.isfinite().all() and raw.grad.isfinite().all()

    @pytest.mark.parametrize("name", CONTINUOUS)
    @pytest.mark.parametrize("scale", [1.0, 10.0, 100.0])
    def test_extreme_parameters_stay_finite_and_inside(self, name, scale):
        family = FAMILIES[name]
        raw = raw_of(family, 0, 40, scale=scale).requires_grad_()
        distribution = family.make(raw, None)
        choices = distribution.choices(4)
        assert choices.actions is not None
        drawn = distribution.draw(uniform(0, 40, family.num_chances))
        for actions in (choices.actions, drawn, distribution.likeliest()):
            assert actions.abs().max() <= 1
        (choices.entropy.sum() + choices.actions.sum() + distribution.log_prob(drawn.detach()).sum()).backward()
        assert raw.grad is not None and raw.grad.isfinite().all()

    def test_the_same_chances_make_the_same_draw(self):
        for name in CONTINUOUS:
            family = FAMILIES[name]
            distribution, chances = family.make(raw_of(family, 0, 3), None), uniform(0, 3, family.num_chances)
            assert torch.equal(distribution.draw(chances), distribution.draw(chances))

    def test_standard_normal_numbers(self):
        chances = uniform(0, 5000)
        assert stats.kstest(standard_normal(chances).numpy(), "norm").pvalue > 0.01
        np.testing.assert_allclose(
            standard_normal(torch.tensor([0.1, 0.5, 0.975])), stats.norm.ppf([0.1, 0.5, 0.975]), atol=1e-5
        )
        assert standard_normal(torch.zeros(1)).isfinite().all()


def sloped(actions: Tensor) -> Tensor:
    """A function (...) of actions (..., E), not linear."""
    return (actions * torch.arange(1.0, actions.shape[-1] + 1)).sum(-1).add(0.3).square()


class TestExpectations:
    """What `Choices` promises: E f(a) and its gradient, averaged over many choices."""

    def estimate(self, family: Family, raw: Tensor, copies: int, num_samples: int = 4) -> tuple[float, Tensor]:
        """E f and its gradient in `raw` (P,)."""
        raw = raw.clone().requires_grad_()
        choices = family.make(raw.expand(copies, -1), None).choices(num_samples)
        assert choices.actions is not None
        expected = (choices.weights * sloped(choices.actions)).sum(-1).mean()
        return expected.item(), torch.autograd.grad(expected, raw)[0]

    def test_bits_against_enumeration(self):
        raw = torch.tensor([0.4, -0.6, 0.2], requires_grad=True)
        every = torch.tensor(list(product((0.0, 1.0), repeat=3)))
        exact = (Bernoulli(raw).log_prob(every).exp() * sloped(every)).sum()
        slope = torch.autograd.grad(exact, raw)[0]
        torch.manual_seed(0)
        estimate, gradient = self.estimate(FAMILIES["bernoulli"], raw.detach(), 60_000)
        assert estimate == pytest.approx(exact.item(), rel=0.02)
        torch.testing.assert_close(gradient, slope, rtol=0.05, atol=0.1)

    def integral(self, name: str, raw: Tensor) -> float:
        """E f of one number by summing over a fine grid."""
        before = torch.linspace(-9, 9, 40_001, dtype=torch.float64)
        grid = before.tanh().float()
        density = CONTINUOUS[name](raw).log_prob(grid[:, None]).exp().double()
        values = density * sloped(grid[:, None]).double()
        return (torch.trapezoid(values, grid.double()) / torch.trapezoid(density, grid.double())).item()

    @pytest.mark.parametrize("name", CONTINUOUS)
    def test_numbers_against_integrals(self, name):
        family = family_of(spaces.Box(-1, 1, (1,)), name)
        raw = raw_of(family, 2)
        torch.manual_seed(0)
        estimate, gradient = self.estimate(family, raw, 40_000)
        assert estimate == pytest.approx(self.integral(name, raw), abs=0.02)
        for k in range(len(raw)):
            step = 0.05 * torch.eye(len(raw))[k]
            numerical = (self.integral(name, raw + step) - self.integral(name, raw - step)) / 0.1
            assert gradient[k].item() == pytest.approx(numerical, abs=0.03)

    def test_counted_choices_are_exact(self):
        raw = raw_of(FAMILIES["categorical"], 0).requires_grad_()
        choices = Categorical(raw).choices(1)
        slope = torch.autograd.grad((choices.weights * torch.arange(5.0)).sum(), raw)[0]
        p = raw.detach().softmax(-1)
        torch.testing.assert_close(slope, p * (torch.arange(5.0) - (p * torch.arange(5.0)).sum()))

    def test_the_weights_of_a_mixture_are_its_components(self):
        raw = raw_of(FAMILIES["mixture"], 0)
        torch.testing.assert_close(TanhMixture(raw).choices(2).weights, raw[:5].softmax(-1))

    @pytest.mark.parametrize("name", ["gaussian", "beta", "mixture", "bernoulli"])
    def test_entropy_on_average(self, name):
        width = 1
        space = spaces.MultiBinary(width) if name == "bernoulli" else spaces.Box(-1, 1, (width,))
        family = family_of(space, name)
        raw = raw_of(family, 2)
        torch.manual_seed(0)
        found = family.make(raw.expand(20_000, -1), None).choices(4).entropy.mean().item()
        if name == "bernoulli":
            expected = float(stats.bernoulli(raw.sigmoid().item()).entropy())
        else:
            grid = torch.linspace(-9, 9, 40_001, dtype=torch.float64).tanh().float()
            log_density = CONTINUOUS[name](raw).log_prob(grid[:, None]).double()
            expected = -torch.trapezoid(log_density.exp() * log_density, grid.double()).item()
        assert found == pytest.approx(expected, abs=0.05)


@pytest.mark.parametrize("name", FAMILIES)
def test_bfloat16_parameters_become_full_precision(name):
    family = FAMILIES[name]
    distribution = family.make(raw_of(family, 0, 3).bfloat16(), None)
    choices = distribution.choices(3)
    for tensor in (choices.weights, choices.log_probabilities, distribution.likeliest()):
        assert tensor.dtype == torch.float32


def test_entropy_by_hand():
    choices = Choices(None, torch.tensor([0.5, 0.5]), torch.tensor([0.5, 0.5]).log())
    assert choices.entropy.item() == pytest.approx(math.log(2))
