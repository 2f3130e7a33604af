"""What the charts say: every axis has a name, values keep their colours, and any number of rows can be exported."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dashboard.curve_charts import RunCurve, curve_chart
from dashboard.curves import MAX_POINTS, Band, Curve
from dashboard.goal_charts import failure_bars, goal_curves, heat_map, place_map, success_bars
from dashboard.references import references
from dashboard.tech_tree import NEEDS, PLACES, tech_tree
from dashboard.theme import RUN_COLOURS, assign_colours

COLOURS = {"a": RUN_COLOURS[0], "b": RUN_COLOURS[1]}


def channels(spec: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every x and y channel of a chart, with the layers inside it."""
    if isinstance(spec, dict):
        for name, value in spec.get("encoding", {}).items():
            if name in ("x", "y"):
                yield name, value
        for value in spec.values():
            yield from channels(value)
    elif isinstance(spec, list):
        for value in spec:
            yield from channels(value)


def titles(chart: Any, axis: str) -> set[str]:
    """The titles that a chart gives an axis."""
    found = (each for name, each in channels(chart.to_dict()) if name == axis)
    return {title for each in found if (title := (each.get("axis") or {}).get("title") or each.get("title"))}


def wave(points: int) -> Curve:
    return Curve(np.arange(points, dtype=float), np.sin(np.arange(points)))


def figures(**changes: Any) -> pd.DataFrame:
    row = {"run": "a", "words": "place table", "rate": 0.5, "low": 0.2, "high": 0.8, "successes": 2, "trials": 4}
    return pd.DataFrame([row | {"begin": 0, "end": 10, "step": 5, "bin": 0} | changes])


def test_a_curve_chart_names_its_axes() -> None:
    chart = curve_chart([RunCurve("a", wave(9), wave(9))], {}, COLOURS, x_title="updates", y_title="critic loss (nats)")
    assert titles(chart, "x") == {"updates"}
    assert titles(chart, "y") == {"critic loss (nats)"}


@pytest.mark.parametrize("value", [0.0, 0.5, -3.0])
def test_a_flat_curve_has_room_around_it(value: float) -> None:
    flat = Curve(np.arange(9.0), np.full(9, value))
    chart = curve_chart([RunCurve("a", flat, flat)], {}, COLOURS, x_title="x", y_title="y")
    scales = [each["scale"]["domain"] for name, each in channels(chart.to_dict()) if name == "y"]
    assert scales and all(low < value < high for low, high in scales)


def test_a_single_value_is_a_point_that_can_be_seen() -> None:
    once = curve_chart([RunCurve("a", wave(1), wave(1))], {}, COLOURS, x_title="x", y_title="y").to_dict()
    often = curve_chart([RunCurve("a", wave(9), wave(9))], {}, COLOURS, x_title="x", y_title="y").to_dict()
    assert [layer["mark"].get("point", False) for layer in (once["layer"][1], often["layer"][1])] == [True, False]


def test_a_long_curve_is_thinned_and_can_be_exported() -> None:
    lines = [RunCurve(run, wave(50_000), wave(50_000)) for run in COLOURS]
    spec = curve_chart(lines, {}, COLOURS, x_title="x", y_title="y").to_dict()  # no MaxRowsError
    assert all(len(rows) <= MAX_POINTS * len(COLOURS) for rows in spec["datasets"].values())


def test_runs_keep_their_colours() -> None:
    spec = curve_chart([RunCurve("b", wave(5), wave(5))], {}, COLOURS, x_title="x", y_title="y").to_dict()
    scale = spec["layer"][0]["encoding"]["color"]["scale"]
    assert dict(zip(scale["domain"], scale["range"], strict=True)) == COLOURS


def test_a_band_is_drawn_with_its_mean() -> None:
    x = np.arange(3.0)
    chart = curve_chart([], {"a": Band(x, x, x - 1, x + 1)}, COLOURS, x_title="x", y_title="y", log=True)
    marks = [layer["mark"]["type"] for layer in chart.to_dict()["layer"]]
    assert marks == ["area", "line", "point"]


def test_success_bars_say_what_they_count() -> None:
    chart = success_bars(
        figures(),
        "words",
        COLOURS,
        title="goal",
        x_title="reached (share)",
        order=["place table"],
        references=references(),
    )
    spec = chart.to_dict()
    assert {"goal"} == titles(chart, "y")
    assert "reached (share)" in titles(chart, "x")
    assert any(row.get("text") == "50 %  n=4" for rows in spec["datasets"].values() for row in rows)
    beside = [row["rate"] for rows in spec["datasets"].values() for row in rows if "of" in row]
    assert sorted(beside) == [0.04, 1.0]  # the random policy, the published agent


def test_the_other_goal_charts_name_their_axes() -> None:
    places = pd.DataFrame({"number": [1], "t": [3], "x": [30], "y": [31], "event": ["end"], "what": ["time limit"]})
    lost = pd.DataFrame({"cause": ["time limit"], "rollouts": [3], "share": [0.5]})
    for chart in (
        goal_curves(figures(), COLOURS, "place table"),
        heat_map(figures(), ["place table"]),
        failure_bars(lost),
        place_map(places, "a"),
    ):
        assert titles(chart, "x") and titles(chart, "y")


def test_the_tree_has_every_achievement_and_says_where_nothing_is_known() -> None:
    spec = tech_tree(figures()).to_dict()
    nodes = next(rows for rows in spec["datasets"].values() if "goal" in rows[0])
    labels = {node["goal"]: node["label"] for node in nodes}
    assert len(labels) == 22
    assert labels["place table"] == "50 %"
    assert labels["collect wood"] == "no data"


def test_the_tree_only_links_what_it_shows() -> None:
    assert {goal for pair in NEEDS for goal in pair} <= set(PLACES)
    assert len(set(PLACES.values())) == len(PLACES)


def test_colours_differ_while_there_are_enough_and_stay_once_given() -> None:
    names = [f"run-{i}" for i in range(len(RUN_COLOURS))]
    first = assign_colours(names, {})
    assert len(set(first.values())) == len(RUN_COLOURS)
    assert assign_colours(["new", *names[:3]], first).items() >= {name: first[name] for name in names[:3]}.items()
