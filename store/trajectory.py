"""What is stored of one rollout, one or several attempts at the same task: the fields, their alignment, the checks.

    observations[t], progress[t] -> actions[t] -> rewards[t], terminated[t], truncated[t] -> observations[t+1]
                        -> diagnostics[t], for some rollouts

Previous actions and rewards are made by shifting, never stored twice. This module knows no files or tensors.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

MAX_TEXT_BYTES = 64
WORKER_LOST = "worker lost"
CUT_SHORT = ("horizon", WORKER_LOST)  # causes that end a rollout in the middle of an attempt
STORABLE_KINDS = "buif"  # bool, unsigned, signed, floating


@dataclass(frozen=True, kw_only=True)
class TrajectoryInfo:
    """Where a trajectory comes from and how it ended."""

    environment: str
    seed: int
    actor: int  # index of the environment copy that produced it
    split: str  # "train" or "eval"
    cause: str  # how it ended: "completed", "death by zombie", "time limit", "horizon", "worker lost", ...
    wanted: bool  # the instruction is the one the user asked for, not a sampled one
    policy_update: int  # optimiser steps behind the policy that acted
    step: int  # global step counter when it ended
    epsilon: float  # mean exploration rate
    game: str = ""  # name of the one played, where the environment plays several
    number: int = -1  # running number within its split of the run, -1 before the store gives one


class Attempt(NamedTuple):
    """One attempt of a rollout in figures."""

    length: int  # steps
    ret: float  # sum of its rewards, that of its last step among them
    progress: int  # subgoals finished
    reached: frozenset[int] = frozenset()  # goals, asked for or not


@dataclass(frozen=True, eq=False)
class Trajectory:
    """T steps of one rollout; observations, is_first and progress have one row more: the final state.

    A new attempt begins at every `is_first`. Its first observation takes the place of the last attempt's final one.
    """

    observations: dict[str, np.ndarray]  # name -> (T+1, ...)
    actions: np.ndarray  # (T,) or (T, A)
    rewards: np.ndarray  # (T,) float32
    terminated: np.ndarray  # (T,) bool: stops bootstrapping
    truncated: np.ndarray  # (T,) bool: does not
    is_first: np.ndarray  # (T+1,) bool
    progress: np.ndarray  # (T+1,) uint8: subgoals finished before observation t
    instruction: np.ndarray  # (n,) int16 goal ids in order
    events: np.ndarray  # (E, 2) int32 rows (step t, goal id): goal reached by actions[t], sorted by step
    info: TrajectoryInfo
    diagnostics: dict[str, np.ndarray] = dataclasses.field(default_factory=dict)
    """What the policy thought when it acted, by name (T, K) float16; empty for most training rollouts.

    "probabilities" (T, A) of discrete actions, and "values" (T, G): expected returns in the unit of the rewards, one
    for each discount, the acting one last.
    """

    @property
    def length(self) -> int:
        """T, the number of steps."""
        return len(self.rewards)

    @property
    def ret(self) -> float:
        """Sum of the rewards."""
        return float(self.rewards.sum(dtype=np.float64))

    @property
    def completed(self) -> bool:
        """The last attempt finished every subgoal of the instruction; False without an instruction."""
        return len(self.instruction) > 0 and int(self.progress[-1]) == len(self.instruction)

    @property
    def attempts(self) -> list[Attempt]:
        """The attempts in order, at least one; a last one of several that the rollout's end cut short is left out."""
        spans = self.spans
        if self.info.cause in CUT_SHORT and len(spans) > 1:
            spans.pop()
        return [
            Attempt(
                stop - start,
                float(self.rewards[start:stop].sum(dtype=np.float64)),
                self.finished(stop),
                self.reached(start, stop),
            )
            for start, stop in spans
        ]

    @property
    def spans(self) -> list[tuple[int, int]]:
        """Steps [start, stop) of every attempt in order, one that the rollout's end cut short among them."""
        starts = [0, *(t for t in np.flatnonzero(self.is_first[:-1]).tolist() if t > 0)]
        return list(zip(starts, [*starts[1:], self.length], strict=True))

    def reached(self, start: int, stop: int) -> frozenset[int]:
        """The goals reached by the steps [start, stop), asked for or not."""
        first, last = np.searchsorted(self.events[:, 0], (start, stop))
        return frozenset(self.events[first:last, 1].tolist())

    def finished(self, stop: int) -> int:
        """Subgoals finished by the attempt that ends before step `stop`, where `progress` may be a new one's."""
        if not self.is_first[stop]:
            return int(self.progress[stop])
        before = int(self.progress[stop - 1])
        due = self.instruction[before : before + 1]
        last = self.events[self.events[:, 0] == stop - 1, 1]
        return before + int(np.isin(due, last).any())

    @property
    def num_bytes(self) -> int:
        """Size of the arrays in memory."""
        return sum(array.nbytes for array in _arrays(self).values())


