"""What can be said of scores: aggregates, their intervals, comparisons (Agarwal et al. 2021, arXiv 2108.13264).

A score array is (runs, tasks): one training run per row, one task per column. Aggregates take any leading axes too,
(..., runs, tasks), so that all resamples of a bootstrap are computed at once. Intervals are 95 %; those of aggregates
come from the stratified percentile bootstrap: within each task the runs are drawn anew. Knows no reports, no files.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import sqrt
from statistics import NormalDist

import numpy as np

LEVEL = 0.95
RESAMPLES = 2000
_CELLS_AT_ONCE = 2_000_000  # numbers held by one portion of the resamples

Interval = tuple[float, float]
Statistic = Callable[..., np.ndarray]
"""Arrays (C, runs, tasks) to a figure (C,), or several (C, K), of each of C resamples."""


@dataclass(frozen=True)
class Estimate:
    """A figure with its interval; None where there is a single run, which tells nothing about other runs."""

    value: float
    interval: Interval | None


@dataclass(frozen=True, eq=False)
class Profile:
    """Share of scores above each threshold, (K,) each; the band is NaN where there is a single run."""

    thresholds: np.ndarray
    share: np.ndarray
    low: np.ndarray
    high: np.ndarray


def iqm(scores: np.ndarray) -> np.ndarray:
    """Interquartile mean: of all scores together, the lowest and the highest quarter (rounded down) left out."""
    flat = np.sort(scores.reshape(*scores.shape[:-2], -1), axis=-1)
    cut = flat.shape[-1] // 4
    return flat[..., cut : flat.shape[-1] - cut].mean(axis=-1)


def mean(scores: np.ndarray) -> np.ndarray:
    """Mean of all scores."""
    return scores.mean(axis=(-2, -1))


def median(scores: np.ndarray) -> np.ndarray:
    """Median over tasks of the mean over runs."""
    return np.median(scores.mean(axis=-2), axis=-1)


def optimality_gap(scores: np.ndarray, optimum: float = 1.0) -> np.ndarray:
    """By how much scores fall short of `optimum` on average; what exceeds it makes up for nothing."""
    return optimum - np.minimum(scores, optimum).mean(axis=(-2, -1))


def improvement(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Chance that a run of `x` beats one of `y` on a task, a tie counting half: the mean over tasks of Mann-Whitney's U
    over its greatest value. `x` (..., runs, tasks), `y` (..., other runs, tasks).
    """
    tasks = range(x.shape[-1])
    signs = [np.sign(x[..., :, None, task] - y[..., None, :, task]).mean(axis=(-2, -1)) for task in tasks]
    return 0.5 + 0.5 * np.mean(signs, axis=0)


def probability_of_improvement(x: np.ndarray, y: np.ndarray, *, seed: int = 0) -> Estimate:
    """`improvement` of scores `x` (runs, tasks) over `y` (other runs, the same tasks) with its interval.

    ValueError as for `stratified_bootstrap`.
    """
    return stratified_bootstrap(improvement, x, y, seed=seed)


def stratified_bootstrap(
    statistic: Statistic, *scores: np.ndarray, seed: int = 0, resample_tasks: bool = False
) -> Estimate:
    """`statistic` of one or several score arrays with its percentile interval, the same for the same seed.

    Runs are drawn independently in every task and every array. `resample_tasks` draws the tasks too, the same ones for
    all arrays: an interval for tasks like these rather than for these tasks.

    ValueError unless every array is two-dimensional, not empty and finite, and all have the same tasks.
    """
    arrays = _checked(scores)
    value = float(statistic(*(array[None] for array in arrays))[0])
    if min(len(array) for array in arrays) < 2:
        return Estimate(value, None)
    low, high = _percentiles(_resampled(statistic, arrays, seed, resample_tasks))
    return Estimate(value, (float(low), float(high)))


def performance_profile(
    scores: np.ndarray, thresholds: Sequence[float] | np.ndarray, *, average_runs: bool = False, seed: int = 0
) -> Profile:
    """Share of runs and tasks whose score exceeds each of `thresholds` (K,), with a pointwise band.

    `average_runs` asks instead for the share of tasks whose mean over runs does. ValueError as for
    `stratified_bootstrap`.
    """
    (array,) = _checked([scores])
    taus = np.asarray(thresholds, np.float64)
    statistic = partial(_shares_above, thresholds=taus, average_runs=average_runs)
    share = statistic(array[None])[0]
    if len(array) < 2:
        unknown = np.full(len(taus), np.nan)
        return Profile(taus, share, unknown, unknown)
    low, high = _percentiles(_resampled(statistic, [array], seed, resample_tasks=False))
    return Profile(taus, share, low, high)


