"""Where the finished rollouts of a training run go: the store, the replay, and the counts made of them.

Does not know who collects the rollouts, nor networks.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from agent.config import Config, RelabelMode
from agent.contents import require_possible
from agent.envs.base import EnvSpec
from agent.goals.grammar import wanted_instruction
from agent.goals.vocabularies import vocabulary
from agent.goals.vocabulary import ACHIEVEMENT_GOALS
from agent.interface import context_of, foreseen_kinds
from agent.relabel import GoalStatistics
from agent.replay import Replay, SequenceArrays
from agent.shelf import Shelf
from agent.tallies import RecentRollouts, crafter_score
from store.layout import RunPaths
from store.rollouts import RolloutReader, RolloutWriter
from store.trajectory import Trajectory
from store.windows import WindowReader


class Archive:
    """Keeps every rollout on disk and replays the newest; `recent` tells how successful they are."""

    def __init__(self, config: Config, paths: RunPaths, spec: EnvSpec) -> None:
        self.recent = RecentRollouts(wanted_instruction(config.task.goals), spec)
        self._spec = spec
        goals = vocabulary(spec.vocabulary)
        self._stored = WindowReader(paths.rollouts("train"))
        self._shelf = Shelf(config.replay.max_steps, config.replay.max_bytes, self._stored, goals.kinds)
        self._replay = Replay(
            self._shelf,
            context_of(config.model, spec),
            spec.max_instruction,
            goals.no_goal,
            config.replay.reward_share,
            config.replay.by,
            config.replay.goal_share,
            foreseen_kinds(spec) if config.model.foresight else None,
        )
        self._statistics = GoalStatistics(len(goals.names), goals.kinds)
        self._mode: RelabelMode = config.replay.relabel
        self._paths = paths
        self._writer = RolloutWriter(paths, "train", spec=spec.to_json())
        self._stored.refresh()
        self._last_number = self._stored.newest  # more than 0 if a run was killed before its first checkpoint

    @property
    def reached(self) -> frozenset[int]:
        """The goals that any rollout of the run has reached."""
        return frozenset(np.flatnonzero(self._statistics.trajectory_counts).tolist())

    @property
    def num_steps(self) -> int:
        """Steps that can be replayed."""
        return self._shelf.num_steps

    @property
    def num_lost(self) -> int:
        """Rollouts that were to be replayed and have vanished from the disk, as far as that has been noticed."""
        return self._shelf.lost

    @property
    def crafter_score(self) -> float | None:
        """The benchmark's score over all rollouts of the run, None before the first and in other worlds."""
        if self._spec.vocabulary != "crafter" or not self._statistics.num_trajectories:
            return None
        counts = self._statistics.trajectory_counts[list(ACHIEVEMENT_GOALS)]
        return crafter_score(counts / self._statistics.num_trajectories)

    def add(self, trajectory: Trajectory) -> None:
        """Take in a new rollout. StorageError when it was its turn to be written and that failed."""
        self._last_number += 1
        numbered = replace(trajectory, info=replace(trajectory.info, number=self._last_number))
        self._writer.append(numbered)
        self._count(numbered)

    def take_stored(self) -> tuple[int, list[str]]:
        """Replay what lies in the store, as a run does that collects nothing.

        Returns the steps that lie there, of which the newest fit, and one line for each damaged shard. Raises
        StorageError for a rollout that the environment cannot have produced. `recent` stays empty: it tells of what
        the agent plays.
        """
        reader = RolloutReader(self._paths.rollouts("train"))
        num_steps = 0
        for trajectory in reader:
            require_possible(trajectory, self._spec)
            num_steps += trajectory.length
            self._shelf.add(trajectory)
            self._statistics.observe(trajectory)
            self._last_number = max(self._last_number, trajectory.info.number)
        return num_steps, reader.problems

    def sample(self, batch_size: int, rng: np.random.Generator) -> SequenceArrays:
        """Windows of replayed rollouts, relabelled."""
        return self._replay.sample(batch_size, rng, self._mode, self._statistics)

    def seal(self) -> None:
        """Put on disk what still waits in memory."""
        self._writer.seal()

    def close(self) -> None:
        """Put on disk what still waits, and let the files go."""
        self._stored.close()
        self._writer.close()

    def snapshot(self) -> dict[str, Any]:
        """The counts, as JSON's own types; the rollouts themselves are in the store."""
        return {
            "statistics": self._statistics.state(),
            "recent": self.recent.snapshot(),
            "last_number": self._last_number,
            "num_steps": self.num_steps,
        }

    def restore(self, state: dict[str, Any]) -> tuple[list[Trajectory], list[str]]:
        """Refill the replay from the store and go on counting from `state`.

        Returns the rollouts that were stored after `state` was taken, which are counted too, and one line for each
        damaged shard that had to be left out.
        """
        self._statistics.load(state["statistics"])
        self.recent.restore(state["recent"])
        self._last_number = state["last_number"]
        reader = RolloutReader(self._paths.rollouts("train"))
        later = []
        for trajectory in reader:
            if trajectory.info.number <= state["last_number"]:
                self._shelf.add(trajectory)
            else:
                self._count(trajectory)
                self._last_number = max(self._last_number, trajectory.info.number)
                later.append(trajectory)
        return later, reader.problems

    def _count(self, trajectory: Trajectory) -> None:
        self._shelf.add(trajectory)
        self._statistics.observe(trajectory)
        self.recent.add(trajectory)
