"""Small drawings of figures with their intervals, as SVG to be put into a page.

Colours are classes that the page's style gives. Knows numbers and words, no report.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agent.reports.markup import Markup, tag
from agent.reports.statistics import Interval

_BAR_WIDTH, _BAR_HEIGHT = 180, 11
_CHART_WIDTH, _CHART_HEIGHT, _LEFT, _BOTTOM, _TOP, _RIGHT = 620, 240, 52, 40, 12, 16
_INNER_WIDTH, _INNER_HEIGHT = _CHART_WIDTH - _LEFT - _RIGHT, _CHART_HEIGHT - _TOP - _BOTTOM
_MOST_NUMBERS = 20  # along the x axis


@dataclass(frozen=True)
class Mark:
    """A figure to draw: its class in the style ("agent", "random"), its words, its value if there is one."""

    kind: str
    text: str
    value: float | None
    interval: Interval | None


def rate_bars(marks: Sequence[Mark]) -> Markup:
    """Rates from 0 to 1 as bars below each other, their intervals as whiskers."""
    rows = [_bar(mark, row * _BAR_HEIGHT) for row, mark in enumerate(marks)]
    height = _BAR_HEIGHT * len(marks)
    words = "; ".join(mark.text for mark in marks)
    return tag(
        "svg", *rows, viewBox=f"0 0 {_BAR_WIDTH} {height}", width=_BAR_WIDTH, height=height, role="img",
        aria_label=words, class_="bars",
    )  # fmt: skip


def _bar(mark: Mark, y: int) -> Markup:
    middle = y + _BAR_HEIGHT / 2
    track = tag("rect", x=0, y=y + 2, width=_BAR_WIDTH, height=_BAR_HEIGHT - 4, class_="track")
    if mark.value is None:
        return tag("g", tag("title", mark.text), track)
    filled = tag("rect", x=0, y=y + 2, width=_BAR_WIDTH * mark.value, height=_BAR_HEIGHT - 4, class_=mark.kind)
    whisker = None
    if mark.interval:
        low, high = (_BAR_WIDTH * bound for bound in mark.interval)
        whisker = tag("line", x1=low, x2=high, y1=middle, y2=middle, class_="whisker")
    return tag("g", tag("title", mark.text), track, filled, whisker)


@dataclass(frozen=True)
class Line:
    """Figures in order, the first at 1 on the x axis."""

    kind: str
    marks: Sequence[Mark]


def line_chart(lines: Sequence[Line], *, x_label: str, y_label: str, unit_interval: bool) -> Markup:
    """Lines with whiskers over 1, 2, 3 ...; from 0 to 1 if `unit_interval`, else over the range of the figures."""
    axes = _Axes(*((0.0, 1.0) if unit_interval else _range(lines)), max(len(line.marks) for line in lines))
    shifts = [5.0 * (k - (len(lines) - 1) / 2) for k in range(len(lines))]
    return tag(
        "svg",
        *_frame(axes, x_label, y_label, unit_interval),
        *(_line(line, axes, shift) for line, shift in zip(lines, shifts, strict=True)),
        viewBox=f"0 0 {_CHART_WIDTH} {_CHART_HEIGHT}",
        role="img",
        aria_label=f"{y_label} over {x_label}",
        class_="chart",
    )


@dataclass(frozen=True)
class _Axes:
    """Where numbers and values lie in the drawing."""

    low: float
    high: float
    count: int

    def x(self, number: int) -> float:
        return _LEFT + _INNER_WIDTH * (number - 0.5) / self.count

    def y(self, value: float) -> float:
        return _TOP + _INNER_HEIGHT * (self.high - value) / (self.high - self.low)


def _frame(axes: _Axes, x_label: str, y_label: str, percent: bool) -> list[Markup]:
    """Grid, numbers along both axes, and what they are."""
    values = [axes.low + (axes.high - axes.low) * k / 4 for k in range(5)]
    numbers = range(1, axes.count + 1, -(-axes.count // _MOST_NUMBERS))
    middle = f"translate(11 {_TOP + _INNER_HEIGHT / 2}) rotate(-90)"
    return [
        *(tag("line", x1=_LEFT, x2=_CHART_WIDTH - _RIGHT, y1=axes.y(v), y2=axes.y(v), class_="grid") for v in values),
        *(_text(f"{100 * v:.0f} %" if percent else f"{v:.3g}", _LEFT - 6, axes.y(v) + 4, "end") for v in values),
        *(_text(str(k), axes.x(k), _CHART_HEIGHT - _BOTTOM + 16) for k in numbers),
        _text(x_label, _LEFT + _INNER_WIDTH / 2, _CHART_HEIGHT - 6),
        tag("text", y_label, text_anchor="middle", transform=middle),
    ]


def _text(words: str, x: float, y: float, anchor: str = "middle") -> Markup:
    return tag("text", words, x=x, y=y, text_anchor=anchor)


def _line(line: Line, axes: _Axes, shift: float) -> Markup:
    """The figures that are there, joined; `shift` keeps the whiskers of several lines apart."""
    known = [(axes.x(k) + shift, mark, mark.value) for k, mark in enumerate(line.marks, 1) if mark.value is not None]
    corners = " ".join(f"{x:.1f},{axes.y(value):.1f}" for x, _, value in known)
    points = (_point(x, value, mark, axes) for x, mark, value in known)
    return tag("g", tag("polyline", points=corners, class_=f"stroke {line.kind}"), *points)


def _point(x: float, value: float, mark: Mark, axes: _Axes) -> Markup:
    low, high = mark.interval or (value, value)
    return tag(
        "g",
        tag("title", mark.text),
        tag("line", x1=x, x2=x, y1=axes.y(low), y2=axes.y(high), class_=f"stroke {mark.kind}"),
        tag("circle", cx=x, cy=axes.y(value), r=3.5, class_=mark.kind),
    )


def _range(lines: Sequence[Line]) -> Interval:
    """From the lowest to the highest figure, intervals included; never empty."""
    figures = [value for line in lines for mark in line.marks for value in (mark.value, *(mark.interval or ()))]
    known = [value for value in figures if value is not None] or [0.0]
    low, high = min(known), max(known)
    return (low, high) if high > low else (low - 0.5, high + 0.5)
