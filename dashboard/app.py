"""The table of pages, and what they share: navigation, the chooser of runs, the guard.

`amago dashboard` starts it as `streamlit run dashboard/app.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from importlib import import_module

import streamlit as st

from dashboard import selection
from dashboard.guard import guarded
from dashboard.theme import ICON_FILE


@dataclass(frozen=True)
class PageEntry:
    """A page: its module in dashboard/views, which is also its place in the URL. The first one is at the root too."""

    name: str
    title: str
    icon: str


PAGES = (
    PageEntry("runs", "Runs", ":material/list:"),
    PageEntry("training", "Training", ":material/show_chart:"),
    PageEntry("goals", "Goals", ":material/flag:"),
    PageEntry("games", "Games", ":material/casino:"),
    PageEntry("replay", "Replay", ":material/play_circle:"),
    PageEntry("attempts", "Attempts", ":material/repeat:"),
    PageEntry("compare", "Compare", ":material/compare_arrows:"),
    PageEntry("evaluations", "Evaluations", ":material/fact_check:"),
)


def main() -> None:
    """Draw the page that the URL names."""
    st.set_page_config(page_title="amago", page_icon=str(ICON_FILE), layout="wide")
    page = st.navigation([*map(_page, PAGES), _first_by_name()])
    with guarded("the list of runs"):
        selection.sidebar()
    page.run()


def _page(entry: PageEntry) -> st.Page:
    is_first = entry is PAGES[0]  # at the root: its name in the URL is a page of its own
    path = "home" if is_first else entry.name
    return st.Page(partial(show, entry), title=entry.title, icon=entry.icon, url_path=path, default=is_first)


def _first_by_name() -> st.Page:
    """Streamlit gives the default page no name in the URL; a link that spells it out must lead there all the same."""
    first = PAGES[0]
    return st.Page(partial(show, first), title=first.title, url_path=first.name, visibility="hidden")


def show(entry: PageEntry) -> None:
    """One page, guarded. Its module is loaded only now: a page that is broken must not take the others with it."""
    with guarded(f"the page {entry.title}"):
        import_module(f"dashboard.views.{entry.name}").render()


if __name__ == "__main__":
    main()
