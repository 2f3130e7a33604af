"""Success in figures, with numbers worked out by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from agent.goals.vocabulary import goal_id
from dashboard.goal_figures import TRAVEL, by_length, failures, merge_travel, over_training, rates


def outcomes(*rows: tuple[str, bool, int]) -> pd.DataFrame:
    """Rows of (goal in words, reached, step)."""
    words, reached, steps = zip(*rows, strict=True) if rows else ((), (), ())
    return pd.DataFrame(
        {
            "words": pd.Series(words, dtype=object),
            "goal": pd.Series([goal_id(each) for each in words], dtype=int),
            "reached": pd.Series(reached, dtype=bool),
            "rollout_step": pd.Series(steps, dtype=int),
        }
    )


def test_rates_have_wilson_intervals_and_counts() -> None:
    table = outcomes(*[("eat cow", i < 8, 0) for i in range(10)], ("wake up", False, 0))
    figures = rates(table, "words", "reached").set_index("words")
    cow, wake = figures.loc["eat cow"], figures.loc["wake up"]
    assert (cow.successes, cow.trials, cow.rate) == (8, 10, 0.8)
    assert (cow.low, cow.high) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert (wake.rate, wake.trials) == (0.0, 1)
    assert "place table" not in figures.index  # never asked for: no figure, not a zero


def test_places_to_travel_to_come_under_one_name() -> None:
    table = outcomes(("travel (0, 0)", True, 0), ("travel (5, 10)", False, 0), ("eat cow", True, 0))
    assert merge_travel(table).words.tolist() == [TRAVEL, TRAVEL, "eat cow"]


def test_training_falls_into_equal_stretches_of_steps() -> None:
    table = outcomes(("eat cow", False, 10), ("eat cow", True, 50), ("eat cow", True, 51), ("eat cow", True, 100))
    figures = over_training(table, bins=2)
    assert figures[["begin", "end", "step", "trials"]].to_numpy().tolist() == [[10, 55, 32.5, 3], [55, 100, 77.5, 1]]
    assert figures.rate.tolist() == [2 / 3, 1.0]


def test_a_stretch_without_a_turn_is_absent() -> None:
    figures = over_training(outcomes(("eat cow", True, 1), ("eat cow", True, 100)), bins=4)
    assert figures.bin.tolist() == [0, 3]


def test_nothing_gives_empty_tables_with_all_columns() -> None:
    figures = over_training(outcomes())
    assert figures.empty and {"words", "rate", "begin", "end", "step"} <= set(figures.columns)


ROLLOUTS = pd.DataFrame(
    {
        "num_subgoals": [1, 1, 2, 2, 0],
        "completed": [True, False, False, False, False],
        "cause": ["completed", "time limit", "death by zombie", "time limit", "time limit"],
    }
)


def test_success_by_length_leaves_free_play_out() -> None:
    figures = by_length(ROLLOUTS)
    assert figures.num_subgoals.tolist() == [1, 2]
    assert figures.rate.tolist() == [0.5, 0.0]


def test_failures_are_counted_by_cause_among_rollouts_with_an_instruction() -> None:
    figures = failures(ROLLOUTS)
    assert figures.cause.tolist() == ["time limit", "death by zombie"]
    np.testing.assert_allclose(figures.share, [0.5, 0.25])
