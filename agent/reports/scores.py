"""Stored evaluation reports, reduced to what comparisons need: one score per task and world. A game is a task.

Reports may be somebody else's files: what does not look like one is refused in one line. Knows no files itself.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from store.errors import StorageError

Measure = Literal["success", "normalised return", "return"]
WORLDS = "all worlds"  # the one task of an evaluation in which every world has a task of its own


@dataclass(frozen=True)
class Scores:
    """What the agent of one training run reached in one evaluation."""

    run: str
    step: int
    conditions: tuple[tuple[str, str], ...]  # what has to be the same for a comparison: name, words
    measure: Measure  # success is 0 or 1 per episode, a normalised return is that of its last attempt
    episodes: Mapping[tuple[str, int], float]  # (task, world) -> score
    held_out: frozenset[str] = frozenset()  # tasks: games that are played in evaluations only

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

    @property
    def sets(self) -> dict[str, tuple[str, ...]]:
        """Tasks whose figures are worth telling apart: games that are trained and those that are not; {} if all are
        of one kind."""
        held_out = tuple(task for task in self.tasks if task in self.held_out)
        trained = tuple(task for task in self.tasks if task not in self.held_out)
        return {"trained games": trained, "held-out games": held_out} if held_out and trained else {}

    def only(self, tasks: Collection[str]) -> Scores:
        """The scores on some of the tasks."""
        return replace(self, episodes={key: score for key, score in self.episodes.items() if key[0] in tasks})


def read_scores(
    run: str, document: Any, measure: Measure | None = None, policy: Literal["agent", "random"] = "agent"
) -> Scores:
    """The scores of a policy in a report as `agent.reports.report.to_json` writes it.

    Success where the environment knows it, else returns, normalised where all games have a scale; unless `measure` says
    otherwise. StorageError if it is no report or holds no such episode.
    """
    try:
        header, episodes = document["header"], (document[policy] or {"episodes": []})["episodes"]
        measure = measure or _best_measure(episodes)
        alone = header["suite"] == "worlds"
        scores = {(WORLDS if alone else _task(each), int(each["seed"])): _score(each, measure) for each in episodes}
        step, conditions = int(header["step"]), _conditions(header)
        held_out = frozenset(str(game["name"]) for game in document["agent"].get("games", ()) if game["held_out"])
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise StorageError(f"a report of {run} is damaged, evaluate again: {type(error).__name__} {error}") from None
    if not scores:
        raise StorageError(f"a report of {run} holds no episode of {policy}; evaluate again")
    return Scores(run, step, conditions, measure, scores, held_out)


def _best_measure(episodes: list[dict[str, Any]]) -> Measure:
    if episodes and all(each["completed"] is not None for each in episodes):
        return "success"
    scaled = episodes and all(each.get("normalised") is not None for each in episodes)
    return "normalised return" if scaled else "return"


def _task(episode: dict[str, Any]) -> str:
    return str(episode.get("game") or episode["instruction"])


def _score(episode: dict[str, Any], measure: Measure) -> float:
    column = {"success": "completed", "normalised return": "normalised", "return": "episode_return"}[measure]
    score = float(episode[column])
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
