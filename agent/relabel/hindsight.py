"""Rewrite a trajectory's instruction in hindsight and pay what the environment would have paid for it.

Only instruction, progress, rewards and terminal flags are new: observations and actions are never copied.
Which goals a step reached is read from the trajectory's events; no environment is known here.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from agent.config import RelabelMode
from agent.goals import detection
from agent.relabel.picking import pick, pick_distinct
from agent.relabel.statistics import GoalStatistics
from store.trajectory import Trajectory

ALL_SHARE = 0.8  # share of "all_or_nothing" rewrites that write every slot; the others write none


@dataclass(frozen=True)
class Relabelled:
    """The first `length` transitions of a trajectory, as they look under `instruction`.

    instruction (n,) goal ids; progress (length+1,) subgoals done before each observation; rewards (length,);
    terminated (length,). Arrays may be shared with the trajectory: read only.
    """

    instruction: np.ndarray
    progress: np.ndarray
    rewards: np.ndarray
    terminated: np.ndarray
    length: int


class Hindsight:
    """A trajectory with what relabelling needs and no draw changes, worked out once for all samples."""

    def __init__(self, trajectory: Trajectory) -> None:
        self.trajectory = trajectory
        self.completion_steps = detection.replay(trajectory.instruction.tolist(), trajectory.events, trajectory.length)
        self.num_missing = len(trajectory.instruction) - len(self.completion_steps)
        # Every attempt of a meta-rollout starts the instruction anew; the rewrite knows one attempt only.
        self.can_rewrite = self.num_missing > 0 and not trajectory.is_first[1:].any()
        self._find_candidates()

    def _find_candidates(self) -> None:
        """Steps (C,) that reached goals but paid nothing; `bounds` (C+1,) of the goals of each in `goals`."""
        events = self.trajectory.events
        events = events[~np.isin(events[:, 0], self.completion_steps)]
        self.steps, starts = np.unique(events[:, 0], return_index=True)
        self.bounds = np.append(starts, len(events))
        self.goals = np.ascontiguousarray(events[:, 1])

    @cached_property
    def original(self) -> Relabelled:
        """The trajectory under the instruction it was collected with."""
        t = self.trajectory
        return Relabelled(t.instruction, t.progress, t.rewards, t.terminated, t.length)

    @property
    def num_bytes(self) -> int:
        """Memory of the trajectory and of what was worked out for it."""
        own = (self.completion_steps, self.steps, self.bounds, self.goals)
        return self.trajectory.num_bytes + sum(array.nbytes for array in own)

    def goals_of(self, candidate: int) -> slice:
        """Where `goals` holds the goals of one candidate step."""
        return slice(self.bounds[candidate], self.bounds[candidate + 1])


def relabel(source: Hindsight, mode: RelabelMode, statistics: GoalStatistics, rng: np.random.Generator) -> Relabelled:
    """Mix goals reached by chance into the instruction; the original labels where there is nothing to mix.

    Hindsight instruction relabelling of AMAGO (arXiv 2310.09971): subgoals reached as asked and some reached
    by chance, preferably rare ones, come first in order of time; the unreached rest stays behind them.
    """
    if mode == "none" or not source.can_rewrite:
        return source.original
    count = min(num_synthetic(mode, source.num_missing, rng), len(source.steps))
    if count == 0:
        return source.original
    return relabel_as(source.trajectory, hindsight_instruction(source, count, statistics, rng))


def num_synthetic(mode: RelabelMode, num_missing: int, rng: np.random.Generator) -> int:
    """How many of the `num_missing` unreached subgoals are to be replaced."""
    if mode == "some":
        return int(rng.integers(num_missing + 1))
    if mode == "all_or_nothing":
        return num_missing if rng.random() < ALL_SHARE else 0
    return num_missing


def hindsight_instruction(
    source: Hindsight, count: int, statistics: GoalStatistics, rng: np.random.Generator
) -> np.ndarray:
    """Goal ids (n,): reached and `count` synthetic subgoals in order of time, then the untouched tail."""
    weights = statistics.weights("step" if rng.random() < 0.5 else "trajectory")[source.goals]
    chosen = pick_distinct(np.add.reduceat(weights, source.bounds[:-1]), count, rng)
    slices = [source.goals_of(candidate) for candidate in chosen]
    synthetic = [source.goals[part][pick(weights[part], rng)] for part in slices]
    steps = np.concatenate([source.completion_steps, source.steps[chosen]])
    instruction = source.trajectory.instruction.copy()
    written = np.concatenate([instruction[: len(source.completion_steps)], synthetic])
    instruction[: len(steps)] = written[np.argsort(steps)]
    return instruction


def relabel_as(trajectory: Trajectory, instruction: np.ndarray) -> Relabelled:
    """What the environment would have paid for `instruction`; completing it is a terminal end."""
    completion_steps = detection.replay(instruction.tolist(), trajectory.events, trajectory.length)
    completed = len(completion_steps) == len(instruction) > 0
    length = int(completion_steps[-1]) + 1 if completed else trajectory.length
    rewards = np.zeros(length, trajectory.rewards.dtype)
    rewards[completion_steps] = 1
    progress = np.zeros(length + 1, trajectory.progress.dtype)
    np.cumsum(rewards, out=progress[1:])
    terminated = trajectory.terminated[:length].copy()
    terminated[-1] |= completed
    return Relabelled(instruction, progress, rewards, terminated, length)
