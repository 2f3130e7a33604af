"""One attempt of a rollout as an episode of a Minari dataset: its arrays by path, and its attributes.

    observations/<name>       T+1 rows; where there are instructions also `goal`, the subgoal that is due, and
                              `instruction`, all of them in words
    actions, rewards, terminations, truncations       T rows
    infos/<name>              T+1 rows, the first of them of the reset

Knows no files. Goals come in words from whoever exports: the store knows their ids alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from store.minari import OURS
from store.shard import INDEX_DTYPE, index_row
from store.trajectory import Trajectory

GOAL, INSTRUCTION = "goal", "instruction"
DIAGNOSTICS = "diagnostics"  # within the infos: NaN in the row of the reset
ROW = f"{OURS}/index_row"  # the attribute from which a rollout is put together again
NOTHING = -1  # fills `achieved`
_SUCCESS_TOLERANCE = 1e-6  # rewards are summed in floating point

Describe = Callable[[Sequence[int]], str]
"""Goal ids in words."""


@dataclass(frozen=True)
class Episode:
    """What becomes one group of the file."""

    arrays: dict[str, np.ndarray]  # by path
    attributes: dict[str, Any]


def episodes_of(trajectory: Trajectory, run: str, spec: dict[str, Any], describe: Describe) -> list[Episode]:
    """An episode for each attempt of a rollout; `spec` is what its shard says of the environment.

    Where the rollout went on with another attempt, no final observation was stored: the one before stands in for it,
    and the end counts as a truncation. The attribute "amago/final" tells these episodes apart.
    """
    spans = trajectory.spans
    return [
        Episode(
            _arrays(trajectory, start, stop, spec, describe),
            _attributes(trajectory, run, number, len(spans), stop, describe),
        )
        for number, (start, stop) in enumerate(spans, 1)
    ]


def _arrays(
    trajectory: Trajectory, start: int, stop: int, spec: dict[str, Any], describe: Describe
) -> dict[str, np.ndarray]:
    arrays = {
        f"observations/{name}": _states(trajectory, of, start, stop) for name, of in trajectory.observations.items()
    }
    progress = trajectory.progress[start : stop + 1].copy()
    progress[-1] = trajectory.finished(stop)
    if spec["max_instruction"]:
        arrays |= _words(trajectory, progress, describe)
        arrays["infos/progress"] = progress
        arrays["infos/achieved"] = _achieved(trajectory, start, stop)
    for name, rows in trajectory.diagnostics.items():
        arrays[f"infos/{DIAGNOSTICS}/{name}"] = np.concatenate([np.full_like(rows[:1], np.nan), rows[start:stop]])
    success = _succeeded(trajectory, start, stop, spec)
    if success is not None:
        arrays["infos/success"] = np.append(np.zeros(stop - start, bool), success)
    terminated, truncated = trajectory.terminated[start:stop], trajectory.truncated[start:stop].copy()
    truncated[-1] |= not terminated[-1]  # an episode of Minari's has an end
    return arrays | {
        "actions": trajectory.actions[start:stop],
        "rewards": trajectory.rewards[start:stop].astype(np.float64),
        "terminations": terminated,
        "truncations": truncated,
    }


def _states(trajectory: Trajectory, array: np.ndarray, start: int, stop: int) -> np.ndarray:
    """Rows start..stop; the last one only if it belongs to this attempt."""
    states = array[start : stop + 1]
    if trajectory.is_first[stop]:
        states = np.concatenate([states[:-1], states[-2:-1]])
    return states


def _words(trajectory: Trajectory, progress: np.ndarray, describe: Describe) -> dict[str, np.ndarray]:
    goals = trajectory.instruction.tolist()
    due = [describe(goals[done : done + 1]) if done < len(goals) else "" for done in range(len(goals) + 1)]
    return {
        f"observations/{GOAL}": _texts(due)[progress],
        f"observations/{INSTRUCTION}": _texts([describe(goals) if goals else ""])[np.zeros_like(progress)],
    }


def _texts(texts: list[str]) -> np.ndarray:
    """As bytes of a fixed length, at least one: what HDF5 can compress, and Minari decodes like any other."""
    encoded = [text.encode() for text in texts]
    return np.array(encoded, f"S{max(1, *map(len, encoded))}")


def _achieved(trajectory: Trajectory, start: int, stop: int) -> np.ndarray:
    """(T+1, K): the goals that the step before each state reached, in order; NOTHING fills the rows."""
    events = trajectory.events
    events = events[(events[:, 0] >= start) & (events[:, 0] < stop)]
    steps = events[:, 0] - start
    place = np.arange(len(steps)) - np.searchsorted(steps, steps)  # among the goals of the same step
    achieved = np.full((stop - start + 1, int(place.max(initial=0)) + 1), NOTHING, np.int32)
    achieved[steps + 1, place] = events[:, 1]
    return achieved


def _succeeded(trajectory: Trajectory, start: int, stop: int, spec: dict[str, Any]) -> bool | None:
    """Whether the attempt was a success; None where the environment does not tell."""
    if spec["max_instruction"]:
        return 0 < len(trajectory.instruction) == trajectory.finished(stop)
    if spec["success_return"] is None:
        return None
    ret = trajectory.rewards[start:stop].sum(dtype=np.float64)
    return bool(ret >= spec["success_return"] - _SUCCESS_TOLERANCE)


def _attributes(
    trajectory: Trajectory, run: str, number: int, total: int, stop: int, describe: Describe
) -> dict[str, Any]:
    info = trajectory.info
    ours = {
        "run": run,
        "trial": info.number,
        "attempt": number,
        "attempts": total,
        "final": not trajectory.is_first[stop],
        "split": info.split,
        "step": info.step,
        "instruction": describe(trajectory.instruction.tolist()) if len(trajectory.instruction) else "",
        "goals": trajectory.instruction,
        "cause": info.cause if number == total else "",
        "index_row": np.array(index_row(trajectory), INDEX_DTYPE),
    }
    return {"seed": info.seed, **{f"{OURS}/{name}": value for name, value in ours.items()}}
