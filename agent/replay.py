"""The trajectories the learner learns from, in memory, and batches of windows cut from them.

Whole trajectories are relabelled before windows are cut. Does not know where trajectories come from (a
collector or the run's shards), nor tensors.
"""

from collections import deque
from dataclasses import dataclass, replace

import numpy as np

from agent.config import RelabelMode
from agent.relabel import GoalStatistics, Hindsight, Relabelled, hindsight
from store.trajectory import Trajectory


@dataclass(frozen=True)
class SequenceArrays:
    """B windows of at most L transitions, L+1 tokens; zeros (goals: no goal) behind the end of a shorter one.

    Transition i of a window leads from token i to token i+1.
    """

    observations: dict[str, np.ndarray]  # (B, L+1, ...)
    goals: np.ndarray  # (B, L+1, max_instruction) int16, subgoals left to do, the active one first
    previous_actions: np.ndarray  # (B, L+1) or (B, L+1, A), zero at the start of a trajectory
    previous_rewards: np.ndarray  # (B, L+1) float32, zero at the start of a trajectory
    is_first: np.ndarray  # (B, L+1) bool
    time: np.ndarray  # (B, L+1) int32, steps since the start of the trajectory
    token_valid: np.ndarray  # (B, L+1) bool, the token exists
    actions: np.ndarray  # (B, L) or (B, L, A)
    rewards: np.ndarray  # (B, L) float32
    terminated: np.ndarray  # (B, L) bool
    truncated: np.ndarray  # (B, L) bool
    valid: np.ndarray  # (B, L) bool, the transition exists
    trajectories: np.ndarray  # (B,) int64, running number of the trajectory a window was cut from
    starts: np.ndarray  # (B,) int32, the step it was cut at


class Replay:
    """Holds the newest trajectories, at most `max_steps` transitions of them (but always the newest one)."""

    def __init__(
        self, max_steps: int, context: int, max_instruction: int, no_goal: int, reward_share: float = 0.0
    ) -> None:
        """`context`: L, transitions of a window. `max_instruction`: length of the longest instruction.

        `no_goal` fills the slots behind an instruction. `reward_share`: see `sample`.
        """
        self.max_steps = max_steps
        self.context = context
        self.max_instruction = max_instruction
        self.no_goal = no_goal
        self.reward_share = reward_share
        self.num_steps = 0
        self.num_bytes = 0
        self._sources: deque[Hindsight] = deque()

    @property
    def num_trajectories(self) -> int:
        return len(self._sources)

    def add(self, trajectory: Trajectory) -> None:
        """Append the newest trajectory, without its diagnostics, and drop the oldest ones there is no room for."""
        assert trajectory.length > 0, "a trajectory has at least one transition"
        assert len(trajectory.instruction) <= self.max_instruction
        self._sources.append(Hindsight(replace(trajectory, diagnostics={})))
        self._count(self._sources[-1], sign=1)
        while self.num_steps > self.max_steps and self.num_trajectories > 1:
            self._count(self._sources.popleft(), sign=-1)

    def sample(
        self, batch_size: int, rng: np.random.Generator, relabel: RelabelMode, statistics: GoalStatistics
    ) -> SequenceArrays:
        """Windows at uniformly drawn starts of uniformly drawn trajectories, each relabelled as a whole.

        `reward_share` of them are drawn among those only that hold a step with a reward, where the trajectory has one.
        """
        assert self._sources, "there is nothing to sample from"
        batch = self._empty_batch(batch_size)
        for row, index in enumerate(rng.integers(self.num_trajectories, size=batch_size)):
            source = self._sources[index]
            labels = hindsight.relabel(source, relabel, statistics, rng)
            start = self._draw_start(labels, rng)
            self._write_window(batch, row, source.trajectory, labels, start)
        return batch

    def _draw_start(self, labels: Relabelled, rng: np.random.Generator) -> int:
        last = max(labels.length - self.context, 0)
        if rng.random() < self.reward_share and (paying := np.flatnonzero(labels.rewards)).size:
            step = int(rng.choice(paying))
            return int(rng.integers(max(step - self.context + 1, 0), min(step, last) + 1))
        return int(rng.integers(last + 1))

    def _count(self, source: Hindsight, sign: int) -> None:
        self.num_steps += sign * source.trajectory.length
        self.num_bytes += sign * source.num_bytes

    def _empty_batch(self, batch_size: int) -> SequenceArrays:
        newest = self._sources[-1].trajectory
        tokens, steps = (batch_size, self.context + 1), (batch_size, self.context)
        action_shape, action_type = newest.actions.shape[1:], newest.actions.dtype
        return SequenceArrays(
            observations={
                key: np.zeros(tokens + array.shape[1:], array.dtype) for key, array in newest.observations.items()
            },
            goals=np.full((*tokens, self.max_instruction), self.no_goal, np.int16),
            previous_actions=np.zeros(tokens + action_shape, action_type),
            previous_rewards=np.zeros(tokens, np.float32),
            is_first=np.zeros(tokens, bool),
            time=np.zeros(tokens, np.int32),
            token_valid=np.zeros(tokens, bool),
            actions=np.zeros(steps + action_shape, action_type),
            rewards=np.zeros(steps, np.float32),
            terminated=np.zeros(steps, bool),
            truncated=np.zeros(steps, bool),
            valid=np.zeros(steps, bool),
            trajectories=np.zeros(batch_size, np.int64),
            starts=np.zeros(batch_size, np.int32),
        )

    def _write_window(
        self, batch: SequenceArrays, row: int, trajectory: Trajectory, labels: Relabelled, start: int
    ) -> None:
        """Fill one row with the transitions of `trajectory` from `start` on, as `labels` sees them."""
        stop = min(start + self.context, labels.length)
        steps, tokens = slice(start, stop), slice(start, stop + 1)
        num_steps, num_tokens = stop - start, stop - start + 1

        for key, array in trajectory.observations.items():
            batch.observations[key][row, :num_tokens] = array[tokens]
        batch.goals[row, :num_tokens] = remaining_goals(
            labels.instruction, labels.progress[tokens], self.max_instruction, self.no_goal
        )
        batch.is_first[row, :num_tokens] = trajectory.is_first[tokens]
        batch.time[row, :num_tokens] = np.arange(start, stop + 1)
        batch.token_valid[row, :num_tokens] = True

        batch.actions[row, :num_steps] = trajectory.actions[steps]
        batch.rewards[row, :num_steps] = labels.rewards[steps]
        batch.terminated[row, :num_steps] = labels.terminated[steps]
        batch.truncated[row, :num_steps] = trajectory.truncated[steps]
        batch.valid[row, :num_steps] = True

        has_previous = slice(1 if start == 0 else 0, num_tokens)
        previous = slice(max(start - 1, 0), stop)
        batch.previous_actions[row, has_previous] = trajectory.actions[previous]
        batch.previous_rewards[row, has_previous] = labels.rewards[previous]

        batch.trajectories[row] = trajectory.info.number
        batch.starts[row] = start


def remaining_goals(instruction: np.ndarray, progress: np.ndarray, width: int, no_goal: int) -> np.ndarray:
    """Goal ids (T, width) left of `instruction` (n,) after `progress` (T,) subgoals, `no_goal` behind them."""
    padded = np.full(len(instruction) + width, no_goal, np.int16)
    padded[: len(instruction)] = instruction
    return padded[progress[:, None] + np.arange(width)]
