"""Aggregates and intervals against hand-made figures, naive loops, scipy, and the figures of rliable's own tests."""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import binomtest, bootstrap, mannwhitneyu, trim_mean

from agent.reports import statistics
from agent.reports.statistics import (
    RESAMPLES,
    improvement,
    iqm,
    mean,
    mean_estimate,
    median,
    optimality_gap,
    paired_difference,
    performance_profile,
    probability_of_improvement,
    stratified_bootstrap,
    wilson,
)

AGGREGATES = [iqm, mean, median]
FOUR_RUNS = np.array([[1.0, 2], [2, 2], [1, 1], [2, 1]])
THREE_RUNS = np.array([[1.0, 1], [2, 2], [3, 3]])

grids = arrays(
    np.float64,
    st.tuples(st.integers(1, 6), st.integers(1, 5)),
    elements=st.floats(-100, 100, allow_nan=False, width=32),
)


def test_figures_published_with_rliable() -> None:
    assert [float(aggregate(FOUR_RUNS)) for aggregate in AGGREGATES] == [1.5, 1.5, 1.5]
    assert [float(aggregate(THREE_RUNS)) for aggregate in AGGREGATES] == [2, 2, 2]
    assert improvement(FOUR_RUNS, THREE_RUNS) == pytest.approx(1 / 3)


def test_iqm_by_hand() -> None:
    scores = np.array([[9.0, 1, 100], [2, 4, -50]])
    assert iqm(scores) == pytest.approx((1 + 2 + 4 + 9) / 4)  # of six, one at each end is left out


def test_median_is_over_tasks_of_means_over_runs() -> None:
    assert median(np.array([[0.0, 10, 3], [2, 0, 3]])) == 3  # task means 1, 5, 3


def test_what_exceeds_the_optimum_makes_up_for_nothing() -> None:
    assert optimality_gap(np.array([[5.0, 0.5], [0, 1]])) == pytest.approx((0 + 0.5 + 1 + 0) / 4)
    assert optimality_gap(np.array([[5.0]]), optimum=10) == 5


@given(grids)
def test_iqm_agrees_with_scipy(scores: np.ndarray) -> None:
    assert iqm(scores) == pytest.approx(trim_mean(scores.ravel(), 0.25), abs=1e-9)


@given(grids, st.randoms(use_true_random=False))
def test_order_of_runs_and_tasks_does_not_matter(scores: np.ndarray, random: object) -> None:
    rng = np.random.default_rng(random.getrandbits(32))  # type: ignore[attr-defined]
    shuffled = rng.permutation(rng.permutation(scores, axis=0), axis=1)
    for aggregate in (*AGGREGATES, optimality_gap):
        assert aggregate(shuffled) == pytest.approx(aggregate(scores), abs=1e-9)
    assert improvement(shuffled, shuffled) == pytest.approx(0.5)


@given(grids, st.floats(0.1, 10), st.floats(-10, 10))
def test_aggregates_lie_between_the_extremes_and_follow_scale_and_shift(
    scores: np.ndarray, scale: float, shift: float
) -> None:
    for aggregate in AGGREGATES:
        value = float(aggregate(scores))
        assert scores.min() - 1e-9 <= value <= scores.max() + 1e-9
        assert aggregate(scale * scores + shift) == pytest.approx(scale * value + shift, abs=1e-6)


@given(grids, st.integers(0, 2**32 - 1))
def test_improvement_agrees_with_loops_and_scipy(x: np.ndarray, seed: int) -> None:
    x = np.round(x)  # so that there are ties
    y = np.random.default_rng(seed).integers(-3, 4, (3, x.shape[1])).astype(float)
    won = [[(a > b) + 0.5 * (a == b) for a, b in product(x[:, task], y[:, task])] for task in range(x.shape[1])]
    assert improvement(x, y) == pytest.approx(np.mean(won))
    assert improvement(y, x) == pytest.approx(1 - improvement(x, y))
    u = [mannwhitneyu(x[:, task], y[:, task], method="asymptotic").statistic for task in range(x.shape[1])]
    assert improvement(x, y) == pytest.approx(np.mean(u) / (len(x) * len(y)))


def test_aggregates_take_leading_axes() -> None:
    stacked = np.random.default_rng(0).normal(size=(7, 4, 3))
    for aggregate in (*AGGREGATES, optimality_gap):
        assert aggregate(stacked) == pytest.approx([float(aggregate(each)) for each in stacked])


def test_the_bootstrap_agrees_with_scipy() -> None:
    values = np.random.default_rng(1).exponential(size=60)
    expected = bootstrap((values,), np.mean, method="percentile", rng=np.random.default_rng(2)).confidence_interval
    estimate = mean_estimate(values)
    assert estimate.value == pytest.approx(values.mean())
    assert estimate.interval == pytest.approx((expected.low, expected.high), abs=0.03)


def test_the_bootstrap_agrees_with_naive_loops() -> None:
    rng = np.random.default_rng(3)
    scores = rng.normal(size=(5, 4)) + 10 * np.arange(4)
    figures = []
    for _ in range(RESAMPLES):
        drawn = [[scores[rng.integers(5), task] for _ in range(5)] for task in range(4)]
        figures.append(trim_mean(np.ravel(drawn), 0.25))
    interval = stratified_bootstrap(iqm, scores).interval
    assert interval == pytest.approx(np.quantile(figures, (0.025, 0.975)), abs=0.08)


