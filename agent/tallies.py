"""Success and return of the most recent training rollouts: what progress reports and the choice of the best checkpoint
rest on.

Knows trajectories only. Exploration noise is part of what it counts: evaluations tell what the agent can do without.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from agent.envs.base import EnvSpec
from agent.game_tallies import Outcome, RecentGames, game_values
from agent.goals.vocabularies import SUCCESS
from agent.goals.vocabulary import ACHIEVEMENT_GOALS, ACHIEVEMENTS, GOALS
from agent.progress import Tally
from store.trajectory import Attempt, Trajectory

WINDOW = 200  # rollouts
_TOLERANCE = 1e-6  # rewards are summed in floating point


def succeeded(spec: EnvSpec, attempt: Attempt, num_subgoals: int) -> bool | None:
    """Whether an attempt at an instruction of so many subgoals, or at none, was a success; None where nothing tells."""
    if num_subgoals:
        return attempt.progress == num_subgoals
    if spec.vocabulary == SUCCESS:
        return bool(attempt.reached)
    if spec.goals or spec.success_return is None:
        return None
    return attempt.ret >= spec.success_return - _TOLERANCE


def counted_attempts(spec: EnvSpec, trajectory: Trajectory) -> list[Attempt]:
    """The attempts that are judged, at least one: not those that were there to explore."""
    attempts = trajectory.attempts
    return attempts[spec.free_attempts :] or attempts[-1:]


def has_success(spec: EnvSpec) -> bool:
    """Whether the environment tells success from failure."""
    return spec.goals or spec.vocabulary == SUCCESS or spec.success_return is not None


def outcome(spec: EnvSpec, trajectory: Trajectory) -> Outcome:
    """What became of a rollout: its last attempt counts."""
    last = trajectory.attempts[-1]
    return Outcome(trajectory.info.game, last.ret, succeeded(spec, last, len(trajectory.instruction)))


class RecentRollouts:
    """The last `WINDOW` rollouts, and separately the last `WINDOW` that carried the wanted instruction."""

    def __init__(self, wanted: tuple[int, ...], spec: EnvSpec) -> None:
        self._wanted = wanted
        self._spec = spec
        self.count = 0  # rollouts finished in all
        self._shares: deque[float] = deque(maxlen=WINDOW)  # of each rollout's instruction, 0..1
        self._progress: deque[int] = deque(maxlen=WINDOW)  # subgoals finished of the wanted instruction
        self._successes: deque[bool] = deque(maxlen=WINDOW)  # of the last attempts
        self._returns: deque[float] = deque(maxlen=WINDOW)
        self._ends: deque[tuple[float, float]] = deque(maxlen=WINDOW)  # returns of first and last attempt, if several
        self._games = RecentGames(spec.games)

    def add(self, trajectory: Trajectory) -> None:
        """Take in a finished rollout."""
        self.count += 1
        attempts, num_subgoals = counted_attempts(self._spec, trajectory), len(trajectory.instruction)
        success = succeeded(self._spec, attempts[-1], num_subgoals)
        self._returns.append(trajectory.ret)
        if success is not None:
            self._successes.append(success)
        if len(attempts) > 1:
            self._ends.append((attempts[0].ret, attempts[-1].ret))
        if num_subgoals:
            self._shares.append(attempts[-1].progress / num_subgoals)
        if trajectory.info.wanted:
            self._progress.append(attempts[-1].progress)
        self._games.add(Outcome(trajectory.info.game, attempts[-1].ret, success))

    @property
    def success(self) -> Tally | None:
        """Rollouts whose last attempt succeeded; None if the environment does not tell success from failure."""
        return Tally(sum(self._successes), len(self._successes)) if has_success(self._spec) else None

    @property
    def wanted(self) -> Tally | None:
        """Completions of the wanted instruction, None if there is no such instruction."""
        return self._reached(len(self._wanted)) if self._wanted else None

    @property
    def subgoals(self) -> tuple[tuple[str, Tally], ...]:
        """For each subgoal of the wanted instruction: in how many of its rollouts it was finished."""
        return tuple((GOALS[goal].name, self._reached(j)) for j, goal in enumerate(self._wanted, 1))

    @property
    def mean_return(self) -> float | None:
        """Mean return of the rollouts, all their attempts together; None before the first."""
        return float(np.mean(self._returns)) if self._returns else None

    @property
    def attempts(self) -> tuple[float, float] | None:
        """Mean return of the first and of the last attempt of the rollouts that had several; None without any."""
        if not self._ends:
            return None
        first, last = np.mean(self._ends, 0).tolist()
        return first, last

    @property
    def normalised(self) -> float | None:
        """Mean over games of the normalised return of the last attempts; None where there are no games with a scale."""
        return self._games.normalised

    @property
    def score(self) -> float | None:
        """By this the best checkpoint is chosen, once the window is full: the mean share of the subgoals finished, or
        where there are no instructions the mean return, or where there are games what is made of theirs."""
        if self._spec.games:
            return self._games.score
        values = self._shares if self._spec.goals else self._returns
        return float(np.mean(values)) if len(values) == WINDOW else None

    def _reached(self, count: int) -> Tally:
        return Tally(sum(finished >= count for finished in self._progress), len(self._progress))

    def snapshot(self) -> dict[str, Any]:
        """Everything, as JSON's own types."""
        return {
            "count": self.count,
            "shares": list(self._shares),
            "progress": list(self._progress),
            "successes": list(self._successes),
            "returns": list(self._returns),
            "ends": [list(ends) for ends in self._ends],
            "games": self._games.snapshot(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Take over what `snapshot` returned."""
        self.count = state["count"]
        self._shares.extend(state["shares"])
        self._progress.extend(state["progress"])
        self._successes.extend(state["successes"])
        self._returns.extend(state["returns"])
        self._ends.extend((first, last) for first, last in state["ends"])
        if "games" in state:  # checkpoints of older versions have none
            self._games.restore(state["games"])


def rollout_metrics(trajectories: list[Trajectory], spec: EnvSpec) -> dict[str, float]:
    """Means over some finished rollouts, by metric key; empty without a rollout.

    A rollout succeeds if its last attempt does. `rollout/unlocked_<achievement>` is the share of Crafter's rollouts
    that reached an achievement, asked for or not. `rollout/game/<name>/return` is of last attempts, in the game's own
    unit, `rollout/normalised` the mean over the games played of their normalised return.
    """
    if not trajectories:
        return {}
    values = {
        "return": [t.ret for t in trajectories],
        "length": [t.length for t in trajectories],
        "epsilon": [t.info.epsilon for t in trajectories],
        **_attempt_values(trajectories, spec),
        **_goal_values([t for t in trajectories if len(t.instruction)]),
    }
    if spec.games:
        values |= game_values([outcome(spec, t) for t in trajectories], spec.games)
    if spec.vocabulary == "crafter":
        values["death_ratio"] = [t.info.cause.startswith("death") for t in trajectories]
        rates = achievement_rates(trajectories)
        values |= {f"unlocked_{name}": [rate] for name, rate in zip(ACHIEVEMENTS, rates, strict=True)}
    return {f"rollout/{key}": float(np.mean(column)) for key, column in values.items() if column}


def crafter_score(rates: np.ndarray) -> float:
    """The Crafter benchmark's score, 0 to 100: `rates` (22,) are the shares of episodes that unlocked each achievement.

    A geometric mean of the rates in per cent, so that rare achievements count (Hafner 2021, arXiv 2109.06780, Eq. 1).
    """
    assert rates.shape == (len(ACHIEVEMENTS),)
    return float(np.exp(np.log1p(100 * rates).mean()) - 1)


def achievement_rates(trajectories: Sequence[Trajectory]) -> np.ndarray:
    """(22,) shares of Crafter's rollouts that reached each achievement, asked for or not."""
    reached = [set(trajectory.events[:, 1].tolist()) for trajectory in trajectories]
    return np.array([[goal in goals for goal in ACHIEVEMENT_GOALS] for goals in reached], float).mean(0)


def _attempt_values(trajectories: list[Trajectory], spec: EnvSpec) -> dict[str, list[Any]]:
    attempts = [counted_attempts(spec, t) for t in trajectories]
    successes = [succeeded(spec, each[-1], len(t.instruction)) for each, t in zip(attempts, trajectories, strict=True)]
    several = [each for each in attempts if len(each) > 1]
    return {
        "success": [success for success in successes if success is not None],
        "attempts": [len(each) for each in attempts] if several else [],
        "first_attempt_return": [each[0].ret for each in several],
        "last_attempt_return": [each[-1].ret for each in several],
    }


def _goal_values(asked: list[Trajectory]) -> dict[str, list[Any]]:
    return {
        "subgoals_ratio": [t.attempts[-1].progress / len(t.instruction) for t in asked],
        "wanted_success": [t.completed for t in asked if t.info.wanted],
    }
