"""The charts of the page Training: curves of several runs over a named axis. Pure: numbers in, a chart out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np
import pandas as pd

from dashboard.curves import Band, Curve, thin
from dashboard.theme import AnyChart, run_legend, run_scale, top_title, value_scale

HEIGHT = 310
FEW_POINTS = 2  # of a curve, which no line would show


@dataclass(frozen=True, eq=False)
class RunCurve:
    """A run on a chart: what was measured, drawn faint, and the smoothed curve above it."""

    run: str
    raw: Curve
    smoothed: Curve


def curve_chart(
    curves: Sequence[RunCurve],
    bands: Mapping[str, Band],
    colours: Mapping[str, str],
    *,
    x_title: str,
    y_title: str,
    log: bool = False,
    raw: bool = True,
) -> AnyChart:
    """Curves of runs, and bands of groups of runs under the name of the run that gives the colour."""
    x = alt.X("x:Q", title=x_title, axis=alt.Axis(format="~s", tickCount=6), scale=alt.Scale(nice=False, zero=False))
    y_scale = value_scale(_values(curves, bands), log=log)
    colour = alt.Color("run:N", scale=run_scale(dict(colours)), legend=run_legend(len(colours)))
    y = alt.Y("y:Q", axis=top_title(y_title), scale=y_scale)
    layers: list[alt.Chart] = []
    if bands:
        low = alt.Y("low:Q", axis=top_title(y_title), scale=y_scale)
        area = alt.Chart(_band_rows(bands)).mark_area(opacity=0.18, clip=True)
        layers.append(area.encode(x=x, y=low, y2="high:Q", color=colour))
    if raw and curves:
        faint = alt.Chart(_rows({each.run: each.raw for each in curves})).mark_line(opacity=0.22, strokeWidth=1)
        layers.append(faint.encode(x=x, y=y, color=colour))
    lines = {each.run: each.smoothed for each in curves} | {
        run: Curve(each.x, each.mean) for run, each in bands.items()
    }
    short = all(len(each.x) <= FEW_POINTS for each in lines.values())
    layers += _lines_with_tooltip(alt.Chart(_rows(lines)).encode(x=x, y=y, color=colour), x_title, y_title, short)
    return alt.layer(*layers).properties(height=HEIGHT).add_params(_pan_and_zoom())


def _lines_with_tooltip(base: alt.Chart, x_title: str, y_title: str, short: bool) -> list[alt.Chart]:
    hover = alt.selection_point(nearest=True, on="pointerover", clear="pointerout", empty=False, encodings=["x"])
    tooltip = [
        alt.Tooltip("run:N", title="run"),
        alt.Tooltip("x:Q", title=x_title, format=",.6~g"),
        alt.Tooltip("y:Q", title=y_title, format=".4~g"),
    ]
    points = base.mark_point(size=45, filled=True).encode(
        opacity=alt.condition(hover, alt.value(1), alt.value(0)), tooltip=tooltip
    )
    return [base.mark_line(strokeWidth=2, point=short), points.add_params(hover)]


def _pan_and_zoom() -> alt.Parameter:
    """Drag to move, wheel with Shift to zoom: the wheel alone must go on scrolling the page."""
    return alt.selection_interval(bind="scales", encodings=["x"], zoom="wheel![event.shiftKey]")


def _values(curves: Sequence[RunCurve], bands: Mapping[str, Band]) -> np.ndarray:
    """Everything that is drawn, (N,)."""
    drawn = [values for each in curves for values in (each.raw.y, each.smoothed.y)]
    drawn += [values for each in bands.values() for values in (each.low, each.high)]
    return np.concatenate([np.empty(0), *drawn])


def _rows(curves: Mapping[str, Curve]) -> pd.DataFrame:
    thinned = {run: thin(each) for run, each in curves.items()}
    parts = [pd.DataFrame({"run": run, "x": each.x, "y": each.y}) for run, each in thinned.items()]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame({"run": [], "x": [], "y": []})


def _band_rows(bands: Mapping[str, Band]) -> pd.DataFrame:
    parts = [pd.DataFrame({"run": run, "x": each.x, "low": each.low, "high": each.high}) for run, each in bands.items()]
    return pd.concat(parts, ignore_index=True)
