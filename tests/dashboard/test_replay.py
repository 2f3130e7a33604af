"""The page Replay: every frame of every episode, links, filters, and what it says where something is missing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from store.layout import RunPaths
from store.rollouts import RolloutReader, RolloutWriter
from store.runs import create_run
from store.trajectory import Trajectory

OpenPage = Callable[..., AppTest]
RUN = "calm-otter-1"


def texts(app: AppTest) -> str:
    """Everything the page says in words."""
    assert not app.exception and not app.error, [each.value for each in app.error]
    kinds = ("header", "subheader", "markdown", "caption", "info", "warning")
    return "\n".join(each.value for kind in kinds for each in getattr(app, kind))


def place(app: AppTest) -> tuple[str, ...]:
    """Split, episode and frame in the address."""
    return tuple(app.query_params[key] for key in ("split", "ep", "t"))


def stored(runs: Path, name: str = RUN) -> list[Trajectory]:
    return list(RolloutReader(RunPaths(runs / name).rollouts("eval")))


def new_run(runs: Path, name: str, trajectories: list[Trajectory], spec: dict[str, Any]) -> None:
    paths = create_run(runs, name, {}, {})
    with_split = [replace(each, info=replace(each.info, split="eval", number=-1)) for each in trajectories]
    writer = RolloutWriter(paths, "eval", spec=spec)
    for each in with_split:
        writer.append(each)
    writer.close()


def cut(trajectory: Trajectory, steps: int) -> Trajectory:
    """The first `steps` steps of a rollout as a whole one."""
    observations = {name: array[: steps + 1] for name, array in trajectory.observations.items()}
    step_arrays = {
        name: getattr(trajectory, name)[:steps] for name in ("actions", "rewards", "terminated", "truncated")
    }
    states = {name: getattr(trajectory, name)[: steps + 1] for name in ("is_first", "progress")}
    events = trajectory.events[trajectory.events[:, 0] < steps]
    return replace(trajectory, observations=observations, events=events, diagnostics={}, **step_arrays, **states)


@pytest.mark.parametrize("which", [0, 4, -1])
@pytest.mark.parametrize("at", ["first", "middle", "last"])
def test_a_link_opens_exactly_its_frame(runs: Path, open_page: OpenPage, which: int, at: str) -> None:
    trajectory = stored(runs)[which]
    t = {"first": 0, "middle": trajectory.length // 2, "last": trajectory.length}[at]
    app = open_page("replay", run=RUN, split="eval", ep=trajectory.info.number, t=t)
    text = texts(app)
    assert place(app) == ("eval", str(trajectory.info.number), str(t))
    assert not app.warning
    x, y = trajectory.observations["position"][t]
    assert f"Here: ({x}, {y})" in text
    assert ("No action follows" in text) == (at == "last")


def test_without_a_link_the_newest_evaluation_episode_is_shown(runs: Path, open_page: OpenPage) -> None:
    app = open_page("replay", run=RUN)
    assert place(app) == ("eval", "8", "0")
    assert "Episode **8**, 1 of 8" in texts(app)


@pytest.mark.parametrize(
    ("asked", "expected", "notice"),
    [
        ({"ep": 3, "t": 10**9}, ("eval", "3", "60"), "frame 1,000,000,000, which is not there"),
        ({"ep": 3, "t": -5}, ("eval", "3", "0"), "frame -5, which is not there"),
        ({"ep": 99}, ("eval", "8", "0"), "episode 99, which is not there"),
        ({"ep": "<b>", "t": 2}, ("eval", "8", "2"), r"episode \<b\>, which is no number"),
        ({"split": "test", "ep": 2}, ("eval", "2", "0"), "split test, which is not there"),
    ],
)
def test_bad_values_are_replaced_with_a_notice(
    runs: Path, open_page: OpenPage, asked: dict[str, Any], expected: tuple[str, ...], notice: str
) -> None:
    app = open_page("replay", run=RUN, **asked)
    texts(app)
    if asked.get("ep") == 3:
        expected = (*expected[:2], str(min(int(expected[2]), stored(runs)[2].length)))
    assert place(app) == expected
    assert notice in app.warning[0].value


def test_buttons_lead_through_the_episodes(runs: Path, open_page: OpenPage) -> None:
    app = open_page("replay", run=RUN, ep=5, t=7)
    app.button(key="replay Next").click().run()
    assert place(app) == ("eval", "4", "0")  # newest first: the next one is older
    app.button(key="replay Last").click().run()
    assert place(app) == ("eval", "1", "0")
    assert app.button(key="replay Next").disabled
    app.button(key="replay First").click().run()
    assert place(app) == ("eval", "8", "0")
    assert app.button(key="replay Previous").disabled
    texts(app)


def test_filters_narrow_what_the_buttons_lead_to(runs: Path, open_page: OpenPage) -> None:
    app = open_page("replay", run=RUN, ep=8)
    app.selectbox(key="replay filter instruction").select("wake up").run()
    assert place(app)[1] == "6"
    assert "1 of 2 (8 episodes in all)" in texts(app)
    app.selectbox(key="replay filter instruction").select("make stone pickaxe, collect iron").run()
    app.selectbox(key="replay filter outcome").select("completed").run()
    assert "No episode passes these filters" in texts(app)


def test_a_link_is_followed_even_where_filters_would_hide_it(runs: Path, open_page: OpenPage) -> None:
    app = open_page("replay", run=RUN, ep=8)
    app.selectbox(key="replay filter instruction").select("wake up").run()
    app.query_params.update({"split": "eval", "ep": "3", "t": "1"})
    app.run()
    assert place(app) == ("eval", "3", "1")
    assert app.selectbox(key="replay filter instruction").value == "any instruction"


def test_training_episodes_can_be_chosen(runs: Path, open_page: OpenPage) -> None:
    app = open_page("replay", run=RUN, split="train", ep=9, t=3)
    assert place(app) == ("train", "9", "3")
    assert "collect sapling, place plant" in texts(app)


def test_attempts_of_a_rollout_are_jumped_into(runs: Path, open_page: OpenPage) -> None:
    trajectory = stored(runs, "brisk-fox-3")[0]
    app = open_page("replay", run="brisk-fox-3", ep=1, t=0)
    assert app.selectbox(key="replay attempt").value == 0
    app.selectbox(key="replay attempt").select_index(1).run()
    assert place(app)[2] == str(trajectory.spans[1][0])
    texts(app)


def test_one_step_and_strange_episodes(runs: Path, open_page: OpenPage) -> None:
    one = cut(stored(runs)[0], 1)
    new_run(runs, "one-step", [one], {"vocabulary": "crafter"})
    for t in (0, 1):
        app = open_page("replay", run="one-step", ep=1, t=t)
        texts(app)
        assert place(app) == ("eval", "1", str(t))


def test_what_was_not_recorded_is_said_to_be_so(runs: Path, open_page: OpenPage) -> None:
    text = texts(open_page("replay", run=RUN, ep=1, t=0))
    assert "Its probabilities: not recorded" in text
    assert "Values: not recorded" in text


def test_recorded_probabilities_and_values_are_drawn(runs: Path, open_page: OpenPage) -> None:
    played = stored(runs)[0]
    probabilities = np.full((played.length, 17), 1 / 17, np.float16)
    notes = {"probabilities": probabilities, "values": np.ones((played.length, 3), np.float16)}
    new_run(runs, "noted", [replace(played, diagnostics=notes)], {"vocabulary": "crafter"})
    text = texts(open_page("replay", run="noted", ep=1, t=0))
    assert "not recorded" not in text
    assert "One curve for each discount" in text


def test_worlds_without_pictures_show_a_table(runs: Path, open_page: OpenPage) -> None:
    played = stored(runs)[0]
    state = {"state": np.arange(4.0 * (played.length + 1), dtype=np.float32).reshape(-1, 4)}
    actions = np.full((played.length, 2), 0.25, np.float32)
    info = replace(played.info, environment="half-cheetah", cause="<script>*bold*")
    bare = replace(played, observations=state, actions=actions, info=info, instruction=np.zeros(0, np.int16))
    bare = replace(bare, progress=np.zeros(played.length + 1, np.uint8), events=np.zeros((0, 2), np.int32))
    new_run(runs, "bare", [bare], {"vocabulary": ""})
    app = open_page("replay", run="bare", ep=1, t=2)
    text = texts(app)
    assert "This episode has no instruction" in text
    assert "Action: 0\\.25, 0\\.25" in text
    assert r"\<script\>\*bold\*" in text
    assert "The observation does not tell the place" in text
    numbers = app.dataframe[-1].value
    assert numbers.values.tolist() == [["state", "8, 9, 10, 11"]]


def test_a_run_without_episodes_says_so(runs: Path, open_page: OpenPage) -> None:
    create_run(runs, "fresh", {}, {})
    assert "no finished episode yet" in texts(open_page("replay", run="fresh"))


def test_no_runs_at_all(no_runs: Path, open_page: OpenPage) -> None:
    assert "There are no runs" in texts(open_page("replay"))
