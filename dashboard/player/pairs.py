"""Pairs of attempts at the same task: two of one rollout, or two episodes in the same world. Pure functions.

A pair says where its attempts are stored (episode number and attempt) and how each did.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import altair as alt
import numpy as np
import pandas as pd

from dashboard.theme import MISSED, REACHED, REFERENCE, AnyChart, value_scale
from store.trajectory import Trajectory

MEASURES = {"return": "ret", "finished subgoals": "progress", "steps": "length"}
COLUMNS = ("task", "number_a", "attempt_a", "number_b", "attempt_b", "a", "b", "difference")
_OF_ATTEMPTS = ("number", "attempt", "ret", "progress", "length")
_TASK = ("seed", "goals", "game")  # columns of `dashboard.queries.rollout_table` that say what is played
_CHANGES = ("more", "the same", "less")
_MEAN_COLOUR = "#3b7dd8"


def attempts_table(rollouts: Iterable[tuple[int, Trajectory]]) -> pd.DataFrame:
    """A row per whole attempt of some rollouts, given with their numbers: attempt from 0, ret, progress, length."""
    rows = [
        (number, i, attempt.ret, attempt.progress, attempt.length)
        for number, trajectory in rollouts
        for i, attempt in enumerate(trajectory.attempts)
    ]
    return pd.DataFrame(rows, columns=_OF_ATTEMPTS)


def within(attempts: pd.DataFrame, tasks: Mapping[int, str], first: int, second: int, measure: str) -> pd.DataFrame:
    """Attempts `first` and `second` (from 0) of every rollout that has both whole; `tasks` by number of the rollout."""
    values = attempts.pivot(index="number", columns="attempt", values=measure)
    if not {first, second} <= set(values.columns):
        return _table([])
    return _table(
        (tasks[number], number, first, number, second, a, b)
        for number, a, b in values[[first, second]].itertuples()
        if not np.isnan([a, b]).any()
    )


def across(table: pd.DataFrame, first: int, second: int, measure: str) -> pd.DataFrame:
    """Episodes `first` and `second` (from 0, in order of number) of every world, instruction and game that has both.

    `table` has a row per episode of a single attempt, with the columns of `dashboard.queries.rollout_table`.
    """
    groups = [group for _, group in table.groupby(list(_TASK), sort=False) if len(group) > max(first, second)]
    pairs = [(group.iloc[first], group.iloc[second]) for group in groups]
    return _table((task_name(a), a["number"], 0, b["number"], 0, a[measure], b[measure]) for a, b in pairs)


def task_name(row: pd.Series) -> str:
    """What an episode's row of `dashboard.queries.rollout_table` plays: instruction, game or environment, and world."""
    return f"{row['instruction'] or row['game'] or row['environment']}, world {row['seed']}"


def most_repeats(table: pd.DataFrame) -> int:
    """How many episodes the most often played world, instruction and game has; 0 for an empty table."""
    return int(table.groupby(list(_TASK)).size().to_numpy().max()) if len(table) else 0


def slopes(pairs: pd.DataFrame, names: tuple[str, str], measure: str) -> AnyChart:
    """A line for every pair from its first to its second value, and a thick one for the means."""
    change = np.select([pairs["difference"] > 0, pairs["difference"] < 0], [_CHANGES[0], _CHANGES[2]], _CHANGES[1])
    table = pairs.assign(change=change, pair=range(len(pairs)))
    long = table.melt(["task", "pair", "change"], ["a", "b"], "which", "value")
    long["which"] = np.where(long["which"] == "a", *names)
    x = alt.X("which:N", title=None, sort=list(names), axis=alt.Axis(labelAngle=0), scale=alt.Scale(padding=0.3))
    colours = alt.Scale(domain=list(_CHANGES), range=[REACHED, REFERENCE, MISSED])
    lines = (
        alt.Chart(long, height=340)
        .mark_line(opacity=0.45, point=True)
        .encode(
            x=x,
            y=alt.Y("value:Q", title=measure),
            detail="pair:N",
            color=alt.Color("change:N", title=f"{names[1]} has", scale=colours, legend=alt.Legend(orient="top")),
            tooltip=["task:N", "which:N", alt.Tooltip("value:Q", title=measure, format=".4g")],
        )
    )
    means = alt.Chart(long).mark_line(strokeWidth=4, color=_MEAN_COLOUR, point=True).encode(x=x, y="mean(value):Q")
    return alt.layer(lines, means)


def differences(pairs: pd.DataFrame, measure: str, mean: float, interval: tuple[float, float] | None) -> AnyChart:
    """The difference of every task from the smallest to the largest, with their mean and its interval."""
    table = pairs.sort_values("difference", kind="stable").assign(rank=range(1, len(pairs) + 1))
    title = f"difference in {measure}, second minus first"
    scale = value_scale(np.append(pairs["difference"].to_numpy(np.float64), 0.0))
    y = alt.Y("difference:Q", title=title, scale=scale)
    colour = alt.condition("datum.difference < 0", alt.value(MISSED), alt.value(REACHED))
    bars = (
        alt.Chart(table, height=340)
        .mark_bar(opacity=0.7)
        .encode(
            x=alt.X("rank:O", title="tasks, by difference", axis=alt.Axis(labels=False, ticks=False)),
            y=y,
            color=colour,
            tooltip=["task:N", alt.Tooltip("difference:Q", format="+.4g")],
        )
    )
    low, high = interval or (mean, mean)
    figures = pd.DataFrame({"difference": [mean], "low": [low], "high": [high]})
    band = (
        alt.Chart(figures)
        .mark_rect(color=_MEAN_COLOUR, opacity=0.18)
        .encode(y=alt.Y("low:Q", title=title), y2="high:Q")
    )
    mean_line = alt.Chart(figures).mark_rule(color=_MEAN_COLOUR, strokeWidth=3).encode(y=y)
    return alt.layer(band, bars, mean_line)


def _table(rows: Iterable[tuple[str, int, int, int, int, float, float]]) -> pd.DataFrame:
    """Rows without the difference; pairs of figures that are no numbers are left out."""
    full = [(*row[:5], float(row[5]), float(row[6]), float(row[6]) - float(row[5])) for row in rows]
    table = pd.DataFrame(full, columns=COLUMNS)
    return table.loc[np.isfinite(table["difference"].to_numpy(np.float64))]
