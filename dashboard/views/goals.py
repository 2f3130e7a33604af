"""The page Goals: which goals the chosen runs reach, how that came about, and what stops them."""

from __future__ import annotations

from typing import cast

import pandas as pd
import streamlit as st

from dashboard import goal_charts, goal_figures, selection
from dashboard.goal_figures import TRAVEL
from dashboard.queries import PLACES_FROM, goal_table, place_table, rollout_table, vocabulary_name
from dashboard.references import references
from dashboard.tech_tree import tech_tree
from dashboard.theme import run_colours, show_chart
from dashboard.wording import count, plain
from store.layout import Split

SOURCES = {"evaluation episodes": "eval", "training rollouts": "train"}
ASPECTS = ("Success", "Technology tree", "Over training", "Failures", "Map")
MAX_GOALS = 60  # rows of a chart, the goals with most turns
COLUMNS = 3
FIRST_CURVES = 6


def render() -> None:
    """Draw the page."""
    st.title("Goals")
    if selection.no_runs():
        return
    runs = selection.chosen_runs()
    split, aspect = _controls()
    for run in runs:
        selection.show_problems(run)
    outcomes = _outcomes(runs, split)
    if outcomes.empty:
        _say_there_is_nothing(runs, split)
        return
    draw = {
        "Success": _success,
        "Technology tree": _tree,
        "Over training": _over_training,
        "Failures": _failures,
        "Map": _map,
    }
    draw[aspect](runs, split, outcomes)


def _controls() -> tuple[Split, str]:
    left, right = st.columns([2, 3])
    source = left.segmented_control(
        "Counted over", list(SOURCES), default="training rollouts", key="source", bind="query-params", required=True
    )
    aspect = right.segmented_control(
        "Show", ASPECTS, default=ASPECTS[0], key="show", bind="query-params", required=True
    )
    return cast(Split, SOURCES[source or "training rollouts"]), aspect or ASPECTS[0]


def _outcomes(runs: list[str], split: Split) -> pd.DataFrame:
    """The goals of all runs whose turn came, with the run; Crafter's places to travel to under one name."""
    parts = []
    for run in runs:
        table = goal_table(run, split)
        if vocabulary_name(run, split) == "crafter":
            table = goal_figures.merge_travel(table)
        parts.append(table.assign(run=run))
    return pd.concat(parts, ignore_index=True)


def _say_there_is_nothing(runs: list[str], split: Split) -> None:
    """Why there is no figure: nothing stored yet, or rollouts that carry no instruction."""
    if any(len(rollout_table(run, split)) for run in runs):
        st.info("These rollouts carry no instructions. Their returns are on the page Training.")
    elif split == "eval":
        st.info("No evaluation episode is stored yet. Play some in a terminal:")
        st.code(f"amago eval --checkpoint {runs[0] if runs else 'latest'}", language="bash")
    else:
        st.info("No rollout is stored yet; the first appears within half a minute of training.")


def _success(runs: list[str], split: Split, outcomes: pd.DataFrame) -> None:
    colours = run_colours(runs)
    figures = goal_figures.rates(outcomes, ["run", "words"], "reached")
    order = _order(figures)
    st.subheader("By goal")
    st.caption("How often a goal was reached once its turn in the instruction had come. Whiskers: 95 % (Wilson).")
    shown = figures.loc[figures.words.isin(order[:MAX_GOALS])]
    beside = references() if _crafter(runs, split) else {}
    show_chart(
        goal_charts.success_bars(
            shown,
            "words",
            colours,
            title="goal",
            x_title="reached (share of turns)",
            order=order[:MAX_GOALS],
            references=beside,
        )
    )
    if len(order) > MAX_GOALS:
        st.caption(f"The {MAX_GOALS} goals with most turns, of {len(order)}.")
    for name, reference in beside.items():
        mark = "Framed line" if name == "random" else "Yellow diamond"
        st.caption(f"{mark}: {plain(reference.label)}.")
    if beside:
        st.caption("Bars count turns of a goal, marks count episodes: read them as a scale, not as a contest.")
    _by_length(runs, split, colours)


def _by_length(runs: list[str], split: Split, colours: dict[str, str]) -> None:
    parts = [goal_figures.by_length(rollout_table(run, split)).assign(run=run) for run in runs]
    figures = pd.concat(parts, ignore_index=True)
    lengths = sorted(figures.num_subgoals.unique().tolist())
    figures["goals"] = [count(int(n), "goal") for n in figures.num_subgoals]
    st.subheader("By length of the instruction")
    st.caption("How often the whole instruction was carried out.")
    show_chart(
        goal_charts.success_bars(
            figures,
            "goals",
            colours,
            title="instruction of",
            x_title="carried out (share of rollouts)",
            order=[count(int(n), "goal") for n in lengths],
        )
    )


