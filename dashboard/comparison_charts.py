"""The charts of the page Compare. Pure: tables and estimates in, charts out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import altair as alt
import pandas as pd

from agent.reports.statistics import Profile
from dashboard.theme import MISSED, REACHED, REFERENCE, RUN_COLOURS, AnyChart, run_scale

_ROW = 30  # pixels of a group in an interval plot
_AROUND = 90  # pixels that axis, title and legend take of the height of a chart


def aggregate_plots(table: pd.DataFrame, colours: Mapping[str, str], *, percent: bool) -> alt.HConcatChart:
    """An interval plot per aggregate, side by side; groups from top to bottom."""
    names = list(dict.fromkeys(table["aggregate"]))
    plots = [
        _intervals(rows, "group", colours, x_title=str(name), percent=percent, labels=name == names[0])
        for name, rows in table.groupby("aggregate", sort=False)
    ]
    width = max(150, 720 // len(names))
    return alt.hconcat(*(plot.properties(width=width, height=_ROW * len(colours) + 10) for plot in plots), spacing=18)


def task_plot(table: pd.DataFrame, colours: Mapping[str, str], *, x_title: str, percent: bool) -> AnyChart:
    """Every task with a row per group."""
    order = list(dict.fromkeys(table["task"]))
    chart = _intervals(table, "task", colours, x_title=x_title, percent=percent, order=order)
    return chart.properties(height=14 * max(len(order), 2) * (len(colours) + 0.6) + _AROUND)


def _intervals(
    table: pd.DataFrame,
    by: str,
    colours: Mapping[str, str],
    *,
    x_title: str,
    percent: bool,
    labels: bool = True,
    order: Sequence[str] | None = None,
) -> alt.LayerChart:
    form = ".0%" if percent else ".3g"
    axis = alt.Axis(format=form, tickCount=4)
    x = alt.X("value:Q", title=x_title, axis=axis, scale=alt.Scale(zero=False, nice=True))
    label = alt.Axis(labelLimit=430, title=None) if labels else alt.Axis(labels=False, ticks=False, title=None)
    y = alt.Y(f"{by}:N", sort=list(order or colours), axis=label)
    offset = [alt.YOffset("group:N", sort=list(colours))] if by != "group" else []
    alone = by == "group" or len(colours) == 1
    legend = None if alone else alt.Legend(title=None, orient="top", labelLimit=260, symbolOpacity=1)
    colour = alt.Color("group:N", scale=run_scale(dict(colours)), legend=legend)
    tooltip = [
        alt.Tooltip(f"{by}:N"),
        alt.Tooltip("group:N", title="runs"),
        alt.Tooltip("value:Q", title=x_title, format=form),
        alt.Tooltip("low:Q", title="95 % from", format=form),
        alt.Tooltip("high:Q", title="95 % to", format=form),
        *([alt.Tooltip("over:N", title="interval over")] if "over" in table else []),
    ]
    base = alt.Chart(table)
    known = base.transform_filter("isValid(datum.low)")
    rule = known.mark_rule(strokeWidth=5, opacity=0.4).encode(
        alt.X("low:Q", title=x_title, axis=axis, scale=alt.Scale(zero=False, nice=True)),
        alt.X2("high:Q"), y, colour, *offset, tooltip=tooltip,
    )  # fmt: skip
    point = base.mark_point(filled=True, size=70, opacity=1).encode(x, y, colour, *offset, tooltip=tooltip)
    return cast(alt.LayerChart, alt.layer(rule, point))


def profile_plot(
    profiles: Mapping[str, Profile], colours: Mapping[str, str], *, x_title: str, y_title: str, percent: bool
) -> AnyChart:
    """Share of scores above each threshold, with its band where there is one."""
    table = pd.concat(
        [
            pd.DataFrame(
                {
                    "group": name,
                    "threshold": profile.thresholds,
                    "share": profile.share,
                    "low": profile.low,
                    "high": profile.high,
                }
            )
            for name, profile in profiles.items()
        ],
        ignore_index=True,
    )
    base = alt.Chart(table)
    x = alt.X("threshold:Q", title=x_title, axis=alt.Axis(format=".0%" if percent else ".3g"))
    scale = alt.Scale(domain=[0, 1])
    colour = alt.Color(
        "group:N",
        scale=run_scale(dict(colours)),
        legend=alt.Legend(title=None, orient="top", labelLimit=260, symbolOpacity=1),
    )
    band = (
        base.transform_filter("isValid(datum.low)")
        .mark_area(opacity=0.22, interpolate="step-after")
        .encode(x, alt.Y("low:Q", title=y_title, scale=scale), alt.Y2("high:Q"), colour)
    )
    line = base.mark_line(interpolate="step-after", strokeWidth=2).encode(
        x,
        alt.Y("share:Q", title=y_title, scale=scale, axis=alt.Axis(format="%")),
        colour,
        tooltip=[
            alt.Tooltip("group:N", title="runs"),
            alt.Tooltip("threshold:Q", title=x_title, format=".2f"),
            alt.Tooltip("share:Q", title=y_title, format=".0%"),
        ],
    )
    return alt.layer(band, line).properties(height=300)


def improvement_matrix(table: pd.DataFrame, order: Sequence[str]) -> AnyChart:
    """Probability that a run of the row beats one of the column; columns first, second, value, text, interval."""
    base = alt.Chart(table).encode(
        alt.X(
            "second:N",
            title="probability that the row beats this column",
            sort=list(order),
            axis=alt.Axis(labelAngle=0, labelLimit=180),
        ),
        alt.Y("first:N", title=None, sort=list(order), axis=alt.Axis(labelLimit=260)),
        tooltip=[
            alt.Tooltip("first:N", title="runs"),
            alt.Tooltip("second:N", title="against"),
            alt.Tooltip("value:Q", title="probability", format=".0%"),
            alt.Tooltip("interval:N", title="95 %"),
        ],
    )
    cells = base.mark_rect(cornerRadius=3).encode(
        alt.Color(
            "value:Q",
            scale=alt.Scale(domain=[0, 0.5, 1], range=[MISSED, REFERENCE, REACHED]),
            legend=None,
        )
    )
    white = {"color": "white", "fontWeight": 600}
    figure = base.mark_text(fontSize=15, dy=-8, **white).encode(text="text:N")
    interval = base.mark_text(fontSize=11, dy=10, **white).encode(text="interval:N")
    return alt.layer(cells, figure, interval).properties(height=64 * len(order) + 40)


def difference_plot(table: pd.DataFrame, *, x_title: str, percent: bool) -> AnyChart:
    """Differences per task with intervals around the line of no difference."""
    order = list(table["task"])
    plot = _intervals(table, "task", {"difference": RUN_COLOURS[0]}, x_title=x_title, percent=percent, order=order)
    zero = alt.Chart(pd.DataFrame({"zero": [0.0]})).mark_rule(strokeDash=[4, 3], color=REFERENCE).encode(x="zero:Q")
    return alt.layer(zero, plot).properties(height=26 * len(order) + _AROUND)
