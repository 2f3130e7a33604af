"""The page Runs: what there is, what differs, and what people noted about it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from zlib import crc32

import pandas as pd
import streamlit as st

from dashboard import selection
from dashboard.configurations import differences, setting
from dashboard.guard import guarded
from dashboard.queries import config, events, newest_metrics, notes, run_list, save_notes, summary
from dashboard.theme import steady
from dashboard.wording import age, count, duration, plain
from store.errors import StorageError
from store.runs import RunSummary

NO_VALUE = None  # an empty cell: no data is never zero
RECENT_EVENTS = 20
VISIBLE_ROWS = 14  # of the table, the others by scrolling


@dataclass(frozen=True)
class Filter:
    """Which runs the table shows; an empty part of it lets everything pass."""

    text: str
    states: tuple[str, ...]
    environments: tuple[str, ...]

    def passes(self, run: RunSummary) -> bool:
        """Whether the table shows this run."""
        return (
            self.text in " ".join((run.name, _environment(run), _instruction(run))).lower()
            and (not self.states or run.state in self.states)
            and (not self.environments or _environment(run) in self.environments)
        )


def render() -> None:
    """Draw the page."""
    st.title("Runs")
    if selection.no_runs():
        return
    steady()
    runs = run_list()
    st.fragment(_table, run_every=selection.REFRESH_SECONDS)(_filter(runs), [each.name for each in runs])
    chosen = list(st.session_state.get(selection.URL_KEY, []))
    if not chosen:
        st.caption("Tick runs in the table, or choose them in the sidebar, to see their details and compare them.")
        return
    if len(chosen) > 1:
        with guarded("the comparison of configurations"):
            _differences(chosen)
    for run in chosen:
        with guarded(f"the run {run}"):
            _details(run, expanded=len(chosen) == 1)


def _filter(runs: list[RunSummary]) -> Filter:
    left, middle, right = st.columns([3, 2, 2])
    text = left.text_input("Search", placeholder="name, instruction, environment", key="search runs").strip().lower()
    states = middle.multiselect("State", sorted({each.state for each in runs}), key="state of runs")
    environments = right.multiselect("Environment", sorted({_environment(each) for each in runs}), key="environment")
    return Filter(text, tuple(states), tuple(environments))


def _table(wanted: Filter, known: list[str]) -> None:
    """The runs as they are now; drawn again by itself, without the filters above and the details below."""
    with guarded("the list of runs"):
        runs = run_list()
        if selection.was_changed() or [each.name for each in runs] != known:
            st.rerun()  # the rest of the page tells of the chosen runs and of those there are
        _draw_table([each for each in runs if wanted.passes(each)])


def _draw_table(runs: list[RunSummary]) -> None:
    if not runs:
        st.info("No run fits the filters.")
        return
    names = [each.name for each in runs]
    chosen = st.session_state.get(selection.URL_KEY, [])
    key = f"table of runs {crc32(' '.join(names).encode())}"  # rows of another table are other runs
    st.dataframe(
        pd.DataFrame([_row(each) for each in runs]),
        hide_index=True,
        key=key,
        on_select=partial(_take_over, key, names),
        selection_mode="multi-row",
        selection_default={"selection": {"rows": [names.index(name) for name in chosen if name in names]}},
        height="auto" if len(runs) <= VISIBLE_ROWS else 36 * VISIBLE_ROWS,
        column_config={
            "steps": st.column_config.NumberColumn(format="localized", help="environment steps"),
            "success": st.column_config.ProgressColumn(
                format="%.0f %%", min_value=0.0, max_value=100.0, help="of the newest training rollouts"
            ),
            "instruction": st.column_config.TextColumn(width="medium"),
        },
    )


def _take_over(key: str, names: list[str]) -> None:
    """The rows that were ticked become the chosen runs of every page."""
    rows = st.session_state[key].selection.rows
    selection.change([names[row] for row in rows if row < len(names)])


def _row(run: RunSummary) -> dict[str, object]:
    success = newest_metrics(run.name).get("rollout/success")
    return {
        "run": run.name,
        "state": run.state,
        "environment": _environment(run),
        "instruction": _instruction(run),
        "steps": run.status.step if run.status else NO_VALUE,
        "success": NO_VALUE if success is None else 100 * success,
        "age": age(run.created),
        "remark": run.problem or (run.status.message if run.status else ""),
    }


def _environment(run: RunSummary) -> str:
    content = run.record.get("config", {})
    return next(filter(None, (setting(content, "env", key) for key in ("id", "target", "name"))), "unknown")


def _instruction(run: RunSummary) -> str:
    return setting(run.record.get("config", {}), "task", "goals")


def _differences(runs: list[str]) -> None:
    """The settings in which the chosen runs differ."""
    configs = {}
    for run in runs:
        try:
            configs[run] = config(run)
        except StorageError as error:
            st.warning(plain(error))
    st.subheader("What differs")
    found = differences(configs)
    if found:
        st.dataframe(pd.DataFrame.from_dict(found, orient="index").rename_axis("setting"))
    elif len(configs) > 1:
        st.caption("These runs have the same configuration.")


def _details(run: str, *, expanded: bool) -> None:
    found = summary(run)
    with st.expander(plain(run), expanded=expanded, icon=":material/science:"):
        if found.problem:
            st.error(plain(found.problem))
        selection.show_problems(run)
        left, right = st.columns([3, 2], gap="large")
        with left:
            st.fragment(_facts, run_every=selection.REFRESH_SECONDS if found.state == "running" else None)(run)
        with right:
            _notes(run)


def _facts(name: str) -> None:
    """What is known of a run by now; drawn again by itself while it is training."""
    with guarded(f"the facts of {name}"):
        run = summary(name)
        _draw_facts(run)
        _draw_events(run)
        with st.popover("Configuration", icon=":material/tune:"):
            st.json(_mapping(run.record.get("config")), expanded=1)


def _draw_facts(run: RunSummary) -> None:
    status = run.status
    facts = {
        "state": run.state,
        "created": f"{run.created[:19].replace('T', ' ')} UTC" if run.created else "",
        "progress": f"{count(status.step, 'step')}, {count(status.update, 'update')}" if status else "no data",
        "trained for": duration(status.elapsed) if status and status.elapsed else "",
        "ended": status.message if status and run.state != "running" else "",
        "instruction": _instruction(run),
        "versions": ", ".join(f"{k} {v}" for k, v in _mapping(run.record.get("versions")).items()),
    }
    st.dataframe(
        [{"": key, "value": str(value)} for key, value in facts.items() if value],
        hide_index=True,
        column_config={"value": st.column_config.TextColumn(width="large")},
    )
    command = str(run.record.get("command", ""))
    if command:
        st.code(command, language=None, wrap_lines=True)


def _draw_events(run: RunSummary) -> None:
    happened = events(run.name, RECENT_EVENTS)
    if happened:
        rows = [{"steps": each.step, "what": each.kind, "text": each.text} for each in reversed(happened)]
        st.dataframe(
            rows,
            hide_index=True,
            height=min(36 * (len(rows) + 1), 220),
            column_config={"steps": st.column_config.NumberColumn(format="localized")},
        )


def _notes(run: str) -> None:
    """Notes are kept as runs/<run>/notes.md. In a form, whose button takes the text as it stands at the click."""
    with st.form(f"form of notes of {run}", border=False):
        text = st.text_area(
            "Notes", notes(run), key=f"notes of {run}", height=180, placeholder="what this run is about"
        )
        if st.form_submit_button("Save notes", key=f"save notes of {run}"):
            save_notes(run, text)
            st.toast("Notes saved.", icon=":material/check:")


def _mapping(value: object) -> dict[str, object]:
    """`value` if it is one: a record of another version may hold anything."""
    return value if isinstance(value, dict) else {}
