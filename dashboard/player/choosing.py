"""Choosing an episode of a run: by what was asked, how it ended, what it returned. Knows no frames."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.wording import count, plain

OUTCOMES = ("all", "completed", "not completed")
FILTERS = ("instruction", "game", "outcome", "cause", "return", "order")
_ORDERS = {"newest": ("number", False), "highest return": ("ret", False), "longest": ("length", False)}
_SHOWN = {
    "number": st.column_config.NumberColumn("episode", format="%d", width="small"),
    "instruction": st.column_config.TextColumn("instruction", width="large"),
    "game": st.column_config.TextColumn("game"),
    "done": st.column_config.TextColumn("subgoals", width="small"),
    "ret": st.column_config.NumberColumn("return", format="%.3g", width="small"),
    "length": st.column_config.NumberColumn("steps", format="localized", width="small"),
    "cause": st.column_config.TextColumn("end"),
    "seed": st.column_config.NumberColumn("world", format="%d"),
    "step": st.column_config.NumberColumn("after training steps", format="localized"),
}


def clear_filters() -> None:
    """Let every episode through again; before the filters are drawn."""
    for name in FILTERS:
        st.session_state.pop(_key(name), None)


def filtered(table: pd.DataFrame) -> pd.DataFrame:
    """Draw the filters; the rows of a run's rollouts that they let through, in the order wanted."""
    what, outcome, cause, order = st.columns([3, 2, 2, 2])
    task = "game" if any(table["game"] != "") else "instruction"
    anything, tasks = f"any {task}", table[task].value_counts().index.tolist()
    chosen = what.selectbox(
        task.capitalize(), [anything, *tasks], format_func=lambda text: text or "none", key=_key(task)
    )
    kind = outcome.selectbox("Outcome", OUTCOMES, key=_key("outcome"))
    causes = cause.multiselect("Ended by", sorted(table["cause"].unique()), key=_key("cause"), placeholder="anything")
    by, ascending = _ORDERS[order.selectbox("Order", list(_ORDERS), key=_key("order"))]
    kept = table["ret"].between(*_returns(table))
    if chosen != anything:
        kept &= table[task] == chosen
    if kind != "all":
        kept &= table["completed"] == (kind == "completed")
    if causes:
        kept &= table["cause"].isin(causes)
    return table.loc[kept].sort_values(by, ascending=ascending, kind="stable")


def episodes(matching: pd.DataFrame, total: int, number: int, choose: Callable[[int], None]) -> None:
    """Buttons to go through the matching episodes; `choose` is called with a number."""
    numbers = matching["number"].tolist()
    at = numbers.index(number) if number in numbers else None
    row = st.container(horizontal=True, vertical_alignment="center")
    moves = (
        ("First", "first_page", 0, None),
        ("Previous", "chevron_left", (at or 0) - 1, "p"),
        ("Next", "chevron_right", -1 if at is None else at + 1, "n"),
        ("Last", "last_page", len(numbers) - 1, None),
    )
    for label, icon, to, shortcut in moves:
        usable = 0 <= to < len(numbers) and to != at
        row.button(
            label,
            icon=f":material/{icon}:",
            key=f"replay {label}",
            shortcut=shortcut,
            disabled=not usable,
            on_click=choose,
            args=(numbers[to] if usable else number,),
        )
    place = f"{at + 1:,} of {len(numbers):,}" if at is not None else f"not among the {len(numbers):,} matching ones"
    row.markdown(f"Episode **{number:,}**, {place} ({count(total, 'episode')} in all)")


def listed(matching: pd.DataFrame, choose: Callable[[int], None]) -> None:
    """A table to sort and to click in; `choose` is called with a number."""
    done = matching["progress"].astype(str) + " of " + matching["num_subgoals"].astype(str)
    left_out = ("instruction", "done") if any(matching["game"] != "") else ("game",)
    shown = matching.assign(done=done).loc[:, [column for column in _SHOWN if column not in left_out]]
    key = "replay list"

    def pick() -> None:
        rows = st.session_state[key]["selection"]["rows"]
        if rows:
            choose(int(shown["number"].iloc[rows[0]]))

    st.dataframe(
        shown,
        key=key,
        hide_index=True,
        height=260,
        column_config=_SHOWN,
        on_select=pick,
        selection_mode="single-row",
    )


def _returns(table: pd.DataFrame) -> tuple[float, float]:
    """The range of returns to let through; nothing to choose where all are alike."""
    low, high = float(table["ret"].to_numpy().min()), float(table["ret"].to_numpy().max())
    if not low < high or not high - low < float("inf"):
        return float("-inf"), float("inf")
    chosen = st.slider("Return", low, high, (low, high), key=_key("return"))
    return (chosen[0] if chosen[0] > low else float("-inf")), (chosen[1] if chosen[1] < high else float("inf"))


def _key(name: str) -> str:
    return f"replay filter {name}"


def describe(row: Mapping[Hashable, Any]) -> str:
    """One line about an episode, given its row of `dashboard.queries.rollout_table`."""
    task = plain(row["instruction"] or row["game"] or row["environment"])
    ended = plain(row["cause"] or "ended")
    figures = f"{count(int(row['length']), 'step')}, return {row['ret']:.4g}, {ended}, world {row['seed']}"
    return f"**{task}** · {figures}"
