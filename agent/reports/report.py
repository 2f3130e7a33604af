"""From finished evaluation episodes to the figures people compare: success and returns with intervals, causes.

Pure: trajectories in, frozen dataclasses and JSON out. Knows no files, networks, terminals. Success counts episodes,
not steps; an episode of several attempts is judged by its last one. A rate without a trial is None ("no data"), never
zero.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from statistics import fmean, median
from typing import Any

from agent.envs.base import EnvSpec
from agent.goals.vocabularies import vocabulary
from agent.goals.vocabulary import ACHIEVEMENT_GOALS, GOALS
from agent.progress import Tally
from agent.reports.statistics import mean_estimate, wilson
from agent.tallies import achievement_rates, crafter_score, has_success, succeeded
from store.trajectory import Attempt, Trajectory

REPORT_SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Header:
    """What was evaluated, and how: everything needed to repeat or to doubt a figure."""

    checkpoint: str
    sha256: dict[str, str]  # of each file of the checkpoint
    step: int  # environment steps the checkpoint was trained for
    rule: str  # how the checkpoint was picked: "latest", "best" or "step"
    policy: str  # "sampled" or "greedy"
    suite: str
    episodes: int  # asked for, per instruction where there are any
    seed: int
    worlds: str  # split and seeds of the worlds, in words
    device: str
    command: str
    environment: str
    settings: dict[str, Any]  # of the environment
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
    completed: bool | None  # None where the environment does not tell success from failure
    cause: str
    episode_return: float
    attempt_returns: tuple[float, ...]
    number: int | None = None  # running number among the run's stored evaluation episodes, None where it is not stored


@dataclass(frozen=True)
class InstructionResult:
    """All episodes of one instruction, or where every world has its own, of all instructions of one length."""

    text: str
    num_subgoals: int
    success: Tally
    attempts: tuple[Tally, ...]  # successes of each attempt, the first one first
    mean_subgoals: float | None  # finished subgoals per episode
    median_steps: float | None  # of the successful attempts only
    failures: dict[str, int]  # cause -> episodes, most frequent first


@dataclass(frozen=True)
class GoalResult:
    """One goal over all instructions that asked for it: how often it was reached once its turn had come.

    In Crafter's free play, where nothing is asked for: one achievement, and the episodes that reached it.
    """

    text: str
    reached: Tally


@dataclass(frozen=True)
class Returns:
    """Returns in figures; None where there are none."""

    count: int
    mean: float | None
    interval: tuple[float, float] | None  # of the mean, 95 %
    median: float | None
    min: float | None
    max: float | None


@dataclass(frozen=True)
class AttemptResult:
    """Attempt `number` (from 1) of all episodes that had one."""

    number: int
    returns: Returns
    success: Tally | None
    mean_steps: float


@dataclass(frozen=True)
class Results:
    """The figures of one policy."""

    success: Tally | None  # None where the environment does not tell success from failure
    returns: Returns  # of episodes, all attempts together
    causes: dict[str, int]  # how episodes ended -> episodes, most frequent first
    attempts: tuple[AttemptResult, ...]
    instructions: tuple[InstructionResult, ...]
    goals: tuple[GoalResult, ...]
    episodes: tuple[Episode, ...]
    crafter_score: float | None = None  # the benchmark's, where Crafter is played freely


@dataclass(frozen=True)
class EvalReport:
    """The agent's figures in held-out worlds; beside them, where there are any, those of the random policy in the same
    worlds, and of the run's recent training rollouts: training worlds, exploration noise and all.
    """

    header: Header
    agent: Results
    random: Results | None = None
    training: Results | None = None


def with_numbers(report: EvalReport, numbers: Sequence[int]) -> EvalReport:
    """The report whose agent's episodes are stored under `numbers`, one each in order."""
    episodes = tuple(
        replace(episode, number=number) for episode, number in zip(report.agent.episodes, numbers, strict=True)
    )
    return replace(report, agent=replace(report.agent, episodes=episodes))


def summarise(
    trajectories: Iterable[Trajectory], instructions: Sequence[tuple[int, ...]] | None, spec: EnvSpec
) -> Results:
    """Figures of `trajectories`, in the order of the `instructions` that were asked for.

    None: the environment's own tasks, whose instructions, if any, are grouped by their length.
    """
    played = [_Played(trajectory, spec) for trajectory in trajectories]
    groups, goals = (), ()
    is_free_play = spec.vocabulary == "crafter" and not spec.goals
    if is_free_play:
        goals = _achievement_results(played)
    elif instructions is not None:
        order = {ids: [each for each in played if each.instruction == ids] for ids in instructions}
        played = [each for group in order.values() for each in group]
        describe = vocabulary(spec.vocabulary).describe
        groups = tuple(_instruction_result(describe(ids), len(ids), group, spec) for ids, group in order.items())
        goals = _goal_results(order, spec)
    elif spec.goals:
        by_length = {n: [e for e in played if len(e.instruction) == n] for n in range(1, spec.max_instruction + 1)}
        groups = tuple(
            _instruction_result("1 goal" if n == 1 else f"{n} goals", n, group, spec) for n, group in by_length.items()
        )
    return Results(
        success=_tally(each.success for each in played) if has_success(spec) else None,
        returns=_returns([each.trajectory.ret for each in played]),
        causes=dict(Counter(each.cause for each in played).most_common()),
        attempts=_attempt_results(played, spec),
        instructions=groups,
        goals=goals,
        episodes=tuple(_episode(each, spec) for each in played),
        crafter_score=_score(played) if is_free_play and played else None,
    )


