"""Stored evaluation reports, reduced to what comparisons need: one score per task and world.

Reports may be somebody else's files: what does not look like one is refused in one line. Knows no files itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from store.errors import StorageError

Measure = Literal["success", "return"]
WORLDS = "all worlds"  # the one task of an evaluation in which every world has a task of its own


@dataclass(frozen=True)
class Scores:
    """What the agent of one training run reached in one evaluation."""

    run: str
    step: int
    conditions: tuple[tuple[str, str], ...]  # what has to be the same for a comparison: name, words
    measure: Measure  # success is 0 or 1 per episode
    episodes: Mapping[tuple[str, int], float]  # (task, world) -> score

    @cached_property
    def tasks(self) -> tuple[str, ...]:
        """The tasks in the order of the report."""
        return tuple(dict.fromkeys(task for task, _ in self.episodes))

    @cached_property
    def means(self) -> np.ndarray:
        """Mean score of each task, (tasks,)."""
        by_task: dict[str, list[float]] = {task: [] for task in self.tasks}
        for (task, _), score in self.episodes.items():
            by_task[task].append(score)
        return np.array([np.mean(scores) for scores in by_task.values()])


def read_scores(
    run: str, document: Any, measure: Measure | None = None, policy: Literal["agent", "random"] = "agent"
) -> Scores:
    """The scores of a policy in a report as `agent.reports.report.to_json` writes it.

    Success where the environment knows it, unless `measure` says otherwise. StorageError if it is no report or holds no
    such episode.
    """
    try:
        header, episodes = document["header"], (document[policy] or {"episodes": []})["episodes"]
        known = episodes and all(each["completed"] is not None for each in episodes)
        measure = measure or ("success" if known else "return")
        alone = header["suite"] == "worlds"
        scores = {
            (WORLDS if alone else str(each["instruction"]), int(each["seed"])): _score(each, measure)
            for each in episodes
        }
        step, conditions = int(header["step"]), _conditions(header)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise StorageError(f"a report of {run} is damaged, evaluate again: {type(error).__name__} {error}") from None
    if not scores:
        raise StorageError(f"a report of {run} holds no episode of {policy}; evaluate again")
    return Scores(run, step, conditions, measure, scores)


def _score(episode: dict[str, Any], measure: Measure) -> float:
    score = float(episode["completed"] if measure == "success" else episode["episode_return"])
    if not math.isfinite(score):
        raise ValueError(f"a score of {score}")
    return score


def _conditions(header: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    settings = ", ".join(f"{key} {value}" for key, value in sorted(header["settings"].items()))
    return (
        ("environment", f"{header['environment']} ({settings})"),
        ("suite", str(header["suite"])),
        ("seed", str(header["seed"])),
        ("actions", str(header["policy"])),
        ("interrupted", "yes" if header["interrupted"] else "no"),
    )
