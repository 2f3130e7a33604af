"""The pages Runs, Training and Goals as a browser would get them, on real small runs and in every bad state."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import streamlit as st
from small_runs import crafter_config, make_run, write_metrics, write_state
from streamlit.testing.v1 import AppTest

from store.layout import RunPaths
from store.runs import create_run

OpenPage = Callable[..., AppTest]

APP_FILE = Path(__file__).parents[2] / "dashboard" / "app.py"
RUN = "calm-otter-1"
OURS = ("runs", "training", "goals")
ASPECTS = ("Success", "Technology tree", "Over training", "Failures", "Map")


def texts(app: AppTest) -> str:
    """Everything a page says, in one text."""
    kinds = (app.title, app.subheader, app.caption, app.markdown, app.info, app.warning, app.error, app.code)
    return "\n".join(str(each.value) for kind in kinds for each in kind)


def charts(app: AppTest) -> int:
    return len(app.get("vega_lite_chart")) + len(app.get("arrow_vega_lite_chart"))


def assert_sound(app: AppTest) -> None:
    """No exception reached the page, not even as an apology."""
    assert not app.exception
    assert "Sorry" not in texts(app)


@pytest.mark.parametrize("page", OURS)
def test_an_empty_folder_says_how_to_begin(no_runs: Path, open_page: OpenPage, page: str) -> None:
    app = open_page(page)
    assert_sound(app)
    assert "amago train crafter" in texts(app)


@pytest.mark.parametrize("page", OURS)
def test_a_run_nobody_knows_is_named_and_the_page_goes_on(runs: Path, open_page: OpenPage, page: str) -> None:
    app = open_page(page, run="no-such-run")
    assert_sound(app)
    assert any("no\\-such\\-run" in each.value for each in app.warning)


def test_the_list_has_every_run_and_selects_nothing(runs: Path, open_page: OpenPage) -> None:
    app = open_page("runs")
    assert_sound(app)
    assert set(app.dataframe[0].value["run"]) == {"calm-otter-1", "calm-otter-2", "brisk-fox-3"}
    assert app.multiselect(key="run").value == []


def test_the_list_can_be_searched(runs: Path, open_page: OpenPage) -> None:
    app = open_page("runs").text_input(key="search runs").set_value("FOX").run()
    assert app.dataframe[0].value["run"].tolist() == ["brisk-fox-3"]
    app.text_input(key="search runs").set_value("nothing like it").run()
    assert "No run fits" in texts(app)


def test_chosen_runs_come_from_the_url_and_show_what_differs(runs: Path, open_page: OpenPage) -> None:
    app = open_page("runs", run=["calm-otter-1", "brisk-fox-3"])
    assert_sound(app)
    assert app.multiselect(key="run").value == ["calm-otter-1", "brisk-fox-3"]
    differing = app.dataframe[1].value
    assert differing.loc["env.attempts"].tolist() == ["1", "2"]
    assert "run.seed" not in differing.index


def test_notes_can_be_written(runs: Path, open_page: OpenPage) -> None:
    app = open_page("runs", run=RUN)
    app.text_area(key=f"notes of {RUN}").set_value("a good one")
    app.button(key=f"save notes of {RUN}").click().run()
    assert_sound(app)
    assert (runs / RUN / "notes.md").read_text("utf-8") == "a good one"


def test_curves_survive_values_that_are_not_finite(runs: Path, open_page: OpenPage) -> None:
    app = open_page("training", run=RUN)
    assert_sound(app)
    assert charts(app) == 2
    assert "2 of 60 values" in texts(app)


def test_runs_of_one_configuration_become_a_band(runs: Path, open_page: OpenPage) -> None:
    app = open_page("training", run=["calm-otter-1", "calm-otter-2"])
    assert_sound(app)
    assert "2 seeds" in texts(app)
    app.toggle(key="log scale").set_value(True).run()
    assert_sound(app)


def test_a_run_that_has_said_nothing_yet(runs: Path, open_page: OpenPage) -> None:
    create_run(runs, "young", crafter_config().model_dump(mode="json"))
    st.cache_resource.clear()
    for page in OURS:
        assert_sound(open_page(page, run="young"))
    assert "No metrics yet" in texts(open_page("training", run="young"))
    assert "No rollout is stored yet" in texts(open_page("goals", run="young"))


def test_a_crashed_and_a_running_run_are_told_apart(runs: Path, open_page: OpenPage) -> None:
    write_state(RunPaths(runs / RUN), "running", 500, age=1e4)
    write_state(RunPaths(runs / "calm-otter-2"), "running", 500)
    app = open_page("training", run=["calm-otter-1", "calm-otter-2"])
    assert_sound(app)
    said = [each.value for each in app.caption]
    assert any("calm\\-otter\\-1" in each and "crashed" in each for each in said)
    assert any("calm\\-otter\\-2" in each and "running" in each for each in said)


def test_a_configuration_of_another_version_hides_nothing_else(runs: Path, open_page: OpenPage) -> None:
    path = RunPaths(runs / RUN).config
    record = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(record | {"schema_version": 99, "config": {"env": [1]}}), "utf-8")
    for page in OURS:
        assert_sound(open_page(page, run=[RUN, "brisk-fox-3"]))
    assert "schema version 99" in texts(open_page("runs", run=RUN)).replace("\\", "")


@pytest.mark.parametrize("page", ["runs", "goals"])
def test_a_damaged_shard_is_named(runs: Path, open_page: OpenPage, page: str) -> None:
    RunPaths(runs / RUN).shard("train", 1).write_bytes(b"torn")
    app = open_page(page, run=RUN)
    assert_sound(app)
    assert "000001" in texts(app)


@pytest.mark.parametrize("aspect", ASPECTS)
@pytest.mark.parametrize("source", ["training rollouts", "evaluation episodes"])
def test_every_aspect_of_goals(runs: Path, open_page: OpenPage, aspect: str, source: str) -> None:
    app = open_page("goals", run=["calm-otter-1", "brisk-fox-3"], show=aspect, source=source)
    assert_sound(app)
    has_charts = charts(app) > 0
    assert has_charts != (aspect == "Over training" and source == "evaluation episodes")


def test_text_of_files_is_never_markup(runs: Path, open_page: OpenPage) -> None:
    config = crafter_config().model_dump(mode="json")
    config["task"]["goals"] = "<img src=x onerror=alert(1)> [a](javascript:b)"
    paths = create_run(runs, "hostile", config, {"command": "<script>"})
    write_state(paths, "stopped", 1)
    st.cache_resource.clear()
    for page in OURS:
        app = open_page(page, run="hostile")
        assert_sound(app)
        assert not any(getattr(each, "allow_html", False) for each in app.markdown)


def test_a_record_that_holds_anything_is_listed(runs: Path, open_page: OpenPage) -> None:
    path = create_run(runs, "odd", {"env": 3, "task": None}, {"versions": 7, "command": ["x"]})
    path.status.write_text("[]")
    st.cache_resource.clear()
    assert_sound(open_page("runs", run="odd"))


def test_five_hundred_runs_are_listed(no_runs: Path, open_page: OpenPage) -> None:
    config = crafter_config().model_dump(mode="json")
    for i in range(500):
        create_run(no_runs, f"run-{i}", config)
    write_metrics(RunPaths(no_runs / "run-7"), rows=5, seed=0)
    app = open_page("runs")
    assert_sound(app)
    assert len(app.dataframe[0].value) == 500


def test_an_unexpected_failure_is_an_apology_and_leaves_a_log(
    runs: Path, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("dashboard.views.goals.goal_table", lambda *_: 1 // 0)
    app = open_page("goals", run=RUN)
    assert not app.exception
    assert "Sorry, the page Goals could not be shown" in texts(app)
    assert "ZeroDivisionError" in caplog.text


def test_the_whole_app_opens_on_the_list(runs: Path) -> None:
    app = AppTest.from_file(APP_FILE, default_timeout=60).run()
    assert_sound(app)
    assert app.title[0].value == "Runs"


def test_a_run_that_appears_later_is_shown(no_runs: Path, open_page: OpenPage) -> None:
    app = open_page("runs")
    make_run(no_runs, "late", crafter_config())
    st.cache_resource.clear()
    assert_sound(app.run())
    assert app.dataframe[0].value["run"].tolist() == ["late"]
