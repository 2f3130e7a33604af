"""The page Evaluations, opened as a browser would, and the tables behind it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from dashboard import report_tables

EVIL = "<script>alert(1)</script> [x](http://evil.example)"


def text(app: Any) -> str:
    """Everything in words on a page."""
    parts = (app.markdown, app.caption, app.info, app.warning, app.error, app.subheader, app.code)
    return "\n".join(element.value for part in parts for element in part)


def report(runs: Path, run: str = "calm-otter-1") -> Path:
    return next((runs / run / "reports").glob("*.json"))


def rewrite(path: Path, **changes: Any) -> dict[str, Any]:
    document = {**json.loads(path.read_text()), **changes}
    path.write_text(json.dumps(document))
    return document


def test_a_report_with_tables_and_downloads(runs: Path, open_page: Any) -> None:
    path = report(runs)
    path.with_suffix(".html").write_text("<!doctype html>")
    app = open_page("evaluations", run="calm-otter-1")
    assert not app.exception and not app.error
    document = json.loads(path.read_text())
    overview, totals, instructions, *_ = [each.value for each in app.dataframe]
    assert overview["report"].tolist() == [path.name]
    assert totals["policy"].tolist() == ["agent", "random"]
    assert totals["n"].tolist() == [8, 8]
    rates = [row["success"]["rate"] for row in document["agent"]["instructions"]]
    assert instructions["success"].tolist() == pytest.approx(rates, abs=1e-3)
    assert [button.label for button in app.get("download_button")] == ["JSON", "HTML page"]
    assert [tab.label for tab in app.tabs] == ["Instructions", "Goals", "Attempts", "Episodes", "How it was made"]
    assert "not over training seeds" in text(app)


def test_without_instructions_there_is_no_tab_for_them(runs: Path, open_page: Any) -> None:
    path = report(runs)
    agent = json.loads(path.read_text())["agent"]
    rewrite(path, agent=agent | {"instructions": [], "goals": []})
    app = open_page("evaluations", run="calm-otter-1")
    assert not app.exception and not app.error
    assert [tab.label for tab in app.tabs] == ["Attempts", "Episodes", "How it was made"]


def test_a_run_of_several_attempts(runs: Path, open_page: Any) -> None:
    app = open_page("evaluations", run="brisk-fox-3")
    assert not app.exception and not app.error
    assert "Each task was played once" not in text(app)


def test_one_attempt_needs_no_chart(runs: Path, open_page: Any) -> None:
    assert "--k-attempts 3" in text(open_page("evaluations", run="calm-otter-1"))


def test_without_reports_it_says_how_to_make_one(runs: Path, open_page: Any) -> None:
    shutil.rmtree(runs / "calm-otter-1" / "reports")
    app = open_page("evaluations", run="calm-otter-1")
    assert not app.exception and not app.error
    assert "amago eval --checkpoint calm-otter-1" in text(app)


def test_without_runs_it_says_how_to_begin(no_runs: Path, open_page: Any) -> None:
    app = open_page("evaluations")
    assert not app.exception and not app.error
    assert "amago train" in text(app)


@pytest.mark.parametrize(
    "changes",
    [
        {"header": None},
        {"header": {"settings": 3, "step": "many", "sha256": [], "interrupted": True}},
        {"agent": {}},
        {"agent": {"success": 3, "returns": [], "causes": None, "instructions": [1], "goals": {}, "episodes": "x"}},
        {"agent": {"attempts": [{"number": 1, "success": {"trials": 2, "interval": [0]}}, {"number": 2}]}},
        {"agent": {"instructions": [{"text": EVIL, "success": {"rate": 1.0, "trials": 1, "interval": [0.2, 1.0]}}]}},
        {"random": "nobody"},
        {"random": {"instructions": [{"text": ["a"], "success": None}]}},
    ],
)
def test_strange_reports_never_break_the_page(runs: Path, open_page: Any, changes: dict[str, Any]) -> None:
    rewrite(report(runs), **changes)
    app = open_page("evaluations", run="calm-otter-1")
    assert not app.exception and not app.error, text(app)


def test_a_damaged_report_is_named(runs: Path, open_page: Any) -> None:
    report(runs).write_text("{")
    app = open_page("evaluations", run="calm-otter-1")
    assert not app.exception and not app.error
    assert "could not be read" in text(app)


def test_an_interrupted_evaluation_says_so(runs: Path, open_page: Any) -> None:
    document = json.loads(report(runs).read_text())
    rewrite(report(runs), header={**document["header"], "interrupted": True})
    assert "Interrupted: episodes are missing" in text(open_page("evaluations", run="calm-otter-1"))


def test_episodes_lead_to_their_replay() -> None:
    rows = [{"number": 7, "seed": 3, "cause": "completed", "completed": True}, {"number": None}, {"number": True}]
    table = report_tables.episodes({"agent": {"episodes": rows}}, "a run&x")
    assert table["replay"][0] == "./replay?run=a+run%26x&split=eval&ep=7&t=0"
    assert table["replay"].isna().tolist() == [False, True, True]


def test_random_stands_beside_the_same_instruction() -> None:
    def entry(words: str, rate: float) -> dict[str, Any]:
        tally = {"rate": rate, "trials": 4, "successes": int(4 * rate), "interval": [0.0, 1.0]}
        return {"text": words, "success": tally}

    document = {
        "agent": {"instructions": [entry("wood", 0.75), entry("iron", 0.5)]},
        "random": {"instructions": [entry("iron", 0.25)]},
    }
    table = report_tables.instructions(document)
    assert table["random"].tolist()[1] == 0.25 and table["random"].isna().tolist() == [True, False]
    rates = report_tables.rates(document, "instructions", "success")
    assert rates[["run", "text", "successes"]].values.tolist() == [
        ["agent", "wood", 3],
        ["agent", "iron", 2],
        ["random", "iron", 1],
    ]
