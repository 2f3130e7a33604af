"""Batches of windows cut from the trajectories the learner learns from.

Whole trajectories are relabelled before windows are cut. Does not know where trajectories come from (a
collector or the run's shards) nor where they are, nor tensors.
"""

from dataclasses import dataclass

import numpy as np

from agent.config import DrawMode, RelabelMode
from agent.relabel import GoalStatistics, Hindsight, Relabelled, hindsight
from agent.shelf import Shelf


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
    reached: np.ndarray  # (B, L, K) bool, the kinds of goals that the transition reached, asked for or not
    trajectories: np.ndarray  # (B,) int64, running number of the trajectory a window was cut from
    starts: np.ndarray  # (B,) int32, the step it was cut at


@dataclass(frozen=True)
class _Drawn:
    """A trajectory, and a step that the window is to hold."""

    source: Hindsight
    around: int | None = None


class Replay:
    """Draws windows from the trajectories on a shelf."""

    def __init__(
        self,
        shelf: Shelf,
        context: int,
        max_instruction: int,
        no_goal: int,
        reward_share: float = 0.0,
        by: DrawMode = "trajectory",
        goal_share: float = 0.0,
        kinds: np.ndarray | None = None,
    ) -> None:
        """`context`: L, transitions of a window. `max_instruction`: length of the longest instruction.

        `no_goal` fills the slots behind an instruction. `reward_share`, `by` and `goal_share`: see `sample`.
        `kinds` (goals,): the number of each goal's kind, from 0; without, nothing is told of the goals reached. Where
        there are no instructions, what pays is the one goal.
        """
        self.shelf = shelf
        self.context = context
        self.max_instruction = max_instruction
        self.no_goal = no_goal
        self.reward_share = reward_share
        self.by: DrawMode = by
        self.goal_share = goal_share
        self.kinds = kinds
        self._num_kinds = 0 if kinds is None else int(kinds.max(initial=-1)) + 1

    def sample(
        self, batch_size: int, rng: np.random.Generator, relabel: RelabelMode, statistics: GoalStatistics
    ) -> SequenceArrays:
        """Windows at uniformly drawn starts of drawn trajectories, each relabelled as a whole.

        All trajectories are equally likely; or `by` step all steps are, so that longer trajectories come more often.
        But `goal_share` of them are drawn by what they reached: a kind of goal first, all being as likely, then one of
        the trajectories that reached it, and the window around a step that did.
        `reward_share` of the windows are drawn among those only that hold a step with a reward, where the trajectory
        has one.
        """
        assert len(self.shelf), "there is nothing to sample from"
        batch = self._empty_batch(batch_size)
        for row, drawn in enumerate(self._draw(batch_size, rng)):
            while not self._fill(batch, row, drawn, hindsight.relabel(drawn.source, relabel, statistics, rng), rng):
                (drawn,) = self._draw(1, rng)
        return batch

    def _draw(self, count: int, rng: np.random.Generator) -> list[_Drawn]:
        if self.by == "trajectory":
            places = rng.integers(len(self.shelf), size=count)
        else:
            places = np.searchsorted(self.shelf.ends, rng.integers(self.shelf.num_steps, size=count), side="right")
        drawn = [_Drawn(self.shelf[place]) for place in places]
        if self.goal_share:
            for row in np.flatnonzero(rng.random(count) < self.goal_share):
                if found := self.shelf.by_goal.draw(rng):
                    drawn[row] = _Drawn(*found)
        return drawn

    def _draw_start(self, labels: Relabelled, around: int | None, rng: np.random.Generator) -> int:
        last = max(labels.length - self.context, 0)
        if rng.random() < self.reward_share and (paying := np.flatnonzero(labels.rewards)).size:
            around = int(rng.choice(paying))
        if around is None or around >= labels.length:
            return int(rng.integers(last + 1))
        return int(rng.integers(max(around - self.context + 1, 0), min(around, last) + 1))

    def _empty_batch(self, batch_size: int) -> SequenceArrays:
        newest = self.shelf[-1].trajectory
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
            reached=np.zeros((*steps, self._num_kinds), bool),
            trajectories=np.zeros(batch_size, np.int64),
            starts=np.zeros(batch_size, np.int32),
        )

    def _fill(
        self, batch: SequenceArrays, row: int, drawn: _Drawn, labels: Relabelled, rng: np.random.Generator
    ) -> bool:
        """Fill one row with a window of the trajectory as `labels` sees it; False when that is not there any more."""
        source, trajectory = drawn.source, drawn.source.trajectory
        start = self._draw_start(labels, drawn.around, rng)
        stop = min(start + self.context, labels.length)
        observations = self.shelf.observations(source, start, stop + 1)
        if observations is None:
            return False
        steps, tokens = slice(start, stop), slice(start, stop + 1)
        num_steps, num_tokens = stop - start, stop - start + 1

        for key, array in observations.items():
            batch.observations[key][row, :num_tokens] = array
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
        if self.kinds is not None and not self.max_instruction:
            batch.reached[row, :num_steps, 0] = labels.rewards[steps] > 0
        elif self.kinds is not None:
            events = trajectory.events[slice(*np.searchsorted(trajectory.events[:, 0], (start, stop)))]
            batch.reached[row, events[:, 0] - start, self.kinds[events[:, 1]]] = True

        has_previous = slice(1 if start == 0 else 0, num_tokens)
        previous = slice(max(start - 1, 0), stop)
        batch.previous_actions[row, has_previous] = trajectory.actions[previous]
        batch.previous_rewards[row, has_previous] = labels.rewards[previous]

        batch.trajectories[row] = trajectory.info.number
        batch.starts[row] = start
        return True


def remaining_goals(instruction: np.ndarray, progress: np.ndarray, width: int, no_goal: int) -> np.ndarray:
    """Goal ids (T, width) left of `instruction` (n,) after `progress` (T,) subgoals, `no_goal` behind them."""
    padded = np.full(len(instruction) + width, no_goal, np.int16)
    padded[: len(instruction)] = instruction
    return padded[progress[:, None] + np.arange(width)]