def mean_estimate(values: Sequence[float] | np.ndarray, *, seed: int = 0) -> Estimate:
    """Mean of `values` (n,) with its bootstrap interval; ValueError without a value."""
    return stratified_bootstrap(mean, np.asarray(values, np.float64).reshape(-1, 1), seed=seed)


def estimate_of_groups(statistic: Statistic, groups: Sequence[np.ndarray], *, seed: int = 0) -> Estimate:
    """`statistic` of the mean of each group, as of the tasks of one run; for the interval the values (n_i,) of each
    group are drawn anew: it is over them, not over runs. None where a group has a single value.

    ValueError without a group or with an empty one.
    """
    if not groups or min(len(values) for values in groups) == 0:
        raise ValueError("a figure of groups needs a value in each of them")
    means = np.array([np.mean(values) for values in groups])
    value = float(statistic(means[None, None])[0])
    if min(len(values) for values in groups) < 2:
        return Estimate(value, None)
    rng = np.random.default_rng(seed)
    drawn = [values[rng.integers(len(values), size=(RESAMPLES, len(values)))].mean(axis=1) for values in groups]
    low, high = _percentiles(statistic(np.stack(drawn, axis=1)[:, None]))
    return Estimate(value, (float(low), float(high)))


def paired_difference(
    first: Sequence[float] | np.ndarray, second: Sequence[float] | np.ndarray, *, seed: int = 0
) -> Estimate:
    """Mean of `first` minus `second`, both (n,) in the same order of pairs; pairs are drawn for the interval.

    ValueError when their lengths differ or are 0.
    """
    a, b = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if a.shape != b.shape:
        raise ValueError(f"pairs need as many first values as second ones, not {a.shape} and {b.shape}")
    return mean_estimate(a - b, seed=seed)


def wilson(successes: int, trials: int) -> Interval | None:
    """Score interval of a binomial rate (Wilson 1927); None without a trial."""
    if trials == 0:
        return None
    z = NormalDist().inv_cdf((1 + LEVEL) / 2)
    rate, spread = successes / trials, z * z / trials
    centre = rate + spread / 2
    half = z * sqrt(rate * (1 - rate) / trials + spread / (4 * trials))
    return max((centre - half) / (1 + spread), 0.0), min((centre + half) / (1 + spread), 1.0)


def _checked(scores: Sequence[np.ndarray]) -> list[np.ndarray]:
    arrays = [np.asarray(array, np.float64) for array in scores]
    for array in arrays:
        if array.ndim != 2 or array.size == 0:
            raise ValueError(f"scores need the shape (runs, tasks), at least one of each, not {array.shape}")
        if not np.isfinite(array).all():
            raise ValueError("scores must be finite")
    if len({array.shape[1] for array in arrays}) != 1:
        raise ValueError("scores that are compared need the same tasks")
    return arrays


def _resampled(statistic: Statistic, arrays: list[np.ndarray], seed: int, resample_tasks: bool) -> np.ndarray:
    """The figures (RESAMPLES, ...) of all resamples, computed in portions that fit into bounded memory."""
    rng = np.random.default_rng(seed)
    tasks = arrays[0].shape[1]
    cells = max(sum(array.size for array in arrays), int(np.prod([len(array) for array in arrays])))
    portion = max(1, _CELLS_AT_ONCE // cells)
    figures = []
    for begin in range(0, RESAMPLES, portion):
        count = min(portion, RESAMPLES - begin)
        columns = rng.integers(tasks, size=(count, 1, tasks)) if resample_tasks else np.arange(tasks)
        rows = [rng.integers(len(array), size=(count, *array.shape)) for array in arrays]
        figures.append(statistic(*(array[row, columns] for array, row in zip(arrays, rows, strict=True))))
    return np.concatenate(figures)


def _percentiles(figures: np.ndarray) -> np.ndarray:
    """Lower and upper bound (2, ...) of figures (RESAMPLES, ...)."""
    return np.quantile(figures, ((1 - LEVEL) / 2, (1 + LEVEL) / 2), axis=0)


def _shares_above(scores: np.ndarray, *, thresholds: np.ndarray, average_runs: bool) -> np.ndarray:
    """(C, runs, tasks) to (C, K)."""
    judged = scores.mean(axis=-2, keepdims=True) if average_runs else scores
    return np.stack([(judged > threshold).mean(axis=(-2, -1)) for threshold in thresholds], axis=-1)
