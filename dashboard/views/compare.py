"""The page Compare: what the evaluations of several runs allow to say, and what they do not.

Runs with the same configuration apart from the seed are one group; intervals over training runs need several of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from agent.reports.comparison import Group, compare, notes, summarise
from agent.reports.scores import WORLDS
from agent.reports.statistics import Profile, performance_profile, probability_of_improvement
from dashboard import comparison_charts, comparison_data, selection
from dashboard.comparison_data import Evaluation
from dashboard.guard import guarded
from dashboard.queries import config, reports
from dashboard.theme import run_colours, show_chart
from dashboard.wording import count, plain
from store.errors import StorageError

RETURN = "normalised return"
SEEDS, RUNS = "same configuration together", "every run alone"
THRESHOLDS = 101


def render() -> None:
    """Draw the page."""
    st.title("Compare")
    if selection.no_runs():
        return
    runs = selection.chosen_runs()
    for run in runs:
        selection.show_problems(run)
    ways, problems = comparison_data.evaluations({run: reports(run) for run in runs})
    for line in problems:
        st.warning(plain(line))
    if not ways:
        _say_how_to_evaluate(runs)
        return
    way = _choose(ways, runs)
    groups, words, percent = _groups(way)
    colours = _colours(groups)
    remarks = notes(groups)
    if remarks:
        st.warning("\n".join(f"- {plain(remark)}" for remark in remarks), icon=":material/priority_high:")
    if len(groups) == 1:
        st.info("One group only: choose more runs in the sidebar to compare.", icon=":material/compare_arrows:")
    with guarded("the aggregates"):
        _aggregates(groups, colours, words, percent)
    with guarded("the scores by task"):
        _tasks(groups, colours, words, percent)
    with guarded("the performance profiles"):
        _profiles(groups, colours, words, percent)
    if len(groups) > 1:
        with guarded("the probability of improvement"):
            _improvement(groups)
        with guarded("the differences"):
            _differences(groups, words, percent)


def _say_how_to_evaluate(runs: Sequence[str]) -> None:
    st.info("None of the chosen runs was evaluated yet. In a terminal:", icon=":material/fact_check:")
    st.code("\n".join(f"amago eval --checkpoint {run}" for run in runs), language="bash")


def _choose(ways: Sequence[Evaluation], runs: Sequence[str]) -> Evaluation:
    """The evaluation to compare; runs that have none like it are named."""
    labels = [f"{way.label} ({count(len(way.documents), 'run')})" for way in ways]
    place = st.selectbox("Evaluation", range(len(ways)), format_func=labels.__getitem__, key="evaluation compared")
    way = ways[place or 0]
    missing = [run for run in runs if run not in way.documents]
    if missing:
        st.caption(f"Not evaluated so, left out: {plain(', '.join(missing))}.")
    return way


def _groups(way: Evaluation) -> tuple[list[Group], str, bool]:
    """The groups to compare, the name of their scores, and whether these are shares."""
    left, right = st.columns(2)
    # Games may come with a scale of their own, whose name is RETURN too: then there is nothing else to choose.
    own: str = comparison_data.success_groups(way, {})[0].scores[0].measure
    measure = left.segmented_control(
        "Score", list(dict.fromkeys((own, RETURN))), default=own, key=f"score or {own}", required=True
    )
    together = right.segmented_control("Groups", (SEEDS, RUNS), default=SEEDS, key="groups", required=True)
    configs = _configs(way.documents) if together == SEEDS else {}
    if measure != own:
        try:
            st.caption("On each task 0 is the random policy in the same worlds, 1 the best of these runs.")
            return comparison_data.normalised_groups(way, configs), RETURN, False
        except StorageError as error:
            st.warning(f"{plain(error)} Shown instead: {own}.")
    return comparison_data.success_groups(way, configs), own, own == "success"


def _configs(runs: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    found = {}
    for run in runs:
        try:
            found[run] = config(run)
        except StorageError as error:
            st.warning(plain(error))
    return found


def _colours(groups: Sequence[Group]) -> dict[str, str]:
    by_run = run_colours([group.scores[0].run for group in groups])
    return {group.name: by_run[group.scores[0].run] for group in groups}


def _aggregates(groups: Sequence[Group], colours: Mapping[str, str], words: str, percent: bool) -> None:
    st.subheader("Over all tasks")
    tasks = groups[0].scores[0].tasks
    kind = (
        "all worlds as one task"
        if tasks == (WORLDS,)
        else count(len(tasks), comparison_data.task_noun(groups[0].scores[0]))
    )
    st.caption(
        f"{words.capitalize()} over {kind}. IQM is the mean of the middle half of all scores of runs and tasks; "
        "intervals are 95 %, from the stratified bootstrap over training runs. More is better, but not for the gap."
    )
    table = comparison_data.aggregate_table({group.name: summarise(group).aggregates for group in groups})
    show_chart(comparison_charts.aggregate_plots(table, colours, percent=percent), key="aggregates")
    with st.expander("As a table"):
        seeds = {group.name: len(group.scores) for group in groups}
        members = {group.name: ", ".join(each.run for each in group.scores) for group in groups}
        names = table["group"].tolist()
        shown = table.assign(seeds=[seeds[name] for name in names], runs=[members[name] for name in names])
        st.dataframe(shown, hide_index=True)


def _tasks(groups: Sequence[Group], colours: Mapping[str, str], words: str, percent: bool) -> None:
    if groups[0].scores[0].tasks == (WORLDS,):
        return
    st.subheader(f"By {comparison_data.task_noun(groups[0].scores[0])}")
    table = comparison_data.task_table(groups)
    over = " and ".join(sorted(set(table["over"])))
    st.caption(f"Mean {words} with 95 % intervals over {over}.")
    show_chart(comparison_charts.task_plot(table, colours, x_title=words, percent=percent), key="by task")


def _profiles(groups: Sequence[Group], colours: Mapping[str, str], words: str, percent: bool) -> None:
    st.subheader("Performance profiles")
    kinds = {"runs and tasks": False, "tasks, runs averaged": True}
    kind = st.segmented_control("Share of", list(kinds), default="runs and tasks", key="profile of", required=True)
    average = kinds[kind or "runs and tasks"]
    scores = np.concatenate([group.matrix.ravel() for group in groups])
    low, high = (0.0, 1.0) if percent else (float(scores.min()), float(scores.max()))
    thresholds = np.linspace(low, high if high > low else low + 1, THRESHOLDS)
    profiles = {group.name: _profile(group.matrix, thresholds, average) for group in groups}
    st.caption("How many scores exceed each threshold: higher is better. Bands, for groups of several runs, are 95 %.")
    chart = comparison_charts.profile_plot(
        profiles, colours, x_title=f"{words} above", y_title=f"share of {kind}", percent=percent
    )
    show_chart(chart, key="profiles")


@st.cache_data(max_entries=32, show_spinner="resampling runs")
def _profile(matrix: np.ndarray, thresholds: np.ndarray, average: bool) -> Profile:
    return performance_profile(matrix, thresholds, average_runs=average)


def _improvement(groups: Sequence[Group]) -> None:
    st.subheader("Probability of improvement")
    st.caption("How often a run of the row beats a run of the column on a task, a tie counting half.")
    rows = []
    for first in groups:
        for second in groups:
            if first is not second:
                estimate = probability_of_improvement(first.matrix, second.matrix)
                bounds = "{:.0%} to {:.0%}".format(*estimate.interval) if estimate.interval else "single run"
                text = f"{estimate.value:.0%}"
                pair = {"first": first.name, "second": second.name}
                rows.append({**pair, "value": estimate.value, "text": text, "interval": bounds})
    chart = comparison_charts.improvement_matrix(pd.DataFrame(rows), [group.name for group in groups])
    show_chart(chart, key="improvement")


def _differences(groups: Sequence[Group], words: str, percent: bool) -> None:
    st.subheader("Paired differences")
    left, right = st.columns(2)
    names = [group.name for group in groups]
    first = left.selectbox("Runs", names, key="difference of")
    second = right.selectbox("minus", [name for name in names if name != first], key="difference from")
    chosen = [group for name in (first, second) for group in groups if group.name == name]
    comparison = compare(chosen)
    (pair,) = comparison.pairs
    table = pd.DataFrame(
        [
            {
                "task": task,
                "group": "difference",
                "value": estimate.value,
                "low": estimate.interval[0] if estimate.interval else None,
                "high": estimate.interval[1] if estimate.interval else None,
            }
            for task, estimate in zip(("all", *comparison.tasks), (pair.overall, *pair.tasks), strict=True)
        ]
    )
    over = "training runs" if pair.over == "runs" else "worlds, the same for both; they say nothing about other seeds"
    st.caption(f"Difference in {words}, right of the line {plain(pair.first)} is ahead; 95 % intervals over {over}.")
    chart = comparison_charts.difference_plot(table, x_title=f"difference in {words}", percent=percent)
    show_chart(chart, key="differences")
