"""The charts of the page Games. Pure: tables of `game_figures` and `game_tables` in, charts out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt
import pandas as pd

from dashboard.theme import RATE_SCHEME, REFERENCE, RUN_COLOURS, AnyChart, run_legend, run_scale, top_title

ROW_HEIGHT = 22  # pixels of a game
LEVEL = "normalised return, or success"

_ATTEMPTS = {"first": REFERENCE, "last": RUN_COLOURS[0]}


def level_bars(figures: pd.DataFrame, colours: Mapping[str, str], order: Sequence[str]) -> AnyChart:
    """A bar per game and run, with its return in the game's own unit beside."""
    offset = [alt.YOffset("run:N", sort=list(colours))] if len(colours) > 1 else []
    rows = figures.assign(text=[f"{value:.3g}" for value in figures["return"]])
    base = alt.Chart(rows)
    y, x = _games(order), alt.X("level:Q", title=LEVEL)
    colour = alt.Color("run:N", scale=run_scale(dict(colours)), legend=run_legend(len(colours)))
    tooltip = [
        alt.Tooltip("run:N", title="run"),
        alt.Tooltip("game:N", title="game"),
        alt.Tooltip("return:Q", title="return", format=",.4~g"),
        alt.Tooltip("normalised:Q", title="normalised", format=".3f"),
        alt.Tooltip("success:Q", title="success", format=".1%"),
    ]
    bars = base.mark_bar(opacity=0.85).encode(x, y, colour, *offset, tooltip=tooltip)
    words = base.mark_text(align="left", dx=6, fontSize=11, color=REFERENCE).encode(x, y, *offset, text="text:N")
    return alt.layer(bars, words).properties(height=_height(len(order) * (0.75 * len(colours) + 0.25)))


def game_curves(stretches: pd.DataFrame, colours: Mapping[str, str], game: str) -> alt.Chart:
    """The return of one game over training, a line per run."""
    return (
        alt.Chart(stretches)
        .mark_line(point=True)
        .encode(
            alt.X("step:Q", title="environment steps", axis=alt.Axis(format="~s", tickCount=5)),
            alt.Y("return:Q", axis=top_title(f"{game}: return (own unit)", tickCount=5), scale=alt.Scale(zero=False)),
            alt.Color("run:N", scale=run_scale(dict(colours)), legend=run_legend(len(colours))),
            tooltip=[
                alt.Tooltip("run:N", title="run"),
                alt.Tooltip("step:Q", title="environment steps", format=",.0f"),
                alt.Tooltip("return:Q", title="return", format=",.4~g"),
                alt.Tooltip("level:Q", title=LEVEL, format=".3f"),
            ],
        )
        .properties(height=230)
    )


def heat_map(stretches: pd.DataFrame, order: Sequence[str], title: str) -> alt.Chart:
    """The level of each game in each stretch of training; empty where it was not played."""
    legend = alt.Legend(title=title, orient="top", gradientLength=180, format=".1f")
    scale = alt.Scale(scheme=RATE_SCHEME, domain=[0, 1], clamp=True)
    return (
        alt.Chart(stretches)
        .mark_rect()
        .encode(
            alt.X("begin:Q", title="environment steps", axis=alt.Axis(format="~s"), scale=alt.Scale(nice=False)),
            alt.X2("end:Q"),
            _games(order),
            alt.Color("level:Q", scale=scale, legend=legend),
            tooltip=[
                alt.Tooltip("game:N", title="game"),
                alt.Tooltip("begin:Q", title="from step", format=",.0f"),
                alt.Tooltip("end:Q", title="to step", format=",.0f"),
                alt.Tooltip("return:Q", title="return", format=",.4~g"),
                alt.Tooltip("level:Q", title=title, format=".3f"),
            ],
        )
        .properties(height=_height(len(order)))
    )


def attempt_chart(levels: pd.DataFrame, order: Sequence[str], title: str) -> AnyChart:
    """For each game a line from the level of its first attempts to that of its last ones; `levels` has the columns
    game, first, last and random, of which only the last may be empty."""
    y = _games(order)
    base = alt.Chart(levels)
    way = base.mark_rule(strokeWidth=2, color=REFERENCE, opacity=0.6).encode(
        alt.X("first:Q", title=title), alt.X2("last:Q"), y
    )
    long = levels.melt(["game"], ["first", "last"], "attempt", "level")
    colour = alt.Color(
        "attempt:N",
        scale=alt.Scale(domain=list(_ATTEMPTS), range=list(_ATTEMPTS.values())),
        legend=alt.Legend(title="attempt", orient="top"),
    )
    tooltip = ["game:N", "attempt:N", alt.Tooltip("level:Q", title=title, format=".3f")]
    points = alt.Chart(long).mark_circle(size=90, opacity=1).encode(alt.X("level:Q"), y, colour, tooltip=tooltip)
    ticks = base.mark_tick(thickness=3, size=ROW_HEIGHT - 8, color="#4b5563").encode(
        alt.X("random:Q"), y, tooltip=["game:N", alt.Tooltip("random:Q", title="random policy", format=".3f")]
    )
    return alt.layer(way, ticks, points).properties(height=_height(len(order)))


def _height(rows: float) -> float:
    """Of a chart with so many rows, its axis and legend included."""
    return ROW_HEIGHT * max(rows, 2) + 130


def _games(order: Sequence[str]) -> alt.Y:
    """A vertical axis on which every game has its name."""
    return alt.Y("game:N", title="game", sort=list(order), axis=alt.Axis(labelLimit=300, labelOverlap=False))
