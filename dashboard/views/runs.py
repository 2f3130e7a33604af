"""The page Runs: what there is, what differs, and what people noted about it."""

from __future__ import annotations

from functools import partial
from zlib import crc32

import pandas as pd
import streamlit as st

from dashboard import selection
from dashboard.configurations import differences, setting
from dashboard.guard import guarded
from dashboard.queries import config, events, newest_metrics, notes, run_list, save_notes, summary
from dashboard.wording import age, count, duration, plain
from store.errors import StorageError
from store.runs import RunSummary

NO_VALUE = None  # an empty cell: no data is never zero
RECENT_EVENTS = 20
VISIBLE_ROWS = 14  # of the table, the others by scrolling


def render() -> None:
    """Draw the page."""
    st.title("Runs")
    if selection.no_runs():
        return
    shown = _filtered(run_list())
    _table(shown)
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


def _filtered(runs: list[RunSummary]) -> list[RunSummary]:
    left, middle, right = st.columns([3, 2, 2])
    text = left.text_input("Search", placeholder="name, instruction, environment", key="search runs").strip().lower()
    states = middle.multiselect("State", sorted({each.state for each in runs}), key="state of runs")
    environments = right.multiselect("Environment", sorted({_environment(each) for each in runs}), key="environment")
    return [
        each
        for each in runs
        if text in " ".join((each.name, _environment(each), _instruction(each))).lower()
        and (not states or each.state in states)
        and (not environments or _environment(each) in environments)
    ]


def _table(runs: list[RunSummary]) -> None:
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
    st.session_state[selection.URL_KEY] = [names[row] for row in rows if row < len(names)][: selection.MAX_RUNS]


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
    with st.expander(f"{plain(run)} · {plain(found.state)}", expanded=expanded, icon=":material/science:"):
        if found.problem:
            st.error(plain(found.problem))
        selection.show_problems(run)
        left, right = st.columns([3, 2], gap="large")
        with left:
            _facts(found)
        with right:
            _notes(run)


def _facts(run: RunSummary) -> None:
    status = run.status
    facts = {
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
    happened = events(run.name, RECENT_EVENTS)
    if happened:
        rows = [{"steps": each.step, "what": each.kind, "text": each.text} for each in reversed(happened)]
        st.dataframe(rows, hide_index=True, height=min(36 * (len(rows) + 1), 220))
    with st.popover("Configuration", icon=":material/tune:"):
        st.json(_mapping(run.record.get("config")), expanded=1)


def _notes(run: str) -> None:
    """Notes are kept as runs/<run>/notes.md; the button is what writes them."""
    known = notes(run)
    text = st.text_area("Notes", known, key=f"notes of {run}", height=180, placeholder="what this run is about")
    if st.button("Save notes", key=f"save notes of {run}", disabled=text == known):
        save_notes(run, text)
        st.toast("Notes saved.", icon=":material/check:")
        st.rerun()


def _mapping(value: object) -> dict[str, object]:
    """`value` if it is one: a record of another version may hold anything."""
    return value if isinstance(value, dict) else {}
