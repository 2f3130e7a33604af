"""Charts and sparklines against drawings made by hand."""

import numpy as np

from amago_cli.tui.chart import downsample, line_chart, sparkline
from amago_cli.tui.text import bar, clean, compact, fitted, percent


def test_a_rising_line_in_one_braille_row():
    chart = line_chart(np.arange(4), np.arange(4), 2, 1)
    assert chart is not None
    assert chart.rows == ("⡠⠊",)  # dots from bottom left to top right, one row of dots per column
    assert (chart.low, chart.high, chart.left, chart.right) == (0, 3, 0, 3)


def test_plain_charts_are_ascii():
    chart = line_chart(np.arange(3), np.array([0.0, 1.0, 2.0]), 3, 3, plain=True)
    assert chart is not None
    assert chart.rows == ("  *", " * ", "*  ")


def test_a_flat_line_runs_through_the_middle():
    chart = line_chart(np.arange(5), np.full(5, 7.0), 3, 3, plain=True)
    assert chart is not None
    assert chart.rows == ("   ", "***", "   ")


def test_values_that_are_not_finite_are_left_out():
    values = np.array([np.nan, 1.0, np.inf, 2.0, -np.inf])
    chart = line_chart(np.arange(5), values, 10, 4)
    assert chart is not None
    assert (chart.low, chart.high, chart.left, chart.right) == (1, 2, 1, 3)
    assert line_chart(np.arange(2), np.array([np.nan, np.inf]), 10, 4) is None
    assert line_chart(np.arange(0), np.zeros(0), 10, 4) is None
    assert line_chart(np.arange(2), np.arange(2), 0, 4) is None


def test_extreme_values_do_not_overflow():
    chart = line_chart(np.arange(3), np.array([-1.7e308, 0.0, 1.7e308]), 3, 3, plain=True)
    assert chart is not None
    assert chart.rows == ("  *", " * ", "*  ")


def test_downsampling_keeps_every_spike():
    values = np.zeros(10_000)
    values[5_003] = 9.0
    columns = downsample(np.arange(10_000), values, 20)
    assert len(columns.place) == 20
    assert columns.high.max() == 9.0
    assert columns.low.max() == 0.0


def test_one_point_is_a_chart():
    chart = line_chart(np.array([3]), np.array([0.5]), 4, 1)
    assert chart is not None
    assert chart.rows[0][0] != "⠀"


def test_sparkline():
    assert sparkline(np.array([0.0, np.nan, 7.0]), 10) == "▁█"
    assert sparkline(np.arange(8.0), 8) == "▁▂▃▄▅▆▇█"
    assert sparkline(np.arange(8.0), 2, plain=True) == "_#"
    assert sparkline(np.array([np.nan]), 5) == ""
    assert sparkline(np.full(3, 2.0), 3) == "▁▁▁"


def test_short_texts():
    assert bar(0.5, 4) == "██  "
    assert bar(0.5625, 2) == "█▏"
    assert bar(2.0, 3) == "███"
    assert bar(0.5, 4, plain=True) == "##.."
    assert [compact(value) for value in (0.01234, 41_216, -3.0, 2e9)] == ["0.0123", "41.2k", "-3", "2G"]
    assert compact(float("nan")) == "nan"
    assert percent(0.034) == "  3 %"
    assert fitted("abcdef", 4) == "abc…"
    assert (fitted("ab", 4), fitted("ab", 0)) == ("ab  ", "")
    assert clean("a\x1b[31mb\nc") == "a [31mb c"
