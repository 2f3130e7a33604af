"""From the reports of several runs to score arrays that may be compared. Knows no widgets and no charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from agent.reports.comparison import Group, group_runs
from agent.reports.scores import WORLDS, Scores, read_scores
from agent.reports.statistics import Estimate, mean_estimate, wilson
from dashboard.wording import count
from store.errors import StorageError


class Evaluation(NamedTuple):
    """One way in which runs were evaluated, and the newest report of each run that was evaluated so."""

    label: str
    documents: dict[str, dict[str, Any]]  # by run


def evaluations(reports: Mapping[str, Sequence[dict[str, Any]]]) -> tuple[list[Evaluation], list[str]]:
    """The ways in which any of the runs was evaluated, those of most runs first, and a line per report left out.

    `reports` are each run's, oldest first.
    """
    found: dict[tuple[object, ...], Evaluation] = {}
    problems = []
    for run, documents in reports.items():
        for document in documents:
            try:
                scores = read_scores(run, document)
            except StorageError as error:
                problems.append(f"{document.get('file', '')}: {error}")
                continue
            way = found.setdefault((scores.conditions, scores.tasks), Evaluation(_label(scores), {}))
            way.documents[run] = document
    return sorted(found.values(), key=lambda way: -len(way.documents)), problems


def task_noun(scores: Scores) -> str:
    """What the tasks of an evaluation are: "game" or "instruction"."""
    return "game" if dict(scores.conditions)["suite"] == "games" else "instruction"


def success_groups(way: Evaluation, configs: Mapping[str, Mapping[str, Any]]) -> list[Group]:
    """Runs in groups, scored by success where there is any, else by return."""
    return group_runs([read_scores(run, document) for run, document in way.documents.items()], configs)


def normalised_groups(way: Evaluation, configs: Mapping[str, Mapping[str, Any]]) -> list[Group]:
    """Runs in groups, scored by return: on each task 0 is the random policy and 1 the best of these runs.

    Tasks on which no run is better than random are left out; StorageError when a report lacks the random policy or no
    task is left.
    """
    agents = [read_scores(run, document, "return") for run, document in way.documents.items()]
    randoms = [read_scores(run, document, "return", "random") for run, document in way.documents.items()]
    floor = np.mean([each.means for each in randoms], axis=0)
    scale = np.max([each.means for each in agents], axis=0) - floor
    place = {task: (low, width) for task, low, width in zip(agents[0].tasks, floor, scale, strict=True) if width > 0}
    if not place:
        raise StorageError("no run has a higher return than the random policy on any task: nothing to scale by")
    return group_runs([_rescaled(each, place) for each in agents], configs)


def task_table(groups: Sequence[Group]) -> pd.DataFrame:
    """A row per task and group: value, low, high, over ("runs" or "worlds"), text of the figure."""
    rows = []
    for group in groups:
        for column, task in enumerate(group.scores[0].tasks):
            estimate, over = _task_estimate(group, task, column)
            rows.append({"task": task, "group": group.name, **_figures(estimate), "over": over})
    return pd.DataFrame(rows)


def aggregate_table(summaries: Mapping[str, Mapping[str, Estimate]]) -> pd.DataFrame:
    """A row per aggregate and group, from group -> aggregate -> estimate."""
    return pd.DataFrame(
        [
            {"aggregate": name, "group": group, **_figures(estimate)}
            for group, estimates in summaries.items()
            for name, estimate in estimates.items()
        ]
    )


def _task_estimate(group: Group, task: str, column: int) -> tuple[Estimate, str]:
    alone, *others = group.scores
    if others:
        return mean_estimate(group.matrix[:, column]), "runs"
    scores = [score for (each, _), score in alone.episodes.items() if each == task]
    if alone.measure == "success":
        return Estimate(float(np.mean(scores)), wilson(round(sum(scores)), len(scores))), "worlds"
    return mean_estimate(scores), "worlds"


def _figures(estimate: Estimate) -> dict[str, float | None]:
    low, high = estimate.interval or (None, None)
    return {"value": estimate.value, "low": low, "high": high}


def _rescaled(scores: Scores, place: Mapping[str, tuple[float, float]]) -> Scores:
    episodes = {
        (task, world): (score - place[task][0]) / place[task][1]
        for (task, world), score in scores.episodes.items()
        if task in place
    }
    return Scores(scores.run, scores.step, scores.conditions, "return", episodes)


def _label(scores: Scores) -> str:
    words = dict(scores.conditions)
    tasks = "one task" if scores.tasks == (WORLDS,) else count(len(scores.tasks), task_noun(scores))
    stopped = ", interrupted" if words["interrupted"] == "yes" else ""
    return f"{words['environment'].split(' (')[0]}: suite {words['suite']}, {tasks}, seed {words['seed']}, " + (
        f"{words['actions']} actions{stopped}"
    )
