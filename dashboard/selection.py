"""Which runs the pages show: chosen in the sidebar, kept in the URL (`?run=a&run=b`), the same on every page."""

from __future__ import annotations

import streamlit as st

from dashboard.queries import problems, run_list, runs_dir
from dashboard.theme import run_colours
from dashboard.wording import count, plain

MAX_RUNS = 8  # as many as there are colours
REFRESH_SECONDS = 5.0  # of what follows the runs by itself
URL_KEY = "run"

_CHANGE = "runs to choose"  # key of the session's memory


def sidebar() -> None:
    """The chooser of runs, drawn once by the app for all pages."""
    names = [each.name for each in run_list()]
    if was_changed():
        st.session_state[URL_KEY] = st.session_state.pop(_CHANGE)
    unknown = [name for name in st.query_params.get_all(URL_KEY) if name not in names]
    with st.sidebar:
        st.multiselect(
            "Runs",
            names,
            key=URL_KEY,
            bind="query-params",
            max_selections=MAX_RUNS,
            placeholder="choose runs" if names else "no runs yet",
        )
        st.caption(f"{count(len(names), 'run')} in {plain(runs_dir())}")
    for name in unknown:
        st.warning(f"There is no run '{plain(name)}' here; the page Runs lists what there is.")


def change(names: list[str]) -> None:
    """Choose these runs, at most MAX_RUNS of them, when the page is next drawn as a whole.

    Not at once: the chooser tells the browser, and so the URL, only of what it finds when it is drawn.
    """
    st.session_state[_CHANGE] = names[:MAX_RUNS]


def was_changed() -> bool:
    """Whether other runs were chosen than the page shows."""
    return _CHANGE in st.session_state


def chosen_runs() -> list[str]:
    """The runs to show, at most MAX_RUNS; the newest readable one while none is chosen, [] where there is none."""
    chosen = list(st.session_state.get(URL_KEY, []))
    return chosen or [each.name for each in run_list() if not each.problem][:1]


def chosen_run() -> str | None:
    """The one run of a page that shows one; where several are chosen the page asks which. None without any."""
    names = chosen_runs()
    if len(names) < 2:
        return names[0] if names else None
    picked = st.segmented_control("Run", names, default=names[0], key="one of the chosen runs")
    return picked or names[0]


def no_runs() -> bool:
    """Say how to begin where there is no run yet; whether that was so."""
    if run_list():
        return False
    st.info(f"There are no runs in {plain(runs_dir())} yet. Start one in a terminal:", icon=":material/rocket_launch:")
    st.code('amago train crafter --goals "collect sapling, place plant" --minutes 3', language="bash")
    _await_first_run()
    return True


@st.fragment(run_every=REFRESH_SECONDS)
def _await_first_run() -> None:
    if run_list():
        st.rerun()


def show_problems(name: str) -> None:
    """A notice that names what could not be read of a run, so that nothing goes missing in silence."""
    found = problems(name)
    if found:
        lines = "\n".join(f"- {plain(line)}" for line in found[:5])
        more = f"\n- and {len(found) - 5} more" if len(found) > 5 else ""
        st.warning(f"Some files of {plain(name)} could not be read and are left out:\n{lines}{more}")


def colours() -> dict[str, str]:
    """The colours of the chosen runs."""
    return run_colours(chosen_runs())
