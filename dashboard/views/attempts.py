"""The page Attempts: does the agent do better when it tries again? First against later attempts, and side by side."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from agent.reports.statistics import paired_difference
from dashboard import queries
from dashboard.player import pairs as pairing
from dashboard.player.beside import beside
from dashboard.player.pairs import MEASURES
from dashboard.selection import chosen_run, no_runs, show_problems
from dashboard.theme import show_chart
from dashboard.wording import NO_DATA, count, plain
from store.layout import SPLITS, Split

MAX_ROLLOUTS = 200  # the newest ones of a split, whose steps have to be read


def render() -> None:
    """Draw the page."""
    st.title("Attempts")
    name = None if no_runs() else chosen_run()
    if name is None:
        return
    show_problems(name)
    there: list[Split] = [split for split in SPLITS if len(queries.rollout_table(name, split))]
    if not there:
        st.info(f"Run {plain(name)} has no finished episode yet, so there is nothing to compare.")
        return
    row = st.container(horizontal=True, vertical_alignment="bottom")
    key = f"attempts split {name}"
    st.session_state.setdefault(key, there[-1])
    with row:
        split = st.segmented_control("Episodes of", there, key=key, required=True) or there[-1]
    table = _of_one_game(row, queries.rollout_table(name, split))
    attempts = _attempts(name, split, _stamp(table))
    most = int(attempts["attempt"].to_numpy().max()) + 1
    if most > 1:
        _compare(row, name, split, table, attempts, most)
        return
    repeats = pairing.most_repeats(table)
    if repeats > 1:
        _compare(row, name, split, table, None, repeats)
        return
    st.info(
        "Nothing was tried twice here: no rollout has a second whole attempt, and no world was played twice with one "
        "instruction. Train with several attempts, for example `amago train crafter --attempts 2`."
    )


def _of_one_game(row: DeltaGenerator, table: pd.DataFrame) -> pd.DataFrame:
    """The rows of the game that is chosen: what is compared is averaged, and games pay in different units."""
    games = sorted(set(table["game"]) - {""})
    if not games:
        return table
    game = row.selectbox("Game", games, key="attempts game", width=220)
    return table.loc[table["game"] == game]


def _compare(
    row: DeltaGenerator, name: str, split: Split, table: pd.DataFrame, attempts: pd.DataFrame | None, most: int
) -> None:
    """The pairs of the rollouts of `table`: of `attempts` within them, or without those of episodes in one world."""
    first, second = _which(row, most)
    measure = row.segmented_control("Compare", list(MEASURES), default="return", required=True, key="attempts measure")
    if attempts is None:
        pairs = pairing.across(table, first, second, MEASURES[measure])
    else:
        newest = table.tail(MAX_ROLLOUTS)
        tasks = dict(zip(newest["number"], newest.apply(pairing.task_name, axis=1), strict=True))
        pairs = pairing.within(attempts, tasks, first, second, MEASURES[measure])
    if pairs.empty:
        st.info(f"No task has both attempt {first + 1} and attempt {second + 1}.")
        return
    noun = "episode" if attempts is None else "attempt"
    _summary(pairs, (f"{noun} {first + 1}", f"{noun} {second + 1}"), measure)
    if attempts is not None:
        st.caption(f"The newest {MAX_ROLLOUTS} rollouts at most, without attempts that the end of a rollout cut short.")
    _side_by_side(name, split, pairs)


def _which(row: DeltaGenerator, most: int) -> tuple[int, int]:
    """The two attempts to compare, from 0."""
    options = range(most)
    first = row.selectbox("First", options, format_func=lambda i: f"{i + 1}", key="attempts first", width=90)
    later = [i for i in options if i != first]
    second = row.selectbox("Second", later, format_func=lambda i: f"{i + 1}", key="attempts second", width=90)
    return first, second


def _summary(pairs: pd.DataFrame, names: tuple[str, str], measure: str) -> None:
    """The means, their difference with its interval, and two charts."""
    difference = paired_difference(pairs["b"].to_numpy(), pairs["a"].to_numpy())
    columns = st.columns(4)
    columns[0].metric("Tasks played twice", f"{len(pairs):,}")
    columns[1].metric(f"Mean {measure}, {names[0]}", f"{pairs['a'].mean():.3g}")
    columns[2].metric(f"Mean {measure}, {names[1]}", f"{pairs['b'].mean():.3g}")
    columns[3].metric("Mean difference", f"{difference.value:+.3g}")
    interval = difference.interval
    gains = pairs["difference"].to_numpy(np.float64)
    spread = f"{interval[0]:+.3g} to {interval[1]:+.3g}" if interval else NO_DATA
    more, less = int((gains > 0).sum()), int((gains < 0).sum())
    st.markdown(
        f"Second minus first, task by task: **{difference.value:+.3g}** (95 % bootstrap interval: {spread}). "
        f"More in {count(more, 'task')}, less in {less:,}, the same in {len(pairs) - more - less:,}."
    )
    left, right = st.columns(2, gap="large")
    with left:
        show_chart(pairing.slopes(pairs, names, measure))
    with right:
        show_chart(pairing.differences(pairs, measure, difference.value, interval))
        st.caption("A bar for each task; the line is their mean, the band its 95 % interval.")


def _side_by_side(name: str, split: Split, pairs: pd.DataFrame) -> None:
    """One pair in the player; at first the one with the largest difference."""
    st.subheader("Side by side")
    ranked = pairs.sort_values("difference", key=abs, ascending=False, kind="stable").to_dict("records")
    labels = [f"{pair['task']} ({pair['a']:.4g}, then {pair['b']:.4g})" for pair in ranked]
    at = st.selectbox("Task, largest difference first", range(len(ranked)), format_func=lambda i: labels[i])
    chosen = ranked[at or 0]
    which = [(int(chosen[f"number_{side}"]), int(chosen[f"attempt_{side}"])) for side in "ab"]
    beside(name, split, which)


def _stamp(table: pd.DataFrame) -> tuple[tuple[float, ...], ...]:
    """What identifies the newest rollouts: numbers, steps and returns."""
    newest = table.tail(MAX_ROLLOUTS)
    return tuple(newest[["number", "step", "ret"]].itertuples(index=False, name=None))


@st.cache_data(max_entries=16, show_spinner="reading attempts")
def _attempts(name: str, split: Split, stamp: tuple[tuple[float, ...], ...]) -> pd.DataFrame:
    found = queries.trajectories(name, split, (int(number) for number, *_ in stamp))
    return pairing.attempts_table((each.info.number, each) for each in found)