def validate(trajectory: Trajectory) -> None:
    """Raise ValueError naming the first field whose type, shape or content breaks the contract."""
    steps = trajectory.length
    _require(steps >= 1, "rewards", "a trajectory has at least one step")
    _check_arrays(trajectory, steps)
    _check_progress(trajectory)
    _check_events(trajectory, steps)
    _check_diagnostics(trajectory, steps)
    _check_info(trajectory.info)


def _arrays(trajectory: Trajectory) -> dict[str, np.ndarray]:
    named = {f"observations/{name}": array for name, array in trajectory.observations.items()}
    named |= {f"diagnostics/{name}": array for name, array in trajectory.diagnostics.items()}
    return named | {
        "actions": trajectory.actions,
        "rewards": trajectory.rewards,
        "terminated": trajectory.terminated,
        "truncated": trajectory.truncated,
        "is_first": trajectory.is_first,
        "progress": trajectory.progress,
        "instruction": trajectory.instruction,
        "events": trajectory.events,
    }


def _check_arrays(trajectory: Trajectory, steps: int) -> None:
    _require(bool(trajectory.observations), "observations", "at least one is needed")
    for name, array in trajectory.observations.items():
        field = f"observations/{name}"
        _check_name(name, field)
        _require_storable(array, field)
        if array.ndim < 1 or len(array) != steps + 1:
            raise _broken(field, f"needs {steps + 1} rows, has shape {array.shape}")
    actions = trajectory.actions
    _require_storable(actions, "actions")
    _require(
        actions.ndim in (1, 2) and len(actions) == steps,
        "actions",
        f"needs {steps} rows of at most 1 dimension",
    )
    expected = {
        "rewards": (np.float32, (steps,)),
        "terminated": (np.bool_, (steps,)),
        "truncated": (np.bool_, (steps,)),
        "is_first": (np.bool_, (steps + 1,)),
        "progress": (np.uint8, (steps + 1,)),
        "instruction": (np.int16, (len(trajectory.instruction),)),
        "events": (np.int32, (len(trajectory.events), 2)),
    }
    for field, (dtype, shape) in expected.items():
        array = getattr(trajectory, field)
        if array.dtype != dtype:
            raise _broken(field, f"needs type {np.dtype(dtype)}, has {array.dtype}")
        if array.shape != shape:
            raise _broken(field, f"needs shape {shape}, has {array.shape}")


def _check_diagnostics(trajectory: Trajectory, steps: int) -> None:
    for name, array in trajectory.diagnostics.items():
        field = f"diagnostics/{name}"
        _check_name(name, field)
        if array.dtype != np.float16:
            raise _broken(field, f"needs type float16, has {array.dtype}")
        if array.ndim != 2 or len(array) != steps:
            raise _broken(field, f"needs {steps} rows, has shape {array.shape}")


def _check_name(name: str, field: str) -> None:
    _require(bool(name) and name != "." and "/" not in name, field, "the name must not be empty, '.' or hold '/'")


def _check_progress(trajectory: Trajectory) -> None:
    progress = trajectory.progress.astype(np.int64)
    _require(progress.max() <= len(trajectory.instruction), "progress", "exceeds the number of subgoals")
    gains = np.diff(progress)[~trajectory.is_first[1:]]
    _require(bool(((gains == 0) | (gains == 1)).all()), "progress", "grows by 0 or 1 within an attempt")


def _check_events(trajectory: Trajectory, steps: int) -> None:
    at = trajectory.events[:, 0]
    _require(bool(((at >= 0) & (at < steps)).all()), "events", f"steps must lie in [0, {steps})")
    _require(bool((np.diff(at) >= 0).all()), "events", "must be sorted by step")


def _check_info(info: TrajectoryInfo) -> None:
    for field in ("environment", "split", "cause", "game"):
        text = getattr(info, field)
        fits = len(text.encode("utf-8")) <= MAX_TEXT_BYTES and "\0" not in text
        _require(fits, f"info.{field}", f"needs at most {MAX_TEXT_BYTES} bytes without NUL")
    for field in ("seed", "actor", "policy_update", "step", "number"):
        _require(-(2**63) <= getattr(info, field) < 2**63, f"info.{field}", "does not fit 64 bits")


def _require_storable(array: np.ndarray, field: str) -> None:
    if array.dtype.kind not in STORABLE_KINDS:
        raise _broken(field, f"type {array.dtype} cannot be stored")


def _require(holds: bool, field: str, message: str) -> None:
    if not holds:
        raise _broken(field, message)


def _broken(field: str, message: str) -> ValueError:
    """The error of a field. Messages that quote a type are made on demand only: that takes longer than the check."""
    return ValueError(f"trajectory field {field}: {message}")