def test_runs_are_drawn_within_their_task() -> None:
    # Runs agree exactly, tasks differ: only drawing tasks can move the mean.
    scores = np.tile([0.0, 1.0], (6, 1))
    assert stratified_bootstrap(mean, scores).interval == (0.5, 0.5)
    assert stratified_bootstrap(mean, scores, resample_tasks=True).interval == (0.0, 1.0)


def test_drawn_tasks_are_the_same_for_all_arrays() -> None:
    scores = np.tile([0.0, 10.0, 20.0], (4, 1))
    shifted = scores + 1
    interval = stratified_bootstrap(lambda x, y: mean(y) - mean(x), scores, shifted, resample_tasks=True).interval
    assert interval == pytest.approx((1.0, 1.0))


def test_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    rng = np.random.default_rng(4)
    inside = 0
    for _ in range(200):
        low, high = mean_estimate(rng.normal(size=40)).interval or (1, 0)
        inside += low <= 0 <= high
    assert 0.88 <= inside / 200 <= 0.99


def test_one_seed_one_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = np.random.default_rng(5).normal(size=(4, 3))
    first = stratified_bootstrap(iqm, scores, seed=7)
    assert first == stratified_bootstrap(iqm, scores, seed=7)
    assert first != stratified_bootstrap(iqm, scores, seed=8)


def test_many_cells_are_resampled_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []

    def watched(resamples: np.ndarray) -> np.ndarray:
        sizes.append(resamples.size)
        return mean(resamples)

    monkeypatch.setattr(statistics, "_CELLS_AT_ONCE", 700)
    stratified_bootstrap(watched, np.zeros((10, 5)))
    assert max(sizes) == 700 and sum(sizes) == RESAMPLES * 50 + 50


def test_one_run_has_no_interval() -> None:
    assert stratified_bootstrap(iqm, np.array([[0.25, 0.75]])).interval is None
    assert probability_of_improvement(np.ones((1, 2)), np.zeros((5, 2))).interval is None
    profile = performance_profile(np.array([[0.25, 0.75]]), [0.5])
    assert profile.share == [0.5] and np.isnan(profile.low).all() and np.isnan(profile.high).all()


def test_probability_of_improvement_has_an_interval() -> None:
    estimate = probability_of_improvement(FOUR_RUNS, THREE_RUNS)
    low, high = estimate.interval or (1, 0)
    assert estimate.value == pytest.approx(1 / 3) and 0 <= low < 1 / 3 < high <= 1


def test_profiles_by_hand() -> None:
    scores = np.array([[0.0, 0.5], [1.0, 0.5]])
    assert performance_profile(scores, [-1, 0, 0.5, 1]).share.tolist() == [1, 0.75, 0.25, 0]
    averaged = performance_profile(np.array([[0.0, 0.9], [1.0, 0.9]]), [0.4, 0.5, 0.9], average_runs=True)
    assert averaged.share.tolist() == [1, 0.5, 0]


@settings(max_examples=20)
@given(grids)
def test_profiles_fall_and_stay_within_their_band(scores: np.ndarray) -> None:
    profile = performance_profile(scores, np.linspace(-101, 101, 9))
    assert (np.diff(profile.share) <= 0).all()
    assert profile.share[0] == 1 and profile.share[-1] == 0
    if len(scores) > 1:
        assert (profile.low <= profile.high).all()
        assert (profile.low >= 0).all() and (profile.high <= 1).all()


def test_pairs_are_kept_together() -> None:
    first = np.array([0.0, 10, 20, 30])
    estimate = paired_difference(first + 1, first)
    assert (estimate.value, estimate.interval) == (1.0, (1.0, 1.0))
    with pytest.raises(ValueError, match="as many first values as second"):
        paired_difference([1, 2], [1])


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [
        (5, 10, 0.236593, 0.763407),  # 0.5 -+ 1.96 sqrt(0.025 + 0.0096) / 1.384
        (0, 10, 0.0, 0.277533),  # z^2 / (n + z^2)
        (10, 10, 0.722467, 1.0),
        (1, 1, 0.206549, 1.0),  # 1 / (1 + z^2)
    ],
)
def test_wilson_by_hand(successes: int, trials: int, low: float, high: float) -> None:
    assert wilson(successes, trials) == pytest.approx((low, high), abs=1e-6)


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_agrees_with_scipy(counts: tuple[int, int]) -> None:
    expected = binomtest(*counts).proportion_ci(0.95, "wilson")
    assert wilson(*counts) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_no_trial_gives_no_interval() -> None:
    assert wilson(0, 0) is None


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ((np.zeros(3),), "shape"),
        ((np.zeros((0, 3)),), "at least one"),
        ((np.array([[1.0, np.nan]]),), "finite"),
        ((np.zeros((2, 3)), np.zeros((2, 4))), "same tasks"),
    ],
)
def test_scores_that_mean_nothing_are_refused(scores: tuple[np.ndarray, ...], message: str) -> None:
    statistic = improvement if len(scores) == 2 else partial(optimality_gap, optimum=1.0)
    with pytest.raises(ValueError, match=message):
        stratified_bootstrap(statistic, *scores)
