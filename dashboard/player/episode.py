"""A stored rollout in words and marks, frame by frame: what the pages write beside its pictures.

Pure functions of a trajectory and the description of its environment, both possibly a stranger's. Knows no Streamlit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from agent.envs.crafter.engine import ACTIONS
from agent.goals.vocabularies import vocabulary
from dashboard.player.tracks import Span, spans
from store.trajectory import Trajectory

NOT_RECORDED = "not recorded"
MAX_MARKS = 400  # of one kind on a strip
_MAX_NUMBERS = 48  # of one observation that are written out

GoalState = Literal["finished", "active", "future"]


@dataclass(frozen=True, eq=False)
class Episode:
    """One rollout of a run with the names that belong to it."""

    run: str
    split: str
    number: int
    trajectory: Trajectory
    goal_names: tuple[str, ...]  # by goal id

    @property
    def content(self) -> str:
        """Tells this rollout's frames from all others, also from those of a later run of the same name."""
        info, trajectory = self.trajectory.info, self.trajectory
        return f"{self.run}/{self.split}/{self.number}/{info.seed}/{info.step}/{trajectory.length}/{trajectory.ret}"

    def goals(self, t: int) -> list[tuple[str, GoalState]]:
        """The subgoals of the instruction and how each stands in frame `t`."""
        done = int(self.trajectory.progress[t])
        names = [self.goal_name(goal) for goal in self.trajectory.instruction.tolist()]
        return [(name, _state(place, done)) for place, name in enumerate(names)]

    def goal_name(self, goal: int) -> str:
        """Words for a goal id, its number where the environment does not say."""
        return self.goal_names[goal] if 0 <= goal < len(self.goal_names) else f"goal {goal}"

    def action_name(self, action: np.ndarray) -> str:
        """Words for one row of the actions."""
        if self.trajectory.info.environment == "crafter" and action.ndim == 0 and 0 <= action < len(ACTIONS):
            return ACTIONS[int(action)].replace("_", " ")
        return numbers(action)


def episode(run: str, split: str, number: int, trajectory: Trajectory, spec: Mapping[str, Any]) -> Episode:
    """The episode with names from the description of its environment."""
    try:
        names = vocabulary(str(spec.get("vocabulary", ""))).names
    except ValueError:
        names = ()
    return Episode(run, split, number, trajectory, names)


def numbers(array: np.ndarray) -> str:
    """An array in one line, cut where it is long."""
    flat = np.atleast_1d(array).ravel()
    text = ", ".join(f"{value:.4g}" for value in flat[:_MAX_NUMBERS].tolist())
    return text + (f", … ({flat.size} numbers)" if flat.size > _MAX_NUMBERS else "")


def observation_rows(trajectory: Trajectory, t: int) -> list[tuple[str, str]]:
    """Name and content of every observation of frame `t`."""
    return [(name, numbers(array[t])) for name, array in trajectory.observations.items()]


def facts(shown: Episode, start: int, stop: int, *, pictured: bool) -> dict[str, list[Any]]:
    """What is written beside the frames [start, stop): goal, action and reward, and the observation if that is all."""
    totals = np.concatenate([[0.0], np.cumsum(shown.trajectory.rewards, dtype=np.float64)])
    frames = range(start, stop)
    words: dict[str, list[Any]] = {
        "goal": [_goal_text(shown, t) for t in frames],
        "action": [_action_text(shown, t) for t in frames],
        "reward": [_reward_text(shown.trajectory, totals, t) for t in frames],
    }
    if not pictured:
        words["observation"] = [observation_rows(shown.trajectory, t) for t in frames]
    return words


def marks(shown: Episode, span: Span) -> list[dict[str, Any]]:
    """What happens within a span, each as frame `t` whose action does it, kind and label; lists are bounded.

    Kinds are "plus" and "minus" for rewards, "goal" for a finished subgoal, "event" for any other goal, and "attempt".
    """
    trajectory = shown.trajectory
    rewards = trajectory.rewards
    paid = np.flatnonzero(rewards[span.first : span.last + 1]) + span.first
    found = [
        {"t": t, "kind": "plus" if rewards[t] > 0 else "minus", "label": f"frame {t}: reward {rewards[t]:+.3g}"}
        for t in _thinned(paid, np.abs(rewards[paid]))
    ]
    for t, goal in _first_reached(trajectory, span):
        due = _is_due(trajectory, t, goal)
        found.append({"t": t, "kind": "goal" if due else "event", "label": f"frame {t}: {shown.goal_name(goal)}"})
    starts = [each.first for each in spans(trajectory)[1:] if span.first < each.first <= span.last][:MAX_MARKS]
    return found + [{"t": t, "kind": "attempt", "label": f"frame {t}: a new attempt"} for t in starts]


def _first_reached(trajectory: Trajectory, span: Span) -> list[tuple[int, int]]:
    """(step, goal) within a span: what is due each time, anything else only the first time in its attempt."""
    attempt = np.cumsum(trajectory.is_first)
    seen: set[tuple[int, int]] = set()
    found = []
    for t, goal in trajectory.events.tolist():
        if not span.first <= t <= span.last:
            continue
        if _is_due(trajectory, t, goal) or (int(attempt[t]), goal) not in seen:
            found.append((t, goal))
        seen.add((int(attempt[t]), goal))
    return found[:MAX_MARKS]


def _state(place: int, done: int) -> GoalState:
    """How the subgoal at a place of the instruction stands when `done` are finished."""
    if place < done:
        return "finished"
    return "active" if place == done else "future"


def _is_due(trajectory: Trajectory, t: int, goal: int) -> bool:
    done = int(trajectory.progress[t])
    return goal in trajectory.instruction[done : done + 1].tolist()


def _thinned(positions: np.ndarray, weights: np.ndarray) -> list[int]:
    """The MAX_MARKS positions of greatest weight, in order."""
    keep = np.sort(np.argsort(-weights, kind="stable")[:MAX_MARKS])
    return positions[keep].tolist()


def _goal_text(shown: Episode, t: int) -> str:
    goals = shown.goals(t)
    if not goals:
        return ""  # and the player leaves the line out
    done = int(shown.trajectory.progress[t])
    if done >= len(goals):
        return f"all {len(goals)} finished"
    return f"{goals[done][0]} ({done + 1} of {len(goals)})"


def _action_text(shown: Episode, t: int) -> str:
    trajectory = shown.trajectory
    if t == trajectory.length:
        return f"none: {trajectory.info.cause or 'the end'}"
    action = trajectory.actions[t]
    probabilities = trajectory.diagnostics.get("probabilities")
    chance = ""
    if probabilities is not None and action.ndim == 0 and 0 <= action < probabilities.shape[1]:
        chance = f" ({100 * float(probabilities[t, int(action)]):.0f}\u00a0%)"
    return shown.action_name(action) + chance


def _reward_text(trajectory: Trajectory, totals: np.ndarray, t: int) -> str:
    if t == trajectory.length:
        return f"in total {totals[t]:.4g}"
    return f"{trajectory.rewards[t]:+.3g}, {totals[t]:.4g} before"
