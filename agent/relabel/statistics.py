"""How often every goal is reached, over the whole life of a run, and the weight it gets in relabelling.

Rare goals teach more than common ones: a goal of frequency f weighs clip((-log10 f)^4, 1e-3, 1e5). The counts
are part of a checkpoint, so that a resumed run does not take common goals for rare ones. Replay is not known
here: whoever collects trajectories observes each of them once.
"""

from typing import Literal

import numpy as np

from store.errors import CheckpointError
from store.trajectory import Trajectory

FrequencyUnit = Literal["step", "trajectory"]

MIN_WEIGHT, MAX_WEIGHT = 1e-3, 1e5
NEVER = 1e-30  # stands for frequency 0: rare enough for the largest weight, and its logarithm is finite


class GoalStatistics:
    """Counts of steps and of trajectories that reached each of `num_goals` goals."""

    def __init__(self, num_goals: int, kinds: np.ndarray | None = None) -> None:
        """`kinds` (goals,): the number of each goal's kind; without, every goal is one of its own.

        Goals of a kind are as rare as the kind is: one of many places to go to is not rare, for a place is always
        reached.
        """
        self.num_goals = num_goals
        self._kinds = np.arange(num_goals) if kinds is None else kinds
        self.num_steps = 0
        self.num_trajectories = 0
        self.step_counts = np.zeros(num_goals, np.int64)
        self.trajectory_counts = np.zeros(num_goals, np.int64)
        self._weights: dict[FrequencyUnit, np.ndarray] = {}

    def observe(self, trajectory: Trajectory) -> None:
        """Count the goals of one new trajectory, whether or not its instruction asked for them."""
        counts = np.bincount(trajectory.events[:, 1], minlength=self.num_goals)
        assert len(counts) == self.num_goals, "an event names a goal outside the vocabulary"
        self.num_steps += trajectory.length
        self.num_trajectories += 1
        self.step_counts += counts
        self.trajectory_counts += counts > 0
        self._weights.clear()

    def weights(self, unit: FrequencyUnit) -> np.ndarray:
        """Weight of every goal (num_goals,) from its frequency per time step or per trajectory."""
        if unit not in self._weights:
            self._weights[unit] = self._compute_weights(unit)
        return self._weights[unit]

    def _compute_weights(self, unit: FrequencyUnit) -> np.ndarray:
        if unit == "step":
            frequency = self.step_counts / max(self.num_steps, 1)
        else:
            frequency = self.trajectory_counts / max(self.num_trajectories, 1)
        # The sum over a kind counts a trajectory that reached two of its goals twice: an upper bound of its share.
        frequency = np.bincount(self._kinds, frequency)[self._kinds].clip(NEVER, 1)
        return np.clip(np.log10(frequency) ** 4, MIN_WEIGHT, MAX_WEIGHT)

    def state(self) -> dict[str, int | list[int]]:
        """Everything counted so far, as JSON can hold it."""
        return {
            "num_steps": self.num_steps,
            "num_trajectories": self.num_trajectories,
            "step_counts": self.step_counts.tolist(),
            "trajectory_counts": self.trajectory_counts.tolist(),
        }

    def load(self, state: dict) -> None:
        """Continue from a `state()`. Raises CheckpointError when it belongs to another vocabulary."""
        step_counts = np.array(state["step_counts"], np.int64)
        trajectory_counts = np.array(state["trajectory_counts"], np.int64)
        if not step_counts.shape == trajectory_counts.shape == (self.num_goals,):
            raise CheckpointError(
                f"the checkpoint counts {step_counts.size} goals, this version knows {self.num_goals}; "
                "resume with the version of amago that wrote the checkpoint"
            )
        self.num_steps = int(state["num_steps"])
        self.num_trajectories = int(state["num_trajectories"])
        self.step_counts, self.trajectory_counts = step_counts, trajectory_counts
        self._weights.clear()
