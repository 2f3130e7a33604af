"""From finished evaluation episodes to the figures people compare: success with intervals, causes of failure.

Pure: trajectories in, frozen dataclasses and JSON out. Knows no files, networks, terminals. Success counts
episodes, not steps. A rate without a trial is None ("no data"), never zero.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from math import sqrt
from statistics import fmean, median
from typing import Any

from agent.goals.grammar import format_instruction
from agent.progress import Tally
from store.trajectory import Trajectory

REPORT_SCHEMA_VERSION = 1
Z_95 = 1.959963984540054  # standard normal quantile of 0.975


@dataclass(frozen=True)
class Header:
    """What was evaluated, and how: everything needed to repeat or to doubt a figure."""

    checkpoint: str
    sha256: dict[str, str]  # of each file of the checkpoint
    step: int  # environment steps the checkpoint was trained for
    rule: str  # how the checkpoint was picked: "latest", "best" or "step"
    policy: str  # "sampled" or "greedy"
    suite: str
    episodes: int  # asked for, per instruction
    seed: int
    worlds: str  # split and seeds of the worlds, in words
    device: str
    command: str
    versions: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    interrupted: bool = False


@dataclass(frozen=True)
class Episode:
    """One finished episode, in a line."""

    instruction: str
    seed: int
    steps: int
    subgoals: int
    completed: bool
    cause: str


@dataclass(frozen=True)
class InstructionResult:
    """All episodes of one instruction."""

    text: str
    num_subgoals: int
    success: Tally
    mean_subgoals: float | None  # finished subgoals per episode
    median_steps: float | None  # over the successful episodes only
    failures: dict[str, int]  # cause -> episodes, most frequent first


@dataclass(frozen=True)
class GoalResult:
    """One goal over all instructions that asked for it: how often it was reached once its turn had come."""

    text: str
    reached: Tally


@dataclass(frozen=True)
class Results:
    """The figures of one policy."""

    success: Tally
    instructions: tuple[InstructionResult, ...]
    goals: tuple[GoalResult, ...]
    episodes: tuple[Episode, ...]


@dataclass(frozen=True)
class EvalReport:
    """The agent's figures, with the random policy's beside when it was played too."""

    header: Header
    agent: Results
    random: Results | None = None


def wilson_interval(tally: Tally, z: float = Z_95) -> tuple[float, float] | None:
    """Score interval of a binomial rate (Wilson 1927), 95 % by default; None without a trial."""
    n = tally.trials
    if n == 0:
        return None
    rate, spread = tally.successes / n, z * z / n
    centre = rate + spread / 2
    half = z * sqrt(rate * (1 - rate) / n + spread / (4 * n))
    return max((centre - half) / (1 + spread), 0.0), min((centre + half) / (1 + spread), 1.0)


def summarise(trajectories: Iterable[Trajectory], instructions: Sequence[tuple[int, ...]]) -> Results:
    """Figures of `trajectories`, in the order of the `instructions` that were asked for."""
    groups: dict[tuple[int, ...], list[Trajectory]] = {ids: [] for ids in instructions}
    for trajectory in trajectories:
        groups[tuple(int(goal) for goal in trajectory.instruction)].append(trajectory)
    played = [trajectory for group in groups.values() for trajectory in group]
    return Results(
        success=_successes(played),
        instructions=tuple(_instruction_result(ids, group) for ids, group in groups.items()),
        goals=_goal_results(groups),
        episodes=tuple(_episode(trajectory) for trajectory in played),
    )


def to_json(report: EvalReport) -> dict[str, Any]:
    """The report as plain data; every tally carries its rate and its interval."""
    return {
        "schema_version": REPORT_SCHEMA_VERSION,
        "header": asdict(report.header),
        "agent": _results_to_json(report.agent),
        "random": _results_to_json(report.random) if report.random else None,
    }


def _successes(group: Sequence[Trajectory]) -> Tally:
    return Tally(sum(trajectory.completed for trajectory in group), len(group))


def _instruction_result(ids: tuple[int, ...], group: list[Trajectory]) -> InstructionResult:
    won = [trajectory.length for trajectory in group if trajectory.completed]
    lost = Counter(trajectory.info.cause for trajectory in group if not trajectory.completed)
    return InstructionResult(
        text=format_instruction(ids),
        num_subgoals=len(ids),
        success=_successes(group),
        mean_subgoals=fmean(int(trajectory.progress[-1]) for trajectory in group) if group else None,
        median_steps=median(won) if won else None,
        failures=dict(lost.most_common()),
    )


def _goal_results(groups: dict[tuple[int, ...], list[Trajectory]]) -> tuple[GoalResult, ...]:
    asked: Counter[int] = Counter()
    reached: Counter[int] = Counter()
    for ids, group in groups.items():
        for trajectory in group:
            finished = int(trajectory.progress[-1])
            reached.update(ids[:finished])
            asked.update(ids[: finished + 1])  # the goals after the first unfinished one never had their turn
    in_order = dict.fromkeys(goal for ids in groups for goal in ids)
    return tuple(GoalResult(format_instruction((g,)), Tally(reached[g], asked[g])) for g in in_order)


def _episode(trajectory: Trajectory) -> Episode:
    return Episode(
        instruction=format_instruction(tuple(int(goal) for goal in trajectory.instruction)),
        seed=trajectory.info.seed,
        steps=trajectory.length,
        subgoals=int(trajectory.progress[-1]),
        completed=trajectory.completed,
        cause=trajectory.info.cause,
    )


def _results_to_json(results: Results) -> dict[str, Any]:
    return {
        "success": _tally_to_json(results.success),
        "instructions": [asdict(row) | {"success": _tally_to_json(row.success)} for row in results.instructions],
        "goals": [{"text": row.text, "reached": _tally_to_json(row.reached)} for row in results.goals],
        "episodes": [asdict(episode) for episode in results.episodes],
    }


def _tally_to_json(tally: Tally) -> dict[str, Any]:
    return asdict(tally) | {"rate": tally.rate, "interval": wilson_interval(tally)}
