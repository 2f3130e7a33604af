"""Success among the most recent training rollouts: what progress reports and the choice of the best checkpoint rest on.

Knows trajectories only. Exploration noise is part of what it counts: evaluations tell what the agent can do without.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from agent.goals.vocabulary import ACHIEVEMENTS, GOALS, achievement_goal
from agent.progress import Tally
from store.trajectory import Trajectory

WINDOW = 200  # rollouts


class RecentRollouts:
    """The last `WINDOW` rollouts, and separately the last `WINDOW` that carried the wanted instruction."""

    def __init__(self, wanted: tuple[int, ...]) -> None:
        self._wanted = wanted
        self.count = 0  # rollouts finished in all
        self._shares: deque[float] = deque(maxlen=WINDOW)  # of each rollout's instruction, 0..1
        self._progress: deque[int] = deque(maxlen=WINDOW)  # subgoals finished of the wanted instruction

    def add(self, trajectory: Trajectory) -> None:
        """Take in a finished rollout."""
        self.count += 1
        finished = int(trajectory.progress[-1])
        if len(trajectory.instruction):
            self._shares.append(finished / len(trajectory.instruction))
        if trajectory.info.wanted:
            self._progress.append(finished)

    @property
    def success(self) -> Tally:
        """Instructions completed."""
        return Tally(sum(share == 1.0 for share in self._shares), len(self._shares))

    @property
    def wanted(self) -> Tally | None:
        """Completions of the wanted instruction, None if there is no such instruction."""
        return self._reached(len(self._wanted)) if self._wanted else None

    @property
    def subgoals(self) -> tuple[tuple[str, Tally], ...]:
        """For each subgoal of the wanted instruction: in how many of its rollouts it was finished."""
        return tuple((GOALS[goal].name, self._reached(j)) for j, goal in enumerate(self._wanted, 1))

    @property
    def score(self) -> float | None:
        """Mean share of the subgoals finished, once the window is full: by this the best checkpoint is chosen."""
        return float(np.mean(self._shares)) if len(self._shares) == WINDOW else None

    def _reached(self, count: int) -> Tally:
        return Tally(sum(finished >= count for finished in self._progress), len(self._progress))

    def snapshot(self) -> dict[str, Any]:
        """Everything, as JSON's own types."""
        return {"count": self.count, "shares": list(self._shares), "progress": list(self._progress)}

    def restore(self, state: dict[str, Any]) -> None:
        """Take over what `snapshot` returned."""
        self.count = state["count"]
        self._shares.extend(state["shares"])
        self._progress.extend(state["progress"])


def rollout_metrics(trajectories: list[Trajectory]) -> dict[str, float]:
    """Means over some finished rollouts, by metric key; empty without a rollout.

    `rollout/unlocked_<achievement>` is the share of the rollouts that reached an achievement, asked for or not.
    """
    if not trajectories:
        return {}
    metrics = {
        "rollout/return": float(np.mean([t.ret for t in trajectories])),
        "rollout/length": float(np.mean([t.length for t in trajectories])),
        "rollout/epsilon": float(np.mean([t.info.epsilon for t in trajectories])),
        "rollout/death_ratio": float(np.mean([t.info.cause.startswith("death") for t in trajectories])),
    }
    asked = [t for t in trajectories if len(t.instruction)]
    if asked:
        metrics["rollout/success"] = float(np.mean([t.completed for t in asked]))
        metrics["rollout/subgoals_ratio"] = float(np.mean([t.progress[-1] / len(t.instruction) for t in asked]))
        reached = [set(t.events[:, 1].tolist()) for t in asked]
        for index, name in enumerate(ACHIEVEMENTS):
            goal = achievement_goal(index)
            metrics[f"rollout/unlocked_{name}"] = float(np.mean([goal in goals for goals in reached]))
    wanted = [t for t in asked if t.info.wanted]
    if wanted:
        metrics["rollout/wanted_success"] = float(np.mean([t.completed for t in wanted]))
    return metrics
