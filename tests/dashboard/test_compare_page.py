"""The page Compare, opened as a browser would, and the tables and charts behind it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from agent.reports.comparison import Group
from agent.reports.scores import Scores
from agent.reports.statistics import Estimate, performance_profile
from dashboard import comparison_charts, comparison_data
from store.errors import StorageError

CONDITIONS = (("environment", "crafter (size 9)"), ("suite", "goals"), ("seed", "0"), ("actions", "sampled"))


def scores(run: str, *rows: float, measure: Any = "success") -> Scores:
    """One task per row, two worlds each with the same score."""
    episodes = {(f"task {k}", world): row for k, row in enumerate(rows) for world in (1, 3)}
    return Scores(run, 1, (*CONDITIONS, ("interrupted", "no")), measure, episodes)


def text(app: Any) -> str:
    """Everything in words on a page."""
    parts = (app.markdown, app.caption, app.info, app.warning, app.error, app.subheader, app.code)
    return "\n".join(element.value for part in parts for element in part)


def reports(runs: Path, run: str) -> list[Path]:
    return sorted((runs / run / "reports").glob("*.json"))


def test_seeds_of_one_configuration_are_one_group(runs: Path, open_page: Any) -> None:
    app = open_page("compare", run=["calm-otter-1", "calm-otter-2"])
    assert not app.exception and not app.error
    assert "One group only" in text(app)
    assert "Fewer than 5 runs" in text(app)


def test_runs_of_different_configurations_are_compared(runs: Path, open_page: Any) -> None:
    record = json.loads((runs / "calm-otter-2" / "config.json").read_text())
    record["config"]["optimizer"]["batch_size"] = 7
    (runs / "calm-otter-2" / "config.json").write_text(json.dumps(record))
    app = open_page("compare", run=["calm-otter-1", "calm-otter-2"])
    assert not app.exception and not app.error
    titles = [element.value for element in app.subheader]
    assert titles == [
        "Over all tasks",
        "By instruction",
        "Performance profiles",
        "Probability of improvement",
        "Paired differences",
    ]
    assert "another seed may turn the result round" in text(app)
    assert "say nothing about other seeds" in text(app)


def test_every_run_alone(runs: Path, open_page: Any) -> None:
    app = open_page("compare", run=["calm-otter-1", "calm-otter-2"])
    app.segmented_control(key="groups").set_value("every run alone").run()
    assert not app.exception and not app.error
    assert "Probability of improvement" in [element.value for element in app.subheader]


def test_normalised_return_falls_back_in_words(runs: Path, open_page: Any) -> None:
    app = open_page("compare", run=["calm-otter-1", "calm-otter-2"])
    app.segmented_control(key="score or success").set_value("normalised return").run()
    assert not app.exception and not app.error  # agent and random are the same in these reports: nothing to scale by
    assert "nothing to scale by" in text(app)


def test_without_reports_it_says_how_to_make_one(runs: Path, open_page: Any) -> None:
    shutil.rmtree(runs / "calm-otter-1" / "reports")
    app = open_page("compare", run="calm-otter-1")
    assert not app.exception and not app.error
    assert "amago eval --checkpoint calm-otter-1" in text(app)


def test_without_runs_it_says_how_to_begin(no_runs: Path, open_page: Any) -> None:
    app = open_page("compare")
    assert not app.exception and not app.error
    assert "amago train" in text(app)


@pytest.mark.parametrize("content", ["{", "[]", '{"agent": {}}', '{"agent": {"episodes": 3}, "header": []}'])
def test_damaged_reports_are_named_and_left_out(runs: Path, open_page: Any, content: str) -> None:
    reports(runs, "calm-otter-2")[0].write_text(content)
    app = open_page("compare", run=["calm-otter-1", "calm-otter-2"])
    assert not app.exception and not app.error
    assert "calm" in text(app) and "Not evaluated so, left out" in text(app)


def test_other_conditions_are_another_choice(runs: Path, open_page: Any) -> None:
    report = reports(runs, "calm-otter-2")[0]
    document = json.loads(report.read_text())
    report.write_text(json.dumps({**document, "header": {**document["header"], "seed": 9}}))
    app = open_page("compare", run=["calm-otter-1", "calm-otter-2"])
    assert not app.exception and not app.error
    assert len(app.selectbox(key="evaluation compared").options) == 2


def test_normalised_scores_by_hand() -> None:
    def document(run: str, agent: float, random: float) -> dict[str, Any]:
        def results(value: float) -> dict[str, Any]:
            row = {"instruction": "wood", "seed": 1, "completed": False, "episode_return": value}
            return {"episodes": [row, {**row, "seed": 3}, {**row, "instruction": "iron", "episode_return": 0.0}]}

        header = {"suite": "goals", "step": 1, "settings": {}, "environment": "x", "seed": 0, "policy": "sampled"}
        return {"header": {**header, "interrupted": False}, "agent": results(agent), "random": results(random)}

    ways, problems = comparison_data.evaluations({"a": [document("a", 5.0, 1.0)], "b": [document("b", 3.0, 1.0)]})
    assert problems == [] and list(ways[0].documents) == ["a", "b"]
    first, second = comparison_data.normalised_groups(ways[0], {})
    assert first.matrix.tolist() == [[1.0]]  # iron is left out: nobody is better than random there
    assert second.matrix.tolist() == [[0.5]]
    with pytest.raises(StorageError, match="nothing to scale by"):
        comparison_data.normalised_groups(comparison_data.evaluations({"a": [document("a", 1.0, 1.0)]})[0][0], {})


def test_the_newest_report_of_a_way_counts() -> None:
    def document(outcome: bool) -> dict[str, Any]:
        row = {"instruction": "wood", "seed": 1, "completed": outcome, "episode_return": 0.0}
        header = {"suite": "goals", "step": 1, "settings": {}, "environment": "x", "seed": 0, "policy": "sampled"}
        return {"header": {**header, "interrupted": False}, "agent": {"episodes": [row]}}

    (way,), _ = comparison_data.evaluations({"a": [document(False), document(True)]})
    assert comparison_data.success_groups(way, {})[0].matrix.tolist() == [[1.0]]


def test_intervals_are_over_runs_where_there_are_several() -> None:
    several = Group("two", (scores("a", 0.0, 1.0), scores("b", 1.0, 1.0)))
    table = comparison_data.task_table([several, Group("one", (scores("c", 1.0, 0.0),))])
    assert table["over"].tolist() == ["runs", "runs", "worlds", "worlds"]
    assert table["value"].tolist() == [0.5, 1.0, 1.0, 0.0]
    assert table.loc[2, "low"] == pytest.approx(0.342, abs=1e-3)  # Wilson of 2 of 2


COLOURS = {"a": "#111111", "b": "#222222"}


def test_charts_are_valid_and_name_their_axes() -> None:
    estimates = {"IQM": Estimate(0.5, (0.25, 0.75)), "mean": Estimate(0.5, None)}
    aggregates = comparison_data.aggregate_table({"a": estimates, "b": estimates})
    plot = comparison_charts.aggregate_plots(aggregates, COLOURS, percent=True).to_dict()
    assert len(plot["hconcat"]) == 2 and "IQM" in json.dumps(plot)
    tasks = pd.DataFrame(
        [{"task": "wood", "group": g, "value": 0.5, "low": 0.1, "high": None, "over": "runs"} for g in COLOURS]
    )
    assert "success" in json.dumps(
        comparison_charts.task_plot(tasks, COLOURS, x_title="success", percent=True).to_dict()
    )
    profiles = {name: performance_profile(np.array([[0.2, 0.8], [0.4, 0.9]]), [0.0, 0.5, 1.0]) for name in COLOURS}
    chart = comparison_charts.profile_plot(profiles, COLOURS, x_title="score above", y_title="share", percent=True)
    assert "score above" in json.dumps(chart.to_dict())
    difference = tasks.assign(group="difference").iloc[:1]
    shown = comparison_charts.difference_plot(difference, x_title="difference", percent=False).to_dict()
    assert "wood" in json.dumps(shown)
