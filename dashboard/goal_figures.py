"""Success in figures: by goal, by length of the instruction, over training. Pure: tables in, tables out.

A group without a trial has no row, or a rate of NaN where a row is needed: unknown is never zero.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from agent.goals.vocabulary import ACHIEVEMENTS, GOALS
from agent.reports.statistics import wilson

TRAVEL = "travel (anywhere)"
BINS = 16  # of training, in heat maps and learning curves

_TRAVEL_IDS = frozenset(goal.id for goal in GOALS if goal.x is not None)
ACHIEVEMENT_WORDS = tuple(name.replace("_", " ") for name in ACHIEVEMENTS)


def rates(table: pd.DataFrame, by: str | list[str], hit: str) -> pd.DataFrame:
    """Successes, trials, rate, low and high (95 %, Wilson) of the bool column `hit` for each value of `by`."""
    groups = table.groupby(by, sort=False, observed=True)[hit]
    figures = pd.DataFrame({"successes": groups.sum(), "trials": groups.count()}).reset_index()
    intervals = [wilson(int(s), int(n)) or (np.nan, np.nan) for s, n in _pairs(figures)]
    figures["rate"] = figures.successes / figures.trials.where(figures.trials > 0)
    figures["low"] = [low for low, _ in intervals]
    figures["high"] = [high for _, high in intervals]
    return figures


def merge_travel(outcomes: pd.DataFrame) -> pd.DataFrame:
    """Crafter's outcomes with the 169 places to travel to under one name."""
    travels = outcomes.goal.isin(_TRAVEL_IDS)
    return outcomes.assign(words=outcomes.words.where(~travels, TRAVEL))


def by_length(rollouts: pd.DataFrame) -> pd.DataFrame:
    """Rates of completed instructions by their number of goals."""
    asked = rollouts.loc[rollouts.num_subgoals > 0]
    return rates(asked, "num_subgoals", "completed").sort_values("num_subgoals", ignore_index=True)


def over_training(outcomes: pd.DataFrame, bins: int = BINS) -> pd.DataFrame:
    """Rates by `words` in equal stretches of the training that is stored; `begin`, `end` and `step` (the middle) in
    environment steps."""
    if outcomes.empty:
        return rates(outcomes.assign(bin=0), ["words", "bin"], "reached").assign(begin=0.0, end=0.0, step=0.0)
    first, last = int(outcomes.rollout_step.min()), int(outcomes.rollout_step.max())
    edges = np.linspace(first, max(last, first + 1), bins + 1)
    place = np.clip(np.searchsorted(edges, outcomes.rollout_step, side="left") - 1, 0, bins - 1)
    figures = rates(outcomes.assign(bin=place), ["words", "bin"], "reached")
    begin, end = edges[figures.bin], edges[figures.bin + 1]
    return figures.assign(begin=begin, end=end, step=(begin + end) / 2).sort_values(["words", "bin"], ignore_index=True)


def failures(rollouts: pd.DataFrame) -> pd.DataFrame:
    """How unfinished instructions ended: cause, rollouts, share of all rollouts with an instruction."""
    asked = rollouts.loc[rollouts.num_subgoals > 0]
    lost = asked.loc[~asked.completed]
    counts = lost.cause.value_counts().rename_axis("cause").reset_index(name="rollouts")
    return counts.assign(share=counts.rollouts / max(len(asked), 1))


def _pairs(figures: pd.DataFrame) -> zip[tuple[int, int]]:
    return zip(figures.successes, figures.trials, strict=True)
