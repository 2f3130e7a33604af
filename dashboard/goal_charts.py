"""The charts of the page Goals. Pure: tables of `goal_figures` in, charts out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt
import pandas as pd

from dashboard.references import Reference
from dashboard.theme import MISSED, RATE_SCHEME, REFERENCE, AnyChart, run_legend, run_scale, top_title
from dashboard.wording import percent

ROW_HEIGHT = 22  # pixels of a bar
WORLD = 64  # side of Crafter's world, metres

_SHARE = alt.Axis(format="%", tickCount=5)
_ZERO_TO_ONE = alt.Scale(domain=[0, 1])
_ROOM_FOR_WORDS = alt.Scale(domain=[0, 1.12], nice=False)  # behind a bar of 100 %
_WHOLE = alt.Axis(format="%", values=[0, 0.2, 0.4, 0.6, 0.8, 1])
_PLACE_LEGEND = alt.Legend(orient="right", labelLimit=200)
_MARK_COLOURS = {"random": "#4b5563", "published": "#c39a1f"}


def success_bars(
    figures: pd.DataFrame,
    by: str,
    colours: Mapping[str, str],
    *,
    title: str,
    x_title: str,
    order: Sequence[str],
    references: Mapping[str, Reference] | None = None,
) -> AnyChart:
    """A bar per value of `by` and run, its 95 % interval and number of trials; figures of others as marks."""
    several = len(colours) > 1
    y = _names(title, order, f"{by}:N")
    offset = [alt.YOffset("run:N", sort=list(colours))] if several else []
    pairs = zip(figures.rate, figures.trials, strict=True)
    rows = figures.assign(text=[f"{percent(rate)}  n={trials:,}" for rate, trials in pairs])
    base = alt.Chart(rows)
    tooltip = [
        alt.Tooltip("run:N", title="run"),
        alt.Tooltip(f"{by}:N", title=title),
        alt.Tooltip("rate:Q", title="success", format=".1%"),
        alt.Tooltip("low:Q", title="95 % from", format=".1%"),
        alt.Tooltip("high:Q", title="95 % to", format=".1%"),
        alt.Tooltip("successes:Q", title="successes", format=","),
        alt.Tooltip("trials:Q", title="trials", format=","),
    ]
    x = alt.X("rate:Q", title=x_title, scale=_ROOM_FOR_WORDS, axis=_WHOLE)
    colour = alt.Color("run:N", scale=run_scale(dict(colours)), legend=run_legend(len(colours)))
    bars = base.mark_bar(opacity=0.85).encode(x, y, colour, *offset, tooltip=tooltip)
    whiskers = base.mark_rule(strokeWidth=1.5, color=REFERENCE).encode(
        alt.X("low:Q", title=x_title), alt.X2("high:Q"), y, *offset
    )
    text = base.mark_text(align="left", dx=6, fontSize=11, color=REFERENCE).encode(
        alt.X("high:Q"), y, *offset, text="text:N"
    )
    layers = [bars, whiskers, text, *_marks(references or {}, set(figures[by]), by, y)]
    return alt.layer(*layers).properties(height=_height(len(order) * (0.75 * len(colours) + 0.25)))


def _marks(references: Mapping[str, Reference], shown: set[str], by: str, y: alt.Y) -> list[alt.Chart]:
    charts = []
    for name, reference in references.items():
        rows = [{by: text, "rate": rate, "of": name} for text, rate in reference.rates.items() if text in shown]
        base = alt.Chart(pd.DataFrame(rows, columns=[by, "rate", "of"]))
        if name == "random":
            size = ROW_HEIGHT - 5
            mark = base.mark_tick(thickness=4, size=size, color=_MARK_COLOURS[name], stroke="white", strokeWidth=1)
        else:
            mark = base.mark_point(shape="diamond", size=70, filled=True, color=_MARK_COLOURS[name])
        tooltip = [alt.Tooltip("of:N", title="figure of"), alt.Tooltip("rate:Q", title="success", format=".0%")]
        charts.append(mark.encode(alt.X("rate:Q"), y, tooltip=tooltip))
    return charts


def goal_curves(figures: pd.DataFrame, colours: Mapping[str, str], goal: str) -> AnyChart:
    """Success at one goal over training, with its interval, a line per run."""
    x = alt.X("step:Q", title="environment steps", axis=alt.Axis(format="~s", tickCount=5))
    axis = top_title(f"{goal}: reached (share of turns)", format="%", tickCount=5)
    colour = alt.Color("run:N", scale=run_scale(dict(colours)), legend=run_legend(len(colours)))
    base = alt.Chart(figures)
    area = base.mark_area(opacity=0.15).encode(
        x, alt.Y("low:Q", axis=axis, scale=_ZERO_TO_ONE), alt.Y2("high:Q"), colour
    )
    tooltip = [
        alt.Tooltip("run:N", title="run"),
        alt.Tooltip("step:Q", title="environment steps", format=",.0f"),
        alt.Tooltip("rate:Q", title="reached", format=".1%"),
        alt.Tooltip("trials:Q", title="turns", format=","),
    ]
    line = base.mark_line(point=True).encode(x, alt.Y("rate:Q", axis=axis, scale=_ZERO_TO_ONE), colour, tooltip=tooltip)
    return alt.layer(area, line).properties(height=260)


def heat_map(figures: pd.DataFrame, order: Sequence[str]) -> alt.Chart:
    """Success by goal and stretch of training; a stretch in which a goal never had its turn stays empty."""
    return (
        alt.Chart(figures)
        .mark_rect()
        .encode(
            alt.X("begin:Q", title="environment steps", axis=alt.Axis(format="~s"), scale=alt.Scale(nice=False)),
            alt.X2("end:Q"),
            _names("goal", order, "words:N"),
            rate_colour("rate:Q"),
            tooltip=[
                alt.Tooltip("words:N", title="goal"),
                alt.Tooltip("begin:Q", title="from step", format=",.0f"),
                alt.Tooltip("end:Q", title="to step", format=",.0f"),
                alt.Tooltip("rate:Q", title="reached", format=".1%"),
                alt.Tooltip("trials:Q", title="turns", format=","),
            ],
        )
        .properties(height=_height(len(order)))
    )


def rate_colour(field: str) -> alt.Color:
    """A colour from never to always, with its legend."""
    legend = alt.Legend(title="reached", format="%", orient="top", gradientLength=180)
    return alt.Color(field, scale=alt.Scale(scheme=RATE_SCHEME, domain=[0, 1]), legend=legend)


def failure_bars(figures: pd.DataFrame) -> alt.Chart:
    """How unfinished instructions ended."""
    return (
        alt.Chart(figures)
        .mark_bar(color=MISSED, opacity=0.85)
        .encode(
            alt.X("share:Q", title="share of rollouts with an instruction", axis=_SHARE),
            _names("how it ended", "-x", "cause:N"),
            tooltip=[
                alt.Tooltip("cause:N", title="how it ended"),
                alt.Tooltip("rollouts:Q", title="rollouts", format=","),
                alt.Tooltip("share:Q", title="share", format=".1%"),
            ],
        )
        .properties(height=_height(len(figures)))
    )


def place_map(places: pd.DataFrame, title: str) -> alt.Chart:
    """Where in the world something happened: x to the east, y to the south, as on the player's screen."""
    scale = alt.Scale(domain=[0, WORLD], nice=False)
    return (
        alt.Chart(places, title=alt.TitleParams(title, anchor="start", fontSize=13))
        .mark_circle(size=36, opacity=0.55)
        .encode(
            alt.X("x:Q", title="x (metres)", scale=scale),
            alt.Y("y:Q", title="y (metres)", scale=alt.Scale(domain=[WORLD, 0], nice=False)),
            alt.Color("what:N", title=None, scale=alt.Scale(scheme="tableau10"), legend=_PLACE_LEGEND),
            tooltip=[
                alt.Tooltip("what:N", title="what"),
                alt.Tooltip("number:Q", title="rollout", format=","),
                alt.Tooltip("t:Q", title="step of the rollout", format=","),
                alt.Tooltip("x:Q", title="x (metres)"),
                alt.Tooltip("y:Q", title="y (metres)"),
            ],
        )
        .properties(height=460)
    )


def _height(rows: float) -> float:
    """Of a chart with so many rows, its axis and legend included."""
    return ROW_HEIGHT * rows + 90


def _names(title: str, order: Sequence[str] | str, field: str) -> alt.Y:
    """A vertical axis on which every row has its name."""
    sort = order if isinstance(order, str) else list(order)
    return alt.Y(field, title=title, sort=sort, axis=alt.Axis(labelLimit=360, labelOverlap=False))
