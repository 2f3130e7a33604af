"""The page Attempts: pairs within rollouts and across episodes, their difference, and both side by side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from streamlit.testing.v1 import AppTest

from store.layout import RunPaths
from store.rollouts import RolloutReader, RolloutWriter
from store.runs import create_run
from store.trajectory import Trajectory

OpenPage = Callable[..., AppTest]


def texts(app: AppTest) -> str:
    """Everything the page says in words."""
    assert not app.exception and not app.error, [each.value for each in app.error]
    kinds = ("header", "subheader", "markdown", "caption", "info", "warning")
    return "\n".join(each.value for kind in kinds for each in getattr(app, kind))


def stored(runs: Path, name: str) -> list[Trajectory]:
    return list(RolloutReader(RunPaths(runs / name).rollouts("eval")))


def metrics(app: AppTest) -> list[str]:
    return [metric.value for metric in app.metric]


def test_attempts_within_rollouts(runs: Path, open_page: OpenPage) -> None:
    app = open_page("attempts", run="brisk-fox-3")
    text = texts(app)
    attempts = [each.attempts for each in stored(runs, "brisk-fox-3") if len(each.attempts) > 1]
    differences = [second.ret - first.ret for first, second in attempts]
    assert metrics(app)[0] == str(len(attempts))
    assert metrics(app)[3] == f"{np.mean(differences):+.3g}"
    assert "95 % bootstrap interval" in text
    assert f"More in {sum(d > 0 for d in differences)} task" in text


def test_another_measure_and_the_other_order(runs: Path, open_page: OpenPage) -> None:
    app = open_page("attempts", run="brisk-fox-3")
    before = metrics(app)
    app.selectbox(key="attempts first").select_index(1).run()
    assert metrics(app)[1:3] == before[2:0:-1]
    app.segmented_control(key="attempts measure").select("steps").run()
    lengths = [each.attempts[1].length for each in stored(runs, "brisk-fox-3") if len(each.attempts) > 1]
    assert metrics(app)[1] == f"{np.mean(lengths):.3g}"
    texts(app)


def test_episodes_in_the_same_world_are_paired_where_rollouts_have_one_attempt(runs: Path, open_page: OpenPage) -> None:
    played = stored(runs, "calm-otter-1")[0]
    better = replace(played, rewards=played.rewards + np.float32(1))
    paths = create_run(runs, "twice", {}, {})
    writer = RolloutWriter(paths, "eval", spec={"vocabulary": "crafter"})
    for each in (played, better):
        writer.append(replace(each, info=replace(each.info, number=-1)))
    writer.close()
    app = open_page("attempts", run="twice")
    assert metrics(app)[0] == "1"
    assert metrics(app)[3] == f"{played.length:+.3g}"
    assert "no data" in texts(app)  # a single pair has no interval
    assert "Both are the same from the first step to the last" in texts(app)


def test_side_by_side_in_every_way(runs: Path, open_page: OpenPage) -> None:
    app = open_page("attempts", run="brisk-fox-3")
    jump = next(button for button in app.button if "First difference" in button.label)
    jump.click().run()
    texts(app)
    app.segmented_control(key="attempts aligned").select("subgoal by subgoal").run()
    texts(app)
    app.toggle(key="attempts locked").set_value(False).run()
    assert "Click a picture" in texts(app)


def test_nothing_was_tried_twice(runs: Path, open_page: OpenPage) -> None:
    assert "Nothing was tried twice" in texts(open_page("attempts", run="calm-otter-1"))


def test_a_run_without_episodes_says_so(runs: Path, open_page: OpenPage) -> None:
    create_run(runs, "fresh", {}, {})
    assert "nothing to compare" in texts(open_page("attempts", run="fresh"))


def test_no_runs_at_all(no_runs: Path, open_page: OpenPage) -> None:
    assert "There are no runs" in texts(open_page("attempts"))
