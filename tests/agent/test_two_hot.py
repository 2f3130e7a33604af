"""Labels over value bins, and the way back."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.losses.two_hot import bin_centers, expectation, symexp, symlog, two_hot

BINS = st.integers(2, 40)
LOWS = st.floats(-50, -0.5)
HIGHS = st.floats(0.5, 100)


def dense(values: torch.Tensor, centers: torch.Tensor) -> torch.Tensor:
    """The labels written out, (..., U)."""
    lower, upper, weight = two_hot(values, centers)
    label = torch.zeros(*values.shape, len(centers))
    label.scatter_(-1, lower.unsqueeze(-1), (1 - weight).unsqueeze(-1))
    return label.scatter_add_(-1, upper.unsqueeze(-1), weight.unsqueeze(-1))


def test_by_hand():
    centers = torch.tensor([0.0, 1.0, 2.0])
    label = dense(torch.tensor([0.0, 0.25, 1.0, 1.9, 2.0, -3.0, 7.0]), centers)
    expected = [[1, 0, 0], [0.75, 0.25, 0], [0, 1, 0], [0, 0.1, 0.9], [0, 0, 1], [1, 0, 0], [0, 0, 1]]
    torch.testing.assert_close(label, torch.tensor(expected))


@settings(deadline=None, max_examples=60)
@given(BINS, LOWS, HIGHS, st.booleans(), st.lists(st.floats(-200, 200, width=32), min_size=1, max_size=5))
def test_labels_are_distributions_that_invert_exactly(num_bins, low, high, in_symlog, values):
    centers = bin_centers(num_bins, low, high, spaced_in_symlog=in_symlog)
    x = torch.tensor(values)
    label = dense(x, centers)
    torch.testing.assert_close(label.sum(-1), torch.ones(len(values)))
    assert (label >= 0).all()
    assert ((label > 0).sum(-1) <= 2).all()
    clipped = x.clamp(centers[0].item(), centers[-1].item())
    torch.testing.assert_close(label @ centers, clipped, rtol=1e-4, atol=1e-4)


@settings(deadline=None, max_examples=60)
@given(BINS, LOWS, HIGHS, st.floats(-60, 120, width=32))
def test_the_nearer_bin_weighs_more(num_bins, low, high, value):
    centers = bin_centers(num_bins, low, high, spaced_in_symlog=False)
    x = torch.tensor([value])
    lower, upper, weight = two_hot(x, centers)
    assert (upper == lower + 1).all() and 0 <= lower < num_bins - 1
    to_lower, to_upper = (x - centers[lower]).abs(), (x - centers[upper]).abs()
    if (to_lower - to_upper).abs() > 1e-3 * (high - low):
        assert (to_lower < to_upper) == (1 - weight > weight)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.floats(-1e5, 1e5, width=32), min_size=1, max_size=8))
def test_symexp_inverts_symlog(values):
    x = torch.tensor(values, dtype=torch.float64)
    torch.testing.assert_close(symexp(symlog(x)), x, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(symlog(-x), -symlog(x))
    assert symlog(torch.tensor(math.e - 1)).item() == pytest.approx(1.0)


def test_bins_reach_from_limit_to_limit():
    plain = bin_centers(5, -2.0, 6.0, spaced_in_symlog=False)
    torch.testing.assert_close(plain, torch.tensor([-2.0, 0.0, 2.0, 4.0, 6.0]))
    logarithmic = bin_centers(64, -1.0, 60.0, spaced_in_symlog=True)
    torch.testing.assert_close(symexp(logarithmic[[0, -1]]), torch.tensor([-1.0, 60.0]))
    torch.testing.assert_close(logarithmic.diff(), logarithmic.diff()[:1].expand(63), rtol=1e-3, atol=0)


@settings(deadline=None, max_examples=40)
@given(BINS, st.integers(0, 1000), st.floats(0.1, 40))
def test_the_expectation_is_that_of_the_softmax(num_bins, seed, scale):
    logits = scale * torch.randn(4, 3, num_bins, generator=torch.Generator().manual_seed(seed))
    centers = bin_centers(num_bins, -1.0, 60.0, spaced_in_symlog=True)
    torch.testing.assert_close(expectation(logits, centers), logits.softmax(-1) @ centers, rtol=1e-4, atol=1e-5)


def test_autocast_does_not_blur_the_expectation():
    logits = 3 * torch.randn(100, 16)
    centers = bin_centers(16, -1.0, 60.0, spaced_in_symlog=True)
    exact = expectation(logits, centers)
    with torch.autocast("cpu", torch.bfloat16):
        torch.testing.assert_close(expectation(logits, centers), exact)


def test_not_a_number_stays_not_a_number():
    """So that a diverged target shows in the loss instead of failing as an index."""
    lower, upper, weight = two_hot(torch.tensor([math.nan, 0.5]), torch.tensor([0.0, 1.0, 2.0]))
    assert 0 <= lower[0] < upper[0] <= 2
    assert weight.isnan().tolist() == [True, False]