def _tree(runs: list[str], split: Split, outcomes: pd.DataFrame) -> None:
    if not _crafter(runs, split):
        st.info("Only Crafter has a technology tree.")
        return
    st.caption("What needs what, with how often a goal was reached once its turn had come.")
    for run in runs:
        if len(runs) > 1:
            st.markdown(f"**{plain(run)}**")
        show_chart(tech_tree(goal_figures.rates(outcomes.loc[outcomes.run == run], "words", "reached")))


def _over_training(runs: list[str], split: Split, outcomes: pd.DataFrame) -> None:
    if split == "eval":
        st.info("Evaluation episodes come from single checkpoints; choose training rollouts to see learning.")
        return
    figures = pd.concat(
        [goal_figures.over_training(outcomes.loc[outcomes.run == run]).assign(run=run) for run in runs],
        ignore_index=True,
    )
    order = _order(goal_figures.rates(outcomes, ["run", "words"], "reached"))[:MAX_GOALS]
    chosen = st.multiselect("Goals", order, default=_most_asked(outcomes, order), key="goals of the curves")
    columns = st.columns(COLUMNS)
    for number, goal in enumerate(chosen):
        with columns[number % COLUMNS]:
            show_chart(goal_charts.goal_curves(figures.loc[figures.words == goal], run_colours(runs), goal))
    st.subheader("Every goal")
    st.caption("Empty where a goal never had its turn.")
    for run in runs:
        if len(runs) > 1:
            st.markdown(f"**{plain(run)}**")
        mine = figures.loc[(figures.run == run) & figures.words.isin(order)]
        show_chart(goal_charts.heat_map(mine, [goal for goal in order if goal in set(mine.words)]))


def _failures(runs: list[str], split: Split, outcomes: pd.DataFrame) -> None:
    for run in runs:
        rollouts = rollout_table(run, split)
        figures = goal_figures.failures(rollouts)
        st.markdown(f"**{plain(run)}**: {count(len(rollouts), 'rollout')}, {int(rollouts.completed.sum()):,} completed")
        if figures.empty:
            st.info("No rollout failed.")
        else:
            show_chart(goal_charts.failure_bars(figures))
    st.subheader("What the failed ones were waiting for")
    st.caption("The goal whose turn it was when the rollout ended, the most frequent first.")
    missed = outcomes.loc[~outcomes.reached].groupby(["words", "run"]).size().unstack(fill_value=0)
    st.dataframe(missed.loc[missed.sum(axis=1).sort_values(ascending=False).index].rename_axis("goal"), height=300)


def _map(runs: list[str], split: Split, outcomes: pd.DataFrame) -> None:
    run = selection.chosen_run()
    places = place_table(run, split) if run else pd.DataFrame()
    if places.empty:
        st.info("These observations hold no position; Crafter's symbolic ones do.")
        return
    kinds = {"where rollouts ended": "end", "where goals were reached": "goal"}
    kind = st.segmented_control("Places", list(kinds), default="where rollouts ended", key="places", required=True)
    shown = places.loc[places.event == kinds[kind or "where rollouts ended"]]
    known = shown.what.value_counts().index.tolist()
    chosen = st.multiselect("Only", known, default=known[:8], key=f"only {kind}")
    rollouts = count(min(PLACES_FROM, places.number.nunique()), "rollout")
    st.caption(f"The newest {rollouts}. The player starts at (32, 32).")
    left, _ = st.columns([3, 1])
    with left:
        show_chart(goal_charts.place_map(shown.loc[shown.what.isin(chosen)], f"{run}: {kind}"))


def _crafter(runs: list[str], split: Split) -> bool:
    return any(vocabulary_name(run, split) == "crafter" for run in runs)


def _order(figures: pd.DataFrame) -> list[str]:
    """Goals by their highest rate among the runs, those with many turns first among equals."""
    best = figures.groupby("words").agg(rate=("rate", "max"), trials=("trials", "sum"))
    return best.sort_values(["rate", "trials"], ascending=False).index.tolist()


def _most_asked(outcomes: pd.DataFrame, order: list[str]) -> list[str]:
    frequent = outcomes.words.value_counts().index.tolist()
    return [goal for goal in frequent if goal in order and goal != TRAVEL][:FIRST_CURVES]
