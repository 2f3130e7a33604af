"""Counts by goal, worked out by hand."""

import numpy as np
import pytest
from rich.color import Color
from rich.style import Style
from screen_run import rollout

from agent.goals.vocabulary import GOALS
from agent.goals.vocabulary import goal_id as id_of
from amago_cli.tui.episode_text import action_name, first_look, step_lines, succeeded
from amago_cli.tui.feed import Feed
from amago_cli.tui.goal_rows import AttemptRow, GoalRow, attempt_rows, goal_table
from amago_cli.tui.half_blocks import block_cells, block_segments, fitted
from amago_cli.tui.widgets.stage import changed_spans
from store.goal_outcomes import GoalOutcomes
from store.layout import RunPaths
from store.rollouts import RolloutReader

NAMES = [goal.name for goal in GOALS]


def test_counts_of_a_run(run: RunPaths) -> None:
    goals = Feed(run).read().rollouts.goals
    assert goals.wanted == (GoalRow("collect sapling", 5, 6, 0), GoalRow("place plant", 4, 5, 0))
    assert goals.others == goals.wanted


def test_trend_against_the_rollouts_before(run: RunPaths, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("amago_cli.tui.goal_rows.RECENT", 3)
    index = RolloutReader(run.rollouts("train")).index()
    wood, drink = id_of("collect wood"), id_of("collect drink")
    outcomes = GoalOutcomes(
        trajectory=np.array([0, 1, 2, 3, 3, 4, 5]),
        goal=np.array([wood] * 4 + [drink] + [wood] * 2),
        reached=np.array([False, False, False, True, False, True, True]),
        step=np.zeros(7, int),
    )
    table = goal_table(outcomes, index, [wood, id_of("wake up")], NAMES)
    assert table.wanted == (GoalRow("collect wood", 3, 3, 1), GoalRow("wake up", 0, 0, 0))
    assert table.wanted[1].rate is None
    assert table.others == (GoalRow("collect wood", 3, 3, 1), GoalRow("collect drink", 0, 1, 0))


def test_places_count_together_and_foreign_ids_are_left_out(run: RunPaths) -> None:
    index = RolloutReader(run.rollouts("train")).index()
    goals = np.array([id_of("travel (0, 0)"), id_of("travel (5, 10)"), 9_999])
    outcomes = GoalOutcomes(np.array([3, 4, 5]), goals, np.array([True, False, True]), np.zeros(3, int))
    assert goal_table(outcomes, index, [], NAMES).others == (GoalRow("travel", 1, 2, 0),)


def test_returns_by_attempt() -> None:
    assert attempt_rows([rollout(1, finished=2), rollout(2, finished=1)]) == (AttemptRow(1, 1.5, 2),)


def test_a_step_in_words() -> None:
    trajectory = rollout(1)
    assert step_lines(trajectory, 1, NAMES) == [
        "step 1 of 6: do",
        "✓ collect sapling, → place plant",
        "reward 1 · value 0.25 · reached place plant",
    ]
    assert step_lines(trajectory, 6, NAMES)[0] == "step 6 of 6: completed, return 2"
    assert step_lines(trajectory, 1, NAMES, width=20)[1] == "✓ 1, → place plant"
    assert step_lines(trajectory, 0, NAMES, width=20)[1] == "→ collect sapling, place plant"
    assert step_lines(trajectory, 0, [])[1].startswith("→ goal ")


def test_actions_have_names_where_they_are_known() -> None:
    assert action_name("crafter", np.array(1)) == "move left"
    assert action_name("crafter", np.array(99)) == "action 99"
    assert action_name("gym:Pendulum-v1", np.array([0.5, -1.0])) == "0.5 -1"


def test_a_long_episode_is_entered_before_its_first_subgoal() -> None:
    assert first_look(rollout(1)) == 0
    assert first_look(rollout(1, finished=0, steps=400)) == 220  # the end: nothing was reached


def test_success_as_far_as_it_is_told(run: RunPaths) -> None:
    index = RolloutReader(run.rollouts("train")).index()
    assert succeeded(index, None).tolist() == [1, 0, 1, 0, 1, 1]


def test_pictures_fit_and_neighbours_share_a_segment() -> None:
    picture = np.zeros((4, 6, 3), np.uint8)
    picture[:, 3:] = 255
    picture[0, 3:] = 128
    assert fitted(picture, 12, 4).shape == (8, 12, 3)
    small = fitted(picture, 3, 10)
    assert small.shape == (2, 3, 3)
    rows = [block_segments(row) for row in block_cells(picture)]
    assert [[segment.text for segment in row] for row in rows] == [["   ", "▀▀▀"], ["   ", "   "]]
    black, grey_on_white = (segment.style for segment in rows[0])
    assert black is not None and black.bgcolor == Color.from_rgb(0, 0, 0)
    assert grey_on_white == Style(color=Color.from_rgb(128, 128, 128), bgcolor=Color.from_rgb(248, 248, 248))


def test_only_what_changed_is_drawn_again() -> None:
    before = np.zeros((3, 8), np.int64)
    after = before.copy()
    after[0, 2] = after[0, 5] = after[2, 7] = 1
    assert changed_spans(before, after) == [(0, 2, 4), (2, 7, 1)]
    assert changed_spans(before, before) == []
