"""What an evaluation report says of several games, drawn: over all of them, then those trained, then those held out."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import game_charts, game_tables
from dashboard.report_values import Document
from dashboard.theme import show_chart
from dashboard.wording import NO_DATA, count

MAX_GAMES = 80  # rows of a chart

_SHARED = (  # what is drawn, and its columns: of first and last attempts, of the random policy
    ("normalised return", "first normalised", "normalised", "random normalised"),
    ("success", "first success", "success", "random success"),
)
_COLUMNS = {
    name: st.column_config.NumberColumn(format="%.3g")
    for name in (
        *("first", "last", "change", "change low", "change high", "random", "random normalised"),
        *("first normalised", "normalised", "normalised mean", "IQM"),
    )
} | {name: st.column_config.NumberColumn(format="percent") for name in ("first success", "success", "random success")}


def game_report(document: Document, key: str) -> None:
    """What a report says of its games: over all of them, then those that are trained, then those held out."""
    table = game_tables.games(document)
    st.dataframe(_filled(game_tables.game_sets(document)), hide_index=True, column_config=_COLUMNS)
    for kind in ("trained", "held out"):
        mine = table.loc[table["kind"] == kind]
        if mine.empty:
            continue
        st.markdown(f"**{count(len(mine), 'game')} {kind}**")
        levels, title = _levels(mine)
        if not levels.empty:
            order = levels.sort_values("last", ascending=False)["game"].tolist()[:MAX_GAMES]
            shown = levels.loc[levels["game"].isin(order)]
            show_chart(game_charts.attempt_chart(shown, order, title), key=f"attempts {key} {kind}")
        st.dataframe(_filled(mine.loc[:, mine.columns != "kind"]), hide_index=True, column_config=_COLUMNS)


def _levels(table: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Game, first, last and random of what all games of a table share: normalised returns, else success, else none."""
    for title, first, last, random in _SHARED:
        if all(table[first].notna()) and all(table[last].notna()):
            columns = {"game": "game", "first": first, "last": last, "random": random}
            return pd.DataFrame({name: table[column] for name, column in columns.items()}), title
    return pd.DataFrame(), ""


def _filled(table: pd.DataFrame) -> pd.DataFrame:
    """Without the columns in which nothing is told."""
    told = [any(not pd.isna(value) and value != NO_DATA for value in table[column]) for column in table]
    return table.loc[:, told]