def to_json(report: EvalReport) -> dict[str, Any]:
    """The report as plain data; every tally carries its rate and its interval."""
    return {
        "schema_version": REPORT_SCHEMA_VERSION,
        "header": asdict(report.header),
        "agent": _results_to_json(report.agent),
        "random": _results_to_json(report.random) if report.random else None,
        "training": _totals_to_json(report.training) if report.training else None,
    }


class _Played:
    """An episode with what is asked of it again and again."""

    def __init__(self, trajectory: Trajectory, spec: EnvSpec) -> None:
        self.trajectory = trajectory
        self.instruction = tuple(trajectory.instruction.tolist())
        self.cause = trajectory.info.cause
        self.attempts = trajectory.attempts
        self.last = self.attempts[-1]
        self.success = succeeded(spec, self.last, len(self.instruction))


def _tally(judged: Iterable[bool | None]) -> Tally:
    """Successes among those that could be judged."""
    known = [success for success in judged if success is not None]
    return Tally(sum(known), len(known))


def _returns(values: Sequence[float]) -> Returns:
    if not values:
        return Returns(0, None, None, None, None, None)
    mean = mean_estimate(values)
    return Returns(len(values), fmean(values), mean.interval, median(values), min(values), max(values))


def _attempt_results(played: Sequence[_Played], spec: EnvSpec) -> tuple[AttemptResult, ...]:
    most = max((len(each.attempts) for each in played), default=0)
    return tuple(
        _attempt_result(k + 1, [(e.attempts[k], len(e.instruction)) for e in played if len(e.attempts) > k], spec)
        for k in range(most)
    )


def _attempt_result(number: int, group: Sequence[tuple[Attempt, int]], spec: EnvSpec) -> AttemptResult:
    success = _tally(succeeded(spec, attempt, num_subgoals) for attempt, num_subgoals in group)
    return AttemptResult(
        number=number,
        returns=_returns([attempt.ret for attempt, _ in group]),
        success=success if has_success(spec) else None,
        mean_steps=fmean(attempt.length for attempt, _ in group),
    )


def _attempt_successes(group: Sequence[_Played], spec: EnvSpec, num_subgoals: int) -> tuple[Tally, ...]:
    most = max((len(each.attempts) for each in group), default=0)
    return tuple(
        _tally(succeeded(spec, each.attempts[k], num_subgoals) for each in group if len(each.attempts) > k)
        for k in range(most)
    )


def _instruction_result(text: str, num_subgoals: int, group: list[_Played], spec: EnvSpec) -> InstructionResult:
    won = [each.last.length for each in group if each.success]
    lost = Counter(each.cause for each in group if not each.success)
    return InstructionResult(
        text=text,
        num_subgoals=num_subgoals,
        success=_tally(each.success for each in group),
        attempts=_attempt_successes(group, spec, num_subgoals),
        mean_subgoals=fmean(each.last.progress for each in group) if group else None,
        median_steps=median(won) if won else None,
        failures=dict(lost.most_common()),
    )


def _goal_results(groups: dict[tuple[int, ...], list[_Played]], spec: EnvSpec) -> tuple[GoalResult, ...]:
    asked: Counter[int] = Counter()
    reached: Counter[int] = Counter()
    for ids, group in groups.items():
        for each in group:
            finished = each.last.progress
            reached.update(ids[:finished])
            asked.update(ids[: finished + 1])  # the goals after the first unfinished one never had their turn
    in_order = dict.fromkeys(goal for ids in groups for goal in ids)
    describe = vocabulary(spec.vocabulary).describe
    return tuple(GoalResult(describe((goal,)), Tally(reached[goal], asked[goal])) for goal in in_order)


def _achievement_results(played: Sequence[_Played]) -> tuple[GoalResult, ...]:
    reached = Counter(goal for each in played for goal in set(each.trajectory.events[:, 1].tolist()))
    return tuple(GoalResult(GOALS[goal].name, Tally(reached[goal], len(played))) for goal in ACHIEVEMENT_GOALS)


def _score(played: Sequence[_Played]) -> float:
    return crafter_score(achievement_rates([each.trajectory for each in played]))


def _episode(played: _Played, spec: EnvSpec) -> Episode:
    return Episode(
        instruction=vocabulary(spec.vocabulary).describe(played.instruction),
        seed=played.trajectory.info.seed,
        steps=played.trajectory.length,
        subgoals=played.last.progress,
        completed=played.success,
        cause=played.cause,
        episode_return=played.trajectory.ret,
        attempt_returns=tuple(attempt.ret for attempt in played.attempts),
    )


def _results_to_json(results: Results) -> dict[str, Any]:
    return _totals_to_json(results) | {
        "attempts": [asdict(row) | {"success": _tally_to_json(row.success)} for row in results.attempts],
        "instructions": [_instruction_to_json(row) for row in results.instructions],
        "goals": [{"text": row.text, "reached": _tally_to_json(row.reached)} for row in results.goals],
        "episodes": [asdict(episode) for episode in results.episodes],
    }


def _totals_to_json(results: Results) -> dict[str, Any]:
    return {
        "success": _tally_to_json(results.success),
        "returns": asdict(results.returns),
        "causes": results.causes,
        "crafter_score": results.crafter_score,
    }


def _instruction_to_json(row: InstructionResult) -> dict[str, Any]:
    return asdict(row) | {
        "success": _tally_to_json(row.success),
        "attempts": [_tally_to_json(tally) for tally in row.attempts],
    }


def _tally_to_json(tally: Tally | None) -> dict[str, Any] | None:
    if tally is None:
        return None
    return asdict(tally) | {"rate": tally.rate, "interval": wilson(tally.successes, tally.trials)}
