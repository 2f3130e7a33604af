"""A step of a stored trajectory in words. Pure: draws nothing, opens nothing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from agent.envs.crafter.engine import ACTIONS
from agent.envs.mission import mission
from amago_cli.tui.text import clean, compact
from store.rollout_index import Index
from store.trajectory import Trajectory

_DIRECTIONS = {
    "tmaze": ("right", "up", "left", "down"),
    "maze": ("up", "right", "down", "left"),
    "dark-key-door": ("left", "up", "right", "down", "stay"),
}
_LONG = 150  # steps: a longer episode is entered where something happens
_BEFORE = 30  # steps before that


def step_lines(trajectory: Trajectory, t: int, names: Sequence[str], width: int | None = None) -> list[str]:
    """State `t`, 0..T, in three lines: step and action, the instruction, then reward, value and what was reached.

    Of an instruction that is longer than `width` the subgoals finished are only counted.
    """
    return [_where(trajectory, t), _instruction(trajectory, t, names, width), _notes(trajectory, t, names)]


def action_name(environment: str, action: np.ndarray) -> str:
    """'move left'; a number, or several, where the actions have no names."""
    if action.ndim:
        return " ".join(compact(float(value)) for value in action)
    names = ACTIONS if environment == "crafter" else _DIRECTIONS.get(environment, ())
    number = int(action)
    return names[number].replace("_", " ") if 0 <= number < len(names) else f"action {number}"


def first_look(trajectory: Trajectory) -> int:
    """The step at which to begin to watch: shortly before the first subgoal of a long episode, or before its end."""
    if trajectory.length <= _LONG:
        return 0
    gains = np.flatnonzero(np.diff(trajectory.progress.astype(np.int64)) > 0)
    moment = int(gains[0]) if len(gains) else trajectory.length - _LONG
    return max(moment - _BEFORE, 0)


def succeeded(index: Index, success_return: float | None) -> np.ndarray:
    """(N,) int64: 1 success, 0 failure, -1 where nothing tells."""
    told = np.full(len(index), -1) if success_return is None else (index.ret >= success_return - 1e-6).astype(np.int64)
    return np.where(index.num_subgoals > 0, index.completed.astype(np.int64), told)


def _where(trajectory: Trajectory, t: int) -> str:
    if t == trajectory.length:
        return f"step {t} of {t}: {clean(trajectory.info.cause) or 'the end'}, return {compact(trajectory.ret)}"
    return f"step {t} of {trajectory.length}: {action_name(trajectory.info.environment, trajectory.actions[t])}"


def _instruction(trajectory: Trajectory, t: int, names: Sequence[str], width: int | None) -> str:
    """Subgoals with a tick where finished, and an arrow at the one whose turn it is; else game and mission."""
    finished = int(trajectory.progress[t])
    subgoals = [_name(goal, names) for goal in trajectory.instruction.tolist()]
    marks = ["✓ " if place < finished else "→ " if place == finished else "" for place in range(len(subgoals))]
    parts = [mark + subgoal for mark, subgoal in zip(marks, subgoals, strict=True)]
    words = ", ".join(parts)
    if width is not None and len(words) > width and 0 < finished < len(parts):
        words = f"✓ {finished}, {', '.join(parts[finished:])}"
    told = mission(trajectory.info.environment, trajectory.observations, t)
    return words or ": ".join(part for part in (clean(trajectory.info.game), told) if part) or "no instruction"


def _notes(trajectory: Trajectory, t: int, names: Sequence[str]) -> str:
    values = trajectory.diagnostics.get("values")
    reward = float(trajectory.rewards[t]) if t < trajectory.length else 0.0
    parts = [f"reward {compact(reward)}"] if reward else []
    if values is not None and values.shape[1] and t < len(values):
        parts.append(f"value {compact(float(values[t, -1]))}")
    reached = trajectory.events[trajectory.events[:, 0] == t, 1].tolist()
    if reached:
        parts.append("reached " + ", ".join(_name(goal, names) for goal in reached))
    return " · ".join(parts)


def _name(goal: int, names: Sequence[str]) -> str:
    return names[goal] if 0 <= goal < len(names) else f"goal {goal}"
