"""Smoothing, thinning and bands, with numbers worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from dashboard.curves import MAX_POINTS, Curve, band, curve, smooth, thin
from store.metrics import Series


def series(values: list[float]) -> Series:
    steps = 100 * np.arange(1, len(values) + 1)
    return Series(step=steps, update=steps // 10, time=1e9 + 36.0 * steps, value=np.array(values, np.float64))


def test_smoothing_is_an_exponential_average_corrected_for_its_start() -> None:
    # Weight 0.5 on 1, 3, 5: 0.5/0.5, (0.25 + 1.5)/0.75, (0.125 + 0.75 + 2.5)/0.875.
    np.testing.assert_allclose(smooth(np.array([1.0, 3.0, 5.0]), 0.5), [1.0, 7 / 3, 27 / 7])


def test_a_constant_stays_itself_however_strong_the_smoothing() -> None:
    np.testing.assert_allclose(smooth(np.full(50, 0.3), 0.99), 0.3)


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_leave_the_average_alone(odd: float) -> None:
    np.testing.assert_allclose(smooth(np.array([odd, 1.0, odd, 3.0]), 0.5), [np.nan, 1.0, 1.0, 7 / 3])


def test_a_curve_has_finite_points_only() -> None:
    found = curve(series([1.0, np.nan, np.inf, 4.0]), "environment steps", 0.5)
    assert found.x.tolist() == [100, 400]


def test_hours_count_from_the_first_value() -> None:
    assert curve(series([1.0, 2.0]), "hours").x.tolist() == [0.0, 1.0]


def test_a_logarithmic_curve_has_positive_points_only() -> None:
    assert curve(series([0.0, -1.0, 2.0]), "updates", positive=True).x.tolist() == [30]


def test_thinning_keeps_the_spikes_and_both_ends() -> None:
    y = np.zeros(100_000)
    y[31_234], y[77_777] = 9.0, -9.0
    found = thin(Curve(np.arange(100_000.0), y))
    assert len(found.x) <= MAX_POINTS
    assert (found.y.max(), found.y.min()) == (9.0, -9.0)
    assert (found.x[0], found.x[-1]) == (0.0, 99_999.0)
    assert (np.diff(found.x) > 0).all()


def test_a_short_curve_is_not_thinned() -> None:
    whole = Curve(np.arange(10.0), np.arange(10.0))
    assert thin(whole) is whole


def test_a_band_covers_what_all_curves_cover() -> None:
    first = Curve(np.array([0.0, 10.0]), np.array([0.0, 10.0]))
    second = Curve(np.array([5.0, 20.0]), np.array([7.0, 22.0]))
    found = band([first, second])
    assert found is not None
    assert (found.x[0], found.x[-1]) == (5.0, 10.0)
    np.testing.assert_allclose([found.low[0], found.mean[0], found.high[0]], [5.0, 6.0, 7.0])


def test_curves_that_never_meet_have_no_band() -> None:
    assert band([Curve(np.array([0.0]), np.array([0.0])), Curve(np.array([5.0]), np.array([0.0]))]) is None
    assert band([]) is None
