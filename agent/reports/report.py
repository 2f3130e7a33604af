"""From finished evaluation episodes to the figures people compare: success and returns with intervals, causes.

Pure: trajectories in, frozen dataclasses and JSON out. Knows no files, networks, terminals. Success counts episodes,
not steps; an episode of several attempts is judged by its last one. A rate without a trial is None ("no data"), never
zero.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from statistics import fmean, median
from typing import Any

from agent.envs.base import EnvSpec
from agent.goals.vocabularies import vocabulary
from agent.goals.vocabulary import ACHIEVEMENT_GOALS, GOALS
from agent.progress import Tally
from agent.reports.figures import AttemptResult, Played, Returns, attempt_results, returns_of, tally_of, tally_to_json
from agent.reports.games import GameResult, GameSet, game_results, game_sets, games_to_json
from agent.tallies import achievement_rates, crafter_score, has_success, succeeded
from store.trajectory import Trajectory

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
    episodes: int  # asked for, per instruction or game where there are any
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
    game: str = ""  # where the environment plays several
    normalised: float | None = None  # return of the last attempt on the game's scale, None without one


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
    games: tuple[GameResult, ...] = ()  # where the environment plays several; the trained ones first
    game_sets: tuple[GameSet, ...] = ()


@dataclass(frozen=True)
class EvalReport:
    """The agent's figures in held-out worlds; beside them, where there are any, those of the random policy in the same
    worlds, and of the run's recent training rollouts: training worlds, exploration noise and all.
    """

    header: Header
    agent: Results
    random: Results | None = None
    training: Results | None = None


def summarise(
    trajectories: Iterable[Trajectory], instructions: Sequence[tuple[int, ...]] | None, spec: EnvSpec
) -> Results:
    """Figures of `trajectories`, in the order of the `instructions` that were asked for.

    None: the environment's own tasks, whose instructions, if any, are grouped by their length.
    """
    played = [Played(trajectory, spec) for trajectory in trajectories]
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
        success=tally_of(each.success for each in played) if has_success(spec) else None,
        returns=returns_of([each.trajectory.ret for each in played]),
        causes=dict(Counter(each.cause for each in played).most_common()),
        attempts=attempt_results(played, spec),
        instructions=groups,
        goals=goals,
        episodes=tuple(_episode(each, spec) for each in played),
        crafter_score=_score(played) if is_free_play and played else None,
        games=game_results(played, spec),
        game_sets=game_sets(played, spec),
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


def _attempt_successes(group: Sequence[Played], spec: EnvSpec, num_subgoals: int) -> tuple[Tally, ...]:
    most = max((len(each.attempts) for each in group), default=0)
    return tuple(
        tally_of(succeeded(spec, each.attempts[k], num_subgoals) for each in group if len(each.attempts) > k)
        for k in range(most)
    )


def _instruction_result(text: str, num_subgoals: int, group: list[Played], spec: EnvSpec) -> InstructionResult:
    won = [each.last.length for each in group if each.success]
    lost = Counter(each.cause for each in group if not each.success)
    return InstructionResult(
        text=text,
        num_subgoals=num_subgoals,
        success=tally_of(each.success for each in group),
        attempts=_attempt_successes(group, spec, num_subgoals),
        mean_subgoals=fmean(each.last.progress for each in group) if group else None,
        median_steps=median(won) if won else None,
        failures=dict(lost.most_common()),
    )


def _goal_results(groups: dict[tuple[int, ...], list[Played]], spec: EnvSpec) -> tuple[GoalResult, ...]:
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


def _achievement_results(played: Sequence[Played]) -> tuple[GoalResult, ...]:
    reached = Counter(goal for each in played for goal in set(each.trajectory.events[:, 1].tolist()))
    return tuple(GoalResult(GOALS[goal].name, Tally(reached[goal], len(played))) for goal in ACHIEVEMENT_GOALS)


def _score(played: Sequence[Played]) -> float:
    return crafter_score(achievement_rates([each.trajectory for each in played]))


def _episode(played: Played, spec: EnvSpec) -> Episode:
    return Episode(
        instruction=vocabulary(spec.vocabulary).describe(played.instruction),
        seed=played.trajectory.info.seed,
        steps=played.trajectory.length,
        subgoals=played.last.progress,
        completed=played.success,
        cause=played.cause,
        episode_return=played.trajectory.ret,
        attempt_returns=tuple(attempt.ret for attempt in played.attempts),
        number=played.trajectory.info.number if played.trajectory.info.number >= 0 else None,
        game=played.game,
        normalised=next((each.normalised(played.last.ret) for each in spec.games if each.name == played.game), None),
    )


def _results_to_json(results: Results) -> dict[str, Any]:
    return _totals_to_json(results) | {
        "attempts": [asdict(row) | {"success": tally_to_json(row.success)} for row in results.attempts],
        "instructions": [_instruction_to_json(row) for row in results.instructions],
        "goals": [{"text": row.text, "reached": tally_to_json(row.reached)} for row in results.goals],
        "episodes": [asdict(episode) for episode in results.episodes],
        **games_to_json(results.games, results.game_sets),
    }


def _totals_to_json(results: Results) -> dict[str, Any]:
    return {
        "success": tally_to_json(results.success),
        "returns": asdict(results.returns),
        "causes": results.causes,
        "crafter_score": results.crafter_score,
    }


def _instruction_to_json(row: InstructionResult) -> dict[str, Any]:
    return asdict(row) | {
        "success": tally_to_json(row.success),
        "attempts": [tally_to_json(tally) for tally in row.attempts],
    }
