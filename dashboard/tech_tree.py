"""Crafter's technology tree as a chart: what needs what, coloured by success. Pure: rates in, a chart out."""

from __future__ import annotations

import altair as alt
import pandas as pd

from dashboard.goal_charts import rate_colour
from dashboard.theme import REFERENCE, AnyChart
from dashboard.wording import percent

# Place of every achievement: column by how many things must be done before, row by what belongs together.
PLACES = {
    "collect wood": (0, 2),
    "place table": (1, 2),
    "make wood sword": (2, 0),
    "make wood pickaxe": (2, 2),
    "place stone": (4, 0),
    "make stone sword": (4, 1),
    "collect stone": (3, 2),
    "make stone pickaxe": (4, 2),
    "place furnace": (4, 3),
    "collect coal": (3, 4),
    "collect iron": (5, 2),
    "make iron sword": (6, 3),
    "make iron pickaxe": (6, 2),
    "collect diamond": (7, 2),
    "collect sapling": (0, 5),
    "place plant": (1, 5),
    "eat plant": (2, 5),
    "collect drink": (3, 5),
    "eat cow": (4, 5),
    "wake up": (5, 5),
    "defeat zombie": (6, 5),
    "defeat skeleton": (7, 5),
}
NEEDS = (
    ("collect wood", "place table"),
    ("place table", "make wood sword"),
    ("place table", "make wood pickaxe"),
    ("make wood pickaxe", "collect stone"),
    ("make wood pickaxe", "collect coal"),
    ("collect stone", "place stone"),
    ("collect stone", "make stone sword"),
    ("collect stone", "make stone pickaxe"),
    ("collect stone", "place furnace"),
    ("make stone pickaxe", "collect iron"),
    ("collect iron", "make iron pickaxe"),
    ("collect iron", "make iron sword"),
    ("place furnace", "make iron pickaxe"),
    ("place furnace", "make iron sword"),
    ("collect coal", "make iron pickaxe"),
    ("collect coal", "make iron sword"),
    ("make iron pickaxe", "collect diamond"),
    ("collect sapling", "place plant"),
    ("place plant", "eat plant"),
)

_X = alt.X("column:Q", axis=None, scale=alt.Scale(domain=[-0.6, 7.6]))
_Y = alt.Y("row:Q", axis=None, scale=alt.Scale(domain=[5.6, -0.5]))


def tech_tree(figures: pd.DataFrame) -> AnyChart:
    """The 22 achievements with the rates of `figures` (columns words, rate, trials); the others say "no data"."""
    known = {row["words"]: row for row in figures.to_dict("records")}
    nodes = pd.DataFrame(
        {
            "goal": goal,
            "column": column,
            "row": row,
            "rate": known[goal]["rate"] if goal in known else None,
            "trials": known[goal]["trials"] if goal in known else 0,
            "label": percent(known[goal]["rate"] if goal in known else None),
        }
        for goal, (column, row) in PLACES.items()
    )
    base = alt.Chart(nodes).encode(_X, _Y)
    tooltip = [
        alt.Tooltip("goal:N", title="goal"),
        alt.Tooltip("label:N", title="reached"),
        alt.Tooltip("trials:Q", title="turns", format=","),
    ]
    unknown = base.transform_filter("datum.trials == 0").mark_circle(
        size=900, fill="transparent", stroke=REFERENCE, strokeDash=[3, 3]
    )
    known_nodes = base.transform_filter("datum.trials > 0").mark_circle(size=900, opacity=1)
    names = base.mark_text(dy=26, fontSize=11, color=REFERENCE)
    figures_text = base.mark_text(dy=-24, fontSize=11, fontWeight="bold", color=REFERENCE)
    return alt.layer(
        _arrows(),
        unknown.encode(tooltip=tooltip),
        known_nodes.encode(rate_colour("rate:Q"), tooltip=tooltip),
        names.encode(text="goal:N"),
        figures_text.encode(text="label:N"),
    ).properties(height=640)


def _arrows() -> alt.Chart:
    rows = [
        {"column": PLACES[a][0], "row": PLACES[a][1], "to_column": PLACES[b][0], "to_row": PLACES[b][1]}
        for a, b in NEEDS
    ]
    return (
        alt.Chart(pd.DataFrame(rows))
        .mark_rule(color=REFERENCE, opacity=0.45, strokeWidth=1.5)
        .encode(_X, _Y, alt.X2("to_column:Q"), alt.Y2("to_row:Q"))
    )
