"""The page Training: the metrics of the chosen runs over time, live while one of them is training."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from dashboard import selection
from dashboard.configurations import seed_groups
from dashboard.curve_charts import RunCurve, curve_chart
from dashboard.curves import AXES, Band, curve
from dashboard.curves import band as band_of
from dashboard.guard import guarded
from dashboard.metric_names import game_of, sensible_first, title
from dashboard.queries import config, events, metrics, summary
from dashboard.theme import run_colours, show_chart, steady
from dashboard.wording import duration, plain
from store.errors import StorageError
from store.metrics import Series

COLUMNS = 2


@dataclass(frozen=True)
class Look:
    """How the curves are drawn."""

    keys: tuple[str, ...]
    axis: str
    smoothing: float
    log: bool
    seeds: bool  # runs that differ by their seed alone become one band


def render() -> None:
    """Draw the page."""
    st.title("Training")
    if selection.no_runs():
        return
    steady()
    runs = selection.chosen_runs()
    groups = _groups(runs)
    look = _controls(runs, groups)
    live = any(summary(run).state == "running" for run in runs)
    st.fragment(_live, run_every=selection.REFRESH_SECONDS if live else None)(runs, groups, look)


def _live(runs: list[str], groups: list[list[str]], look: Look) -> None:
    """What follows a training run; drawn again by itself, without the controls above."""
    with guarded("the curves"):
        for run in runs:
            _state_line(run)
        _charts(runs, groups, look)
        _history(runs)


def _controls(runs: list[str], groups: list[list[str]]) -> Look:
    known = sorted({key for run in runs for key in metrics(run)})
    of_games = [key for key in known if game_of(key)]
    known = [key for key in known if not game_of(key)]
    keys = st.multiselect(
        "Metrics",
        known,
        default=sensible_first(known),
        format_func=lambda key: f"{key}  ·  {title(key)}",
        key=f"metrics {len(known)}",
        placeholder="choose metrics",
    )
    keys += _of_games(of_games)
    left, middle, right = st.columns([2, 2, 2], vertical_alignment="bottom")
    smoothing = left.slider(
        "Smoothing",
        0.0,
        0.99,
        0.9,
        0.01,
        key="smoothing",
        persist_state="session",
        help="share of the past in every point; 0 is none",
    )
    axis = middle.segmented_control(
        "Over", list(AXES), default="environment steps", key="x axis", persist_state="session", required=True
    )
    with right.container(horizontal=True):
        log = st.toggle(
            "Log scale", key="log scale", persist_state="session", help="values of zero and below are left out"
        )
        several = any(len(group) > 1 for group in groups)
        seeds = several and st.toggle(
            "Seeds as band", value=True, help="runs that differ by seed alone: mean and range"
        )
    return Look(tuple(keys), axis or "environment steps", smoothing, log, seeds)


def _of_games(known: list[str]) -> list[str]:
    """The metrics of the games that are chosen, all figures of each: a list of every game's would be too long."""
    if not known:
        return []
    chosen = st.multiselect(
        "Games", sorted({game_of(key) or "" for key in known}), key="games of the curves", placeholder="choose games"
    )
    return [key for game in chosen for key in known if game_of(key) == game]


def _groups(runs: list[str]) -> list[list[str]]:
    """Runs of equal configuration together; one whose configuration cannot be read is alone."""
    readable, alone = {}, []
    for run in runs:
        try:
            readable[run] = config(run)
        except StorageError:
            alone.append([run])
    return seed_groups(readable) + alone


def _state_line(run: str) -> None:
    found = summary(run)
    status = found.status
    if status is None:
        st.caption(f"**{plain(run)}** · {plain(found.problem or 'has not said anything yet')}")
        return
    parts = [found.state, f"{status.step:,} steps", f"{status.update:,} updates"]
    if found.state == "running":
        parts.append(status.phase)
        parts += [f"{status.steps_per_second:,.0f} steps/s"] if status.steps_per_second else []
        parts += [f"{duration(status.remaining)} left"] if status.remaining >= 0 else []
    elif status.message:
        parts.append(status.message)
    st.caption(" · ".join([f"**{plain(run)}**", *map(plain, filter(None, parts))]))


def _charts(runs: list[str], groups: list[list[str]], look: Look) -> None:
    found = {run: metrics(run) for run in runs}
    if not any(found.values()):
        st.info("No metrics yet. They appear after the first update, and with the first finished rollout.")
        return
    if not look.keys:
        st.info("Choose a metric above.")
    columns = st.columns(COLUMNS, gap="medium")
    for number, key in enumerate(look.keys):
        with columns[number % COLUMNS]:
            _chart(key, {run: series[key] for run, series in found.items() if key in series}, groups, look)


def _chart(key: str, series: dict[str, Series], groups: list[list[str]], look: Look) -> None:
    curves = {
        run: RunCurve(
            run,
            curve(each, look.axis, positive=look.log),
            curve(each, look.axis, look.smoothing, positive=look.log),
        )
        for run, each in series.items()
    }
    if not any(len(each.smoothed.x) for each in curves.values()):
        why = "no value above zero yet, which a log scale needs" if look.log else "no finite value yet"
        st.info(f"{plain(title(key))}: {why}")
        return
    bands = _bands(curves, groups) if look.seeds else {}
    banded = {run for group in groups if len(group) > 1 and group[0] in bands for run in group}
    chart = curve_chart(
        [each for run, each in curves.items() if run not in banded],
        bands,
        {run: colour for run, colour in run_colours(list(curves)).items() if run in bands or run not in banded},
        x_title=look.axis,
        y_title=title(key),
        log=look.log,
        raw=look.smoothing > 0,
    )
    show_chart(chart)
    for group in groups:
        if group[0] in bands:
            st.caption(f"{plain(group[0])} stands for {len(group)} seeds: mean and range of {plain(', '.join(group))}")
    _say_what_is_missing(series)


def _bands(curves: dict[str, RunCurve], groups: list[list[str]]) -> dict[str, Band]:
    """A band for every group whose runs all have this metric, under the name of its first run."""
    bands = {}
    for group in groups:
        if len(group) > 1 and all(run in curves for run in group):
            found = band_of([curves[run].smoothed for run in group])
            bands |= {group[0]: found} if found else {}
    return bands


def _say_what_is_missing(series: dict[str, Series]) -> None:
    """Values that are not finite cannot be drawn; that there are some is news."""
    for run, each in series.items():
        missing = int((~np.isfinite(each.value)).sum())
        if missing:
            st.caption(f":material/warning: {missing:,} of {len(each):,} values of {plain(run)} are not finite")


def _history(runs: list[str]) -> None:
    rows = [(run, event) for run in runs for event in events(run, 50)]
    if not rows:
        return
    with st.expander("What happened"):
        table = [
            {"run": run, "steps": e.step, "updates": e.update, "what": e.kind, "text": e.text}
            for run, e in sorted(rows, key=lambda row: row[1].time, reverse=True)
        ]
        whole = st.column_config.NumberColumn(format="localized")
        st.dataframe(table, hide_index=True, height=240, column_config={"steps": whole, "updates": whole})
