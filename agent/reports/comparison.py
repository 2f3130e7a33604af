"""Evaluations of several training runs side by side: aggregates, differences on the same worlds, who is ahead.

Runs that differ in their seed only form a group: the rows of a score array. With several runs on both sides intervals
are over training runs; with a single one they can only be over worlds, and the comparison says so. Knows no files.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from agent.reports.scores import Scores
from agent.reports.statistics import (
    Estimate,
    iqm,
    mean,
    mean_estimate,
    median,
    optimality_gap,
    paired_difference,
    probability_of_improvement,
    stratified_bootstrap,
)
from store.errors import AmagoError

FEW_RUNS = 5  # below, intervals over runs are too narrow to be trusted
_NAMED = 3  # runs of a group that are all named

AGGREGATES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "IQM": iqm,
    "median": median,
    "mean": mean,
    "optimality gap": optimality_gap,
}


@dataclass(frozen=True)
class Group:
    """Runs that differ in their seed only."""

    name: str
    scores: tuple[Scores, ...]

    @property
    def matrix(self) -> np.ndarray:
        """(runs, tasks): mean score of each run on each task."""
        return np.stack([each.means for each in self.scores])

    @property
    def sets(self) -> dict[str, Group]:
        """The group on trained games alone, and on held-out ones; {} where there are not both."""
        sets = self.scores[0].sets
        return {name: Group(self.name, tuple(each.only(tasks) for each in self.scores)) for name, tasks in sets.items()}


@dataclass(frozen=True)
class Summary:
    """The figures of one group."""

    name: str
    runs: tuple[str, ...]
    steps: tuple[int, ...]
    aggregates: dict[str, Estimate]
    tasks: tuple[Estimate, ...]
    sets: dict[str, dict[str, Estimate]]  # aggregates over trained and over held-out games, where there are both


@dataclass(frozen=True)
class SetDifference:
    """How far the first group of a pair is ahead on trained games, or on held-out ones."""

    name: str
    overall: Estimate
    improvement: Estimate


@dataclass(frozen=True)
class Pair:
    """How far the first group is ahead of the second."""

    first: str
    second: str
    over: str  # what the intervals of the differences are over: "runs" or "worlds"
    tasks: tuple[Estimate, ...]  # difference of mean scores
    overall: Estimate
    improvement: Estimate  # probability that a run of the first beats one of the second on a task
    sets: tuple[SetDifference, ...] = ()


@dataclass(frozen=True)
class Comparison:
    """Everything about some groups that were evaluated under the same conditions."""

    measure: str
    conditions: dict[str, str]
    tasks: tuple[str, ...]
    groups: tuple[Summary, ...]
    pairs: tuple[Pair, ...]
    notes: tuple[str, ...]


def group_runs(scores: Sequence[Scores], configs: Mapping[str, Mapping[str, Any]]) -> list[Group]:
    """Groups in the order of their first runs; `configs` are the runs' configurations by name.

    A run without a configuration is a group of its own. Groups are named after their runs.
    """
    members: defaultdict[str, list[Scores]] = defaultdict(list)
    for each in scores:
        members[_likeness(configs.get(each.run), each.run)].append(each)
    return [Group(_group_name([each.run for each in group]), tuple(group)) for group in members.values()]


def compare(groups: Sequence[Group]) -> Comparison:
    """AmagoError unless there are two groups and all were evaluated under the same conditions on the same tasks."""
    if len(groups) < 2:
        raise AmagoError("a comparison needs two runs that differ in more than their seed")
    require_same(groups)
    first = groups[0].scores[0]
    return Comparison(
        measure=first.measure,
        conditions=dict(first.conditions),
        tasks=first.tasks,
        groups=tuple(summarise(group) for group in groups),
        pairs=tuple(_pair(a, b) for a, b in combinations(groups, 2)),
        notes=tuple(notes(groups)),
    )


def summarise(group: Group) -> Summary:
    """Aggregates over all tasks, and the score of each task."""
    return Summary(
        name=group.name,
        runs=tuple(each.run for each in group.scores),
        steps=tuple(each.step for each in group.scores),
        aggregates=_aggregates(group),
        tasks=tuple(mean_estimate(column) for column in group.matrix.T),
        sets={name: _aggregates(part) for name, part in group.sets.items()},
    )


def _aggregates(group: Group) -> dict[str, Estimate]:
    """Over all tasks; only where 1 is as good as it gets, or as somebody else is, a gap to it means anything."""
    names = [name for name in AGGREGATES if name != "optimality gap" or group.scores[0].measure != "return"]
    return {name: stratified_bootstrap(AGGREGATES[name], group.matrix) for name in names}


def require_same(groups: Sequence[Group]) -> None:
    """AmagoError naming the first difference between the evaluations of `groups`."""
    reference, *others = (each for group in groups for each in group.scores)
    for other in others:
        facts = [*zip(reference.conditions, other.conditions, strict=True)]
        facts += [(("measure", reference.measure), ("measure", other.measure))]
        facts += [(("held-out games", ", ".join(sorted(each.held_out))) for each in (reference, other))]
        for (name, ours), (_, theirs) in facts:
            if ours != theirs:
                _refuse(reference, other, name, ours, theirs)
        if reference.tasks != other.tasks:
            _refuse(reference, other, "instructions", f"{len(reference.tasks)}", f"{len(other.tasks)} (or others)")


def notes(groups: Sequence[Group]) -> list[str]:
    """What a reader must know before trusting the figures."""
    found = []
    first = groups[0].scores[0]
    if first.measure == "return" and dict(first.conditions)["suite"] == "games":
        found.append(
            "The returns of these games are in different units: only the probability of improvement and the rows of "
            "single games tell anything, not what is averaged over games."
        )
    single = [group.name for group in groups if len(group.scores) == 1]
    if single:
        found.append(
            f"One training run only ({', '.join(single)}): another seed may turn the result round. Intervals of "
            "differences to it are over worlds, not over runs; aggregates have none."
        )
    few = [group.name for group in groups if 1 < len(group.scores) < FEW_RUNS]
    if few:
        found.append(f"Fewer than {FEW_RUNS} runs ({', '.join(few)}): intervals over runs are too narrow.")
    steps = sorted({each.step for group in groups for each in group.scores})
    if steps[-1] > steps[0]:
        found.append(f"The checkpoints were not trained equally long: {steps[0]:,} to {steps[-1]:,} steps.")
    return found


def to_json(comparison: Comparison) -> dict[str, Any]:
    """The comparison as plain data."""
    return {"schema_version": 1, **asdict(comparison)}


def _likeness(config: Mapping[str, Any] | None, name: str) -> str:
    """The same text for configurations that differ in the seed only."""
    if config is None:
        return name
    run = {key: value for key, value in dict(config.get("run") or {}).items() if key != "seed"}
    return json.dumps({**config, "run": run}, sort_keys=True, default=str)


def _group_name(runs: Sequence[str]) -> str:
    return " + ".join(runs) if len(runs) <= _NAMED else f"{runs[0]} + {len(runs) - 1} more"


def _pair(first: Group, second: Group) -> Pair:
    over = "runs" if min(len(first.scores), len(second.scores)) > 1 else "worlds"
    differences = _over_runs if over == "runs" else _over_worlds
    tasks, overall = differences(first, second)
    improvement = probability_of_improvement(first.matrix, second.matrix)
    parts = ((name, first.sets[name], second.sets[name]) for name in first.sets)
    sets = tuple(
        SetDifference(name, differences(a, b)[1], probability_of_improvement(a.matrix, b.matrix))
        for name, a, b in parts
    )
    return Pair(first.name, second.name, over, tasks, overall, improvement, sets)


def _over_runs(first: Group, second: Group) -> tuple[tuple[Estimate, ...], Estimate]:
    """Differences per task and over all of them, with intervals over training runs."""
    x, y = first.matrix, second.matrix
    columns = range(x.shape[1])
    tasks = tuple(stratified_bootstrap(_difference, x[:, [task]], y[:, [task]]) for task in columns)
    return tasks, stratified_bootstrap(_difference, x, y)


def _difference(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return mean(x) - mean(y)


def _over_worlds(first: Group, second: Group) -> tuple[tuple[Estimate, ...], Estimate]:
    """The same with intervals over worlds: each is a pair of scores, and stays one for all tasks played in it."""
    a, b = _by_world(first), _by_world(second)
    if a.keys() != b.keys():
        raise AmagoError(f"{first.name} and {second.name} were not evaluated in the same worlds; evaluate both again")
    tasks = tuple(
        paired_difference(*zip(*((a[key], b[key]) for key in a if key[0] == task), strict=True))
        for task in first.scores[0].tasks
    )
    worlds: defaultdict[int, list[float]] = defaultdict(list)
    for key in a:
        worlds[key[1]].append(a[key] - b[key])
    return tasks, mean_estimate([float(np.mean(differences)) for differences in worlds.values()])


def _by_world(group: Group) -> dict[tuple[str, int], float]:
    """(task, world) -> mean over the group's runs, of what all of them played."""
    shared = [key for key in group.scores[0].episodes if all(key in each.episodes for each in group.scores)]
    return {key: float(np.mean([each.episodes[key] for each in group.scores])) for key in shared}


def _refuse(reference: Scores, other: Scores, name: str, ours: str, theirs: str) -> None:
    raise AmagoError(
        f"{reference.run} and {other.run} were not evaluated alike, {name}: {ours} against {theirs}; "
        "run `amago eval` with the same options for both"
    )
