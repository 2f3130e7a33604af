"""Charts of one episode around a cursor: curves over frames, the policy's choice, the path. Pure functions.

A chart's specification does not depend on the cursor, only its data do, so that a moved cursor redraws next to nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import altair as alt
import numpy as np
import pandas as pd

from dashboard.theme import REFERENCE, AnyChart, value_scale

MAX_POINTS = 800  # of a curve
MAX_PLACES = 4000  # of a way
CHOSEN, OTHER = "taken", "not taken"
_HEIGHT = 230  # pixels, axes and legend included


def thinned(values: np.ndarray, limit: int = MAX_POINTS) -> np.ndarray:
    """Positions of at most about `limit` of `values` (T,) that keep every stretch's first, lowest and highest one."""
    if len(values) <= limit:
        return np.arange(len(values))
    edges = np.linspace(0, len(values), limit // 3 + 1, dtype=int)
    finite = np.nan_to_num(values.astype(np.float64))
    kept = [
        [start, start + int(finite[start:stop].argmin()), start + int(finite[start:stop].argmax())]
        for start, stop in pairwise(edges.tolist())
    ]
    return np.unique([*np.concatenate(kept).tolist(), len(values) - 1])


def long_form(series: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """Columns frame, series and value of some curves by name, thinned; what is no number is left out."""
    parts = []
    for name, values in series.items():
        at = thinned(values)
        parts.append(pd.DataFrame({"frame": at, "series": name, "value": values[at].astype(np.float64)}))
    table = pd.concat(parts) if parts else pd.DataFrame({"frame": [], "series": [], "value": []})
    return table.loc[np.isfinite(table["value"].to_numpy(np.float64))]


def curves(series: Mapping[str, np.ndarray], cursor: int, last: int, *, unit: str, stepped: bool = False) -> AnyChart:
    """Curves over the frames 0..`last` with a line at the cursor."""
    rows = long_form(series)
    scale = value_scale(rows["value"].to_numpy(np.float64))
    lines = (
        alt.Chart(rows, height=_HEIGHT)
        .mark_line(interpolate="step-after" if stepped else "linear", strokeWidth=1.6)
        .encode(
            x=_frames(last),
            y=alt.Y("value:Q", title=unit, scale=scale),
            color=alt.Color("series:N", title=None, sort=list(series), legend=alt.Legend(orient="top", columns=6)),
            tooltip=["series:N", "frame:Q", alt.Tooltip("value:Q", format=".3g")],
        )
    )
    return alt.layer(lines, _line_at(cursor, last))


def choices(names: Sequence[str], probabilities: np.ndarray, taken: int, most: int = 8) -> alt.Chart:
    """The likeliest actions of one frame and the one that was taken; `probabilities` (A,)."""
    order = np.argsort(-probabilities, kind="stable")[:most].tolist()
    if taken not in order:
        order[-1] = taken
    rows = [(names[a], float(probabilities[a]), CHOSEN if a == taken else OTHER) for a in order]
    return (
        alt.Chart(pd.DataFrame(rows, columns=["action", "probability", "what"]), height=24 * most + 60)
        .mark_bar()
        .encode(
            x=alt.X("probability:Q", title="probability", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%")),
            y=alt.Y("action:N", title=None, sort=None, axis=alt.Axis(labelLimit=160, labelOverlap=False)),
            color=alt.Color(
                "what:N",
                title=None,
                scale=alt.Scale(domain=[CHOSEN, OTHER], range=["#3b7dd8", REFERENCE]),
                legend=None,
            ),
            tooltip=["action:N", alt.Tooltip("probability:Q", format=".1%"), "what:N"],
        )
    )


def path_map(positions: np.ndarray, attempts: np.ndarray, cursor: int) -> AnyChart:
    """The way (T+1, 2) of an episode seen from above, x to the right and y downwards, and the place at the cursor.

    `attempts` (T+1,) numbers the attempt of every frame; the way of the cursor's own is emphasised.
    """
    table = pd.DataFrame(positions, columns=["x", "y"]).assign(attempt=attempts, frame=range(len(positions)))
    moved = (np.diff(positions, axis=0, prepend=positions[:1]) != 0).any(axis=1)
    begins = np.diff(attempts, prepend=attempts[0] - 1) != 0
    table = table.loc[moved | begins]
    own = table.loc[table["attempt"] == attempts[cursor]]
    low, high = positions.min(axis=0) - 1, positions.max(axis=0) + 1
    side = float((high - low).max())
    x = alt.X("x:Q", title="x", scale=_around(low[0], high[0], side), axis=alt.Axis(format="d"))
    y = alt.Y("y:Q", title="y", scale=_around(low[1], high[1], side, reverse=True), axis=alt.Axis(format="d"))
    place = {"x": x, "y": y}
    way = alt.Chart(table.iloc[-MAX_PLACES:], height=420).mark_line(strokeWidth=1, opacity=0.35, color=REFERENCE)
    mine = alt.Chart(own.iloc[-MAX_PLACES:]).mark_line(strokeWidth=2, color="#3b7dd8")
    start = alt.Chart(own.iloc[:1]).mark_point(shape="square", size=70, color=REFERENCE, strokeWidth=2)
    here = pd.DataFrame(positions[cursor : cursor + 1], columns=["x", "y"])
    return alt.layer(
        way.encode(**place, order="frame:Q", detail="attempt:N"),
        mine.encode(**place, order="frame:Q", tooltip=["frame:Q", "x:Q", "y:Q"]),
        start.encode(**place),
        alt.Chart(here).mark_circle(size=140, color="#d1495b", opacity=1).encode(**place),
    )


def _frames(last: int) -> alt.X:
    return alt.X(
        "frame:Q", title="frame", scale=alt.Scale(domain=[0, max(last, 1)], nice=False), axis=alt.Axis(format="d")
    )


def _line_at(cursor: int, last: int) -> alt.Chart:
    return (
        alt.Chart(pd.DataFrame({"frame": [cursor]})).mark_rule(strokeWidth=2, color="#d1495b").encode(x=_frames(last))
    )


def _around(low: float, high: float, side: float, *, reverse: bool = False) -> alt.Scale:
    """`side` long in both directions, so that the way is not distorted."""
    middle = (low + high) / 2
    return alt.Scale(domain=[middle - side / 2, middle + side / 2], nice=False, reverse=reverse)
