"""Runs for the pages, and how a page is opened.

calm-otter-1, calm-otter-2    the same configuration but for the seed; finished, with evaluation and report
brisk-fox-3                   two attempts per rollout, stopped
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

sys.path.insert(0, str(Path(__file__).parent))  # tests import small_runs by name

from small_runs import crafter_config, make_run


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The runs of the head of this file; tests get copies."""
    runs = tmp_path_factory.mktemp("template") / "runs"
    make_run(runs, "calm-otter-1", crafter_config(run__seed=1))
    make_run(runs, "calm-otter-2", crafter_config(run__seed=2))
    make_run(runs, "brisk-fox-3", crafter_config(run__seed=1, env__attempts=2, env__max_steps=40), state="stopped")
    return runs


@pytest.fixture(autouse=True)
def _own_main_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """AppTest leaves its script as `__main__`, which processes spawned by later tests would try to run again."""
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])


def _point_at(runs: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AMAGO_RUNS_DIR", str(runs))
    st.cache_data.clear()
    st.cache_resource.clear()
    return runs


@pytest.fixture
def runs(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the three runs, which the pages show and a test may change."""
    return _point_at(Path(shutil.copytree(template, tmp_path / "runs")), monkeypatch)


@pytest.fixture
def no_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that does not exist yet, which the pages show."""
    return _point_at(tmp_path / "runs", monkeypatch)


OpenPage = Callable[..., AppTest]


def _script(page: str) -> None:
    from dashboard.app import PAGES, show
    from dashboard.guard import guarded
    from dashboard.selection import sidebar

    with guarded("the list of runs"):
        sidebar()
    show(next(entry for entry in PAGES if entry.name == page))


@pytest.fixture
def open_page() -> OpenPage:
    """Open a page as a URL would: open_page("replay", run="calm-otter-1", t=3); AppTest knows no st.navigation."""

    def open_at(page: str, **query: Any) -> AppTest:
        app = AppTest.from_function(_script, args=(page,), default_timeout=60)
        for key, value in query.items():
            app.query_params[key] = [str(each) for each in value] if isinstance(value, list) else str(value)
        return app.run()

    return open_at
