"""The page Evaluations: the reports of a run, agent beside random, down to the single episode."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from dashboard import game_tables, report_tables, selection
from dashboard.game_report import game_report
from dashboard.goal_charts import success_bars
from dashboard.guard import guarded
from dashboard.queries import report_file, reports
from dashboard.report_tables import Document
from dashboard.theme import REFERENCE, RUN_COLOURS, AnyChart, show_chart
from dashboard.wording import plain

COLOURS = {"agent": RUN_COLOURS[0], "random": REFERENCE}
MAX_BARS = 60
KINDS = {".json": "application/json", ".md": "text/markdown", ".html": "text/html"}
PERCENT = st.column_config.NumberColumn(format="percent")
RATE = st.column_config.ProgressColumn(format="percent", min_value=0.0, max_value=1.0)
COLUMNS = {"success": RATE, "random": PERCENT, "return": st.column_config.NumberColumn(format="%.3g")}


def render() -> None:
    """Draw the page."""
    st.title("Evaluations")
    if selection.no_runs():
        return
    run = selection.chosen_run()
    if run is None:
        return
    selection.show_problems(run)
    found = list(reversed(reports(run)))
    if not found:
        st.info(f"{plain(run)} was not evaluated yet. In a terminal:", icon=":material/fact_check:")
        st.code(f"amago eval --checkpoint {run}", language="bash")
        return
    document = _choose(run, found)
    with guarded(f"the report {document['file']}"):
        _report(run, document)


def _choose(run: str, found: list[dict[str, Any]]) -> dict[str, Any]:
    """The report ticked in the list, else the newest."""
    table = report_tables.overview(found)
    picked = st.dataframe(
        table,
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        key=f"reports of {run}",
        column_config={**COLUMNS, "step": st.column_config.NumberColumn(format="localized")},
    )
    rows = [row for row in picked.selection.rows if row < len(found)]
    if not rows and len(found) > 1:
        st.caption("The newest report is shown; tick a row for another one.")
    return found[rows[0] if rows else 0]


def _report(run: str, document: dict[str, Any]) -> None:
    st.subheader(plain(document["file"].removesuffix(".json")))
    if report_tables.section(document, "header").get("interrupted"):
        st.warning("Interrupted: episodes are missing, and short episodes are over-represented.")
    _downloads(run, document["file"])
    st.dataframe(report_tables.totals(document), hide_index=True, column_config=COLUMNS)
    st.caption(
        "All figures are of one checkpoint: intervals are over worlds and actions, not over training seeds. "
        "Random is a uniformly random policy in the same worlds; training are the run's own last rollouts, with "
        "exploration noise."
    )
    if not game_tables.games(document).empty:
        with st.expander("Games", icon=":material/casino:", expanded=True), guarded("the games"):
            game_report(document, key=document["file"])
    parts = {
        "Instructions": _instructions,
        "Goals": _goals,
        "Attempts": _attempts,
        "Episodes": _episodes,
        "How it was made": _about,
    }
    agent = report_tables.section(document, "agent")
    absent = [name for name in ("Instructions", "Goals") if not report_tables.entries(agent, name.lower())]
    names = [name for name in parts if name not in absent]
    for name, tab in zip(names, st.tabs(names), strict=True):
        with tab, guarded(f"the part {name}"):
            parts[name](document, run)


def _downloads(run: str, file: str) -> None:
    """A button for each kind in which the report lies in the run."""
    row = st.container(horizontal=True)
    for suffix, mime in KINDS.items():
        name = file.removesuffix(".json") + suffix
        content = report_file(run, name)
        if content is not None:
            label = {".json": "JSON", ".md": "Markdown", ".html": "HTML page"}[suffix]
            row.download_button(label, content, name, mime, icon=":material/download:", key=f"download {name}")


def _instructions(document: Document, run: str) -> None:
    _rates(document, "instructions", "success", "instruction")
    st.dataframe(report_tables.instructions(document), hide_index=True, column_config=COLUMNS)


def _goals(document: Document, run: str) -> None:
    st.caption("Reached, of the times the goal's turn came, over all instructions of the report.")
    _rates(document, "goals", "reached", "goal")


def _about(document: Document, run: str) -> None:
    rows = [{"": name, "value": text} for name, text in report_tables.facts(document).items()]
    st.dataframe(rows, hide_index=True, column_config={"value": st.column_config.TextColumn(width="large")})


def _rates(document: Document, part: str, key: str, word: str) -> None:
    table = report_tables.rates(document, part, key)
    if table.empty:
        return
    order = list(dict.fromkeys(table["text"]))
    if len(order) > MAX_BARS:
        st.caption(f"The chart shows the first {MAX_BARS} of {len(order):,}.")
    shown = pd.DataFrame(table[table["text"].isin(order[:MAX_BARS])]).rename(columns={"text": word})
    colours = {name: COLOURS[name] for name in COLOURS if name in set(shown["run"])}
    chart = success_bars(shown, word, colours, title=word, x_title="success", order=order[:MAX_BARS])
    show_chart(chart, key=f"rates of {part}")


def _attempts(document: Document, run: str) -> None:
    table = report_tables.attempts(document)
    if not game_tables.games(document).empty:
        st.info("The attempts of games are told game by game above: they pay in different units.")
        return
    if table.empty or max(table["attempt"].tolist()) < 2:
        st.info("Each task was played once. `amago eval --k-attempts 3` plays every task three times in one rollout.")
        return
    show_chart(_attempt_chart(document, table), key="attempts")
    st.dataframe(table, hide_index=True, column_config=COLUMNS)


def _attempt_chart(document: Document, table: pd.DataFrame) -> AnyChart:
    """Success by attempt where the environment knows success, else returns."""
    rates = report_tables.rates(document, "attempts", "success")
    if rates.empty:
        figures = table.rename(columns={"return": "value", "return low": "low", "return high": "high", "policy": "run"})
        title, axis, scale = "return", alt.Axis(), alt.Scale(zero=False)
    else:
        figures = rates.rename(columns={"rate": "value"}).assign(attempt=rates["text"].astype(int))
        title, axis, scale = "success", alt.Axis(format="%"), alt.Scale(domain=[0, 1])
    base = alt.Chart(figures)
    x = alt.X("attempt:O", title="attempt at the same task", axis=alt.Axis(labelAngle=0))
    colour = alt.Color(
        "run:N",
        scale=alt.Scale(domain=list(COLOURS), range=list(COLOURS.values())),
        legend=alt.Legend(title=None, orient="top"),
    )
    y = alt.Y("value:Q", title=title, axis=axis, scale=scale)
    rule = base.mark_rule(strokeWidth=2, opacity=0.5).encode(x, alt.Y("low:Q", title=title), alt.Y2("high:Q"), colour)
    line = base.mark_line(point=alt.OverlayMarkDef(size=60)).encode(x, y, colour)
    return alt.layer(rule, line).properties(height=280)


def _episodes(document: Document, run: str) -> None:
    table = report_tables.episodes(document, run)
    if table.empty:
        st.info("The report lists no episodes.")
        return
    outcomes = sorted(set(table["outcome"]))
    wanted = st.multiselect("Outcome", outcomes, key="outcome of episodes")
    shown = table[table["outcome"].isin(wanted)] if wanted else table
    if not any(table["replay"].notna()):
        st.caption("The report does not say where its episodes are stored; the page Replay lists them all.")
        shown = shown.drop(columns="replay")
    link = st.column_config.LinkColumn("replay", display_text=":material/play_circle:", width="small")
    st.dataframe(
        shown,
        hide_index=True,
        column_config={
            "replay": link,
            "world": st.column_config.NumberColumn(format="%d"),
            "return": COLUMNS["return"],
        },
    )
