"""The page Games: how each game of an environment of several does, how that came about, and what later attempts add."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import game_charts, game_figures, game_tables, selection
from dashboard.game_report import game_report
from dashboard.queries import games, metrics, reports
from dashboard.theme import run_colours, show_chart
from dashboard.wording import plain

ASPECTS = ("Now", "Over training", "First and last attempt")
MAX_GAMES = 80  # rows of a chart
COLUMNS = 3
FIRST_CURVES = 6


def render() -> None:
    """Draw the page."""
    st.title("Games")
    if selection.no_runs():
        return
    runs = [run for run in selection.chosen_runs() if games(run)]
    if not runs:
        st.info("The chosen runs play one game each, or nothing is stored of them yet; the page Goals tells of goals.")
        return
    for run in runs:
        selection.show_problems(run)
    aspect = st.segmented_control(
        "Show", ASPECTS, default=ASPECTS[0], key="show of games", bind="query-params", required=True
    )
    {"Now": _now, "Over training": _over_training, "First and last attempt": _attempts}[aspect or ASPECTS[0]](runs)


def _now(runs: list[str]) -> None:
    parts = [game_figures.now(metrics(run), games(run)).assign(run=run) for run in runs]
    figures = pd.concat(parts, ignore_index=True)
    if figures.empty:
        st.info("No rollout of training is finished yet.")
        return
    st.caption(
        "The newest training rollouts: returns of last attempts in each game's own unit, written beside the bars. Bars "
        "are normalised returns where the benchmark has a scale, else success."
    )
    if any(figures["level"].notna()):
        order = _order(figures)
        shown = figures.loc[figures["game"].isin(order)]
        show_chart(game_charts.level_bars(shown, run_colours(runs), order), key="levels of games")
    st.dataframe(figures.drop(columns="level")[["run", "game", "return", "normalised", "success"]], hide_index=True)


def _over_training(runs: list[str]) -> None:
    parts = [game_figures.over_training(metrics(run), games(run)).assign(run=run) for run in runs]
    stretches = pd.concat(parts, ignore_index=True)
    if stretches.empty:
        st.info("No rollout of training is finished yet.")
        return
    known = sorted(set(stretches["game"]))
    chosen = st.multiselect("Games", known, default=known[:FIRST_CURVES], key="games with curves")
    columns = st.columns(COLUMNS)
    for number, game in enumerate(chosen):
        with columns[number % COLUMNS]:
            mine = stretches.loc[stretches["game"] == game]
            show_chart(game_charts.game_curves(mine, run_colours(runs), game), key=f"curve of {game}")
    st.subheader("Every game")
    st.caption("Empty where a game was not played.")
    for run in runs:
        if len(runs) > 1:
            st.markdown(f"**{plain(run)}**")
        _heat_map(run, stretches.loc[stretches["run"] == run])


def _heat_map(run: str, stretches: pd.DataFrame) -> None:
    title = game_charts.LEVEL
    if any(stretches["level"].isna()):
        stretches, title = game_figures.within_own_range(stretches), "from a game's lowest to its highest return"
    show_chart(game_charts.heat_map(stretches, _order(stretches), title), key=f"every game of {run}")


def _attempts(runs: list[str]) -> None:
    """From the newest evaluation of each run: held-out worlds, and no exploration noise."""
    for run in runs:
        st.subheader(plain(run))
        found = [document for document in reports(run) if not game_tables.games(document).empty]
        if not found:
            st.info(f"{plain(run)} was not evaluated yet. In a terminal:")
            st.code(f"amago eval --checkpoint {run}", language="bash")
            continue
        st.caption(f"Held-out worlds, report {plain(found[-1]['file'])}; the dark mark is the random policy.")
        game_report(found[-1], key=run)


def _order(figures: pd.DataFrame) -> list[str]:
    """Games by their best level among runs and stretches, at most MAX_GAMES."""
    best = figures.groupby("game").agg(level=("level", "max"))
    return best.sort_values("level", ascending=False).index.tolist()[:MAX_GAMES]
