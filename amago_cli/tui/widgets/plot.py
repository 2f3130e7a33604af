"""The chosen metrics over environment steps, a small chart each with a scale of its own; and two sparklines."""

from __future__ import annotations

from typing import Any

import numpy as np
from textual.content import Content

from amago_cli.tui.chart import line_chart, sparkline
from amago_cli.tui.snapshot import Snapshot
from amago_cli.tui.text import compact, fitted
from amago_cli.tui.widgets.panel import Panel
from store.metrics import Series

RETURN, LOSS = "rollout/return", "train/critic_loss"
PREFERRED = ("rollout/wanted_success", "rollout/success", "rollout/normalised", RETURN, LOSS)
DEFAULT_COUNT = 3  # metrics shown before anybody picks some

_SCALE = 8  # characters beside a chart
_LEAST_HEIGHT = 6  # lines of a chart with its name and its axis
_LEAST_WIDTH = 36
_WINDOWS = 20  # a running mean spans this part of a curve
_LONGEST_WINDOW = 100  # values


class Plot(Panel):
    """As many charts as were chosen and fit."""

    TITLE = "metrics over steps"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._chosen: tuple[str, ...] = ()

    def choose(self, metrics: tuple[str, ...]) -> None:
        """Show these from now on; those of the beginning when none."""
        self._chosen = metrics
        self.refresh()

    def chosen(self, metrics: dict[str, Series]) -> tuple[str, ...]:
        """The metrics that are shown."""
        if self._chosen:
            return self._chosen
        return tuple(dict.fromkeys(key for key in (*PREFERRED, *metrics) if key in metrics))[:DEFAULT_COUNT]

    def pick(self, snapshot: Snapshot) -> Any:
        return (snapshot.metrics,)

    def render(self) -> Content:
        metrics = self.shown[0] if self.shown else {}
        keys = self.chosen(metrics)
        if not keys:
            return Content("no data yet")
        width, height = self.size
        columns = min(len(keys), max(width // _LEAST_WIDTH, 1)) if height < 2 * _LEAST_HEIGHT else 1
        rows = min(-(-len(keys) // columns), max(height // _LEAST_HEIGHT, 1))
        fitting = keys[: rows * columns]
        left_out = len(keys) - len(fitting)
        self.border_subtitle = f"{left_out} more where there is room" if left_out else ""
        blocks = [
            chart_lines(key, metrics.get(key), width // columns - (columns > 1), height // rows, self.plain)
            for key in fitting
        ]
        lines = [
            Content(" ").join(parts)
            for first in range(0, len(blocks), columns)
            for parts in zip(*blocks[first : first + columns], strict=True)
        ]
        return Content("\n").join(lines)


class Sparks(Panel):
    """Return and loss in a line each, all of the run."""

    TITLE = "return and loss"

    def pick(self, snapshot: Snapshot) -> Any:
        return snapshot.metrics.get(RETURN), snapshot.metrics.get(LOSS)

    def render(self) -> Content:
        pairs = zip(("return", "loss"), self.shown or (None, None), strict=True)
        return Content("\n").join([self._line(name, series) for name, series in pairs])

    def _line(self, name: str, series: Series | None) -> Content:
        if series is None or not len(series):
            return Content(f"{name:<7}no data")
        value = compact(float(series.value[-1]))
        room = max(self.size.width - 7 - _SCALE, 0)
        line = sparkline(series.value, room, plain=self.plain).ljust(room)
        return Content.assemble(f"{name:<7}", (line, "$text-accent"), f" {value:>7}")


def chart_lines(name: str, series: Series | None, width: int, height: int, plain: bool) -> list[Content]:
    """`height` lines of `width` characters: name and newest value, the chart with its scale, the axis."""
    if series is None or not len(series):
        return _filled([Content(fitted(f"{name}: no data", width))], width, height)
    values, window = smoothed(name, series.value)
    heading = Content.assemble((fitted(name, width - 9), "bold"), f" {compact(float(values[-1])):>8}")
    chart = line_chart(series.step, values, width - _SCALE, height - 2, plain=plain)
    if chart is None:
        return _filled([heading, Content(fitted("no finite value", width))], width, height)
    scale = {0: compact(chart.high), len(chart.rows) - 1: compact(chart.low)}
    rows = [
        Content.assemble((f"{scale.get(number, ''):>{_SCALE - 1}} ", "$text-muted"), (row, "$text-accent"))
        for number, row in enumerate(chart.rows)
    ]
    mean = f", each a mean of {window}" if window > 1 else ""
    left, right = compact(chart.left), f"{compact(chart.right)} steps{mean}"
    axis = left + right.rjust(width - _SCALE - len(left))
    return [heading, *rows, Content.styled(" " * _SCALE + axis[: width - _SCALE], "$text-muted")]


def smoothed(name: str, values: np.ndarray) -> tuple[np.ndarray, int]:
    """Rollouts are so few per cycle that only their running mean tells anything; and over how many values it runs."""
    finite = np.isfinite(values)
    window = min(max(len(values) // _WINDOWS, 1), _LONGEST_WINDOW) if name.startswith("rollout/") else 1
    if window == 1 or not finite.all():
        return values, 1
    sums = np.cumsum(np.insert(values, 0, 0.0))
    last = np.arange(1, len(values) + 1)
    first = np.maximum(last - window, 0)
    return (sums[last] - sums[first]) / (last - first), window


def _filled(lines: list[Content], width: int, height: int) -> list[Content]:
    return [*lines, *[Content(" " * width)] * (height - len(lines))][:height]
