"""Who plays what: the endless tasks of training and the fixed list of an evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from agent.envs.base import Task, held_out_seed, train_seed
from agent.goals.sampling import InstructionSampler
from agent.rollout import Assignment

_TRAINING, _HELD_OUT = 0, 1  # first number of the seeds of either kind


class TrainingTasks:
    """For each actor an endless sequence of tasks, a function of the run's seed, the actor and a counter alone."""

    def __init__(self, sampler: InstructionSampler | None, seed: int, num_actors: int) -> None:
        """Without a `sampler` the tasks carry no instruction."""
        self._sampler = sampler
        self._seed = seed
        self._begun = [0] * num_actors

    def __call__(self, actor: int) -> Assignment:
        seed = (_TRAINING, self._seed, actor, self._begun[actor])
        self._begun[actor] += 1
        rng = np.random.default_rng(seed)
        instruction, wanted = self._sampler.sample(rng) if self._sampler else ((), False)
        return Assignment(Task(train_seed(rng), instruction, wanted, "train"), (*seed, 1))

    def observe(self, achieved: Sequence[int]) -> None:
        """Take note of the goals that a rollout reached: they move the frontier of the tech tree."""
        if self._sampler:
            self._sampler.observe(achieved)

    def snapshot(self) -> dict[str, Any]:
        """The counters, as JSON's own types."""
        return {"begun": list(self._begun), "best_step": self._sampler.best_step if self._sampler else -1}

    def restore(self, state: dict[str, Any]) -> None:
        """Take over the counters of `snapshot`."""
        for actor, count in enumerate(state["begun"][: len(self._begun)]):
            self._begun[actor] = count
        if self._sampler:
            self._sampler.best_step = state["best_step"]


class EvaluationTasks:
    """Every instruction `episodes` times on held-out worlds, the same worlds for every instruction."""

    def __init__(self, instructions: Sequence[tuple[int, ...]], episodes: int, seed: int) -> None:
        worlds = [held_out_seed(np.random.default_rng((_HELD_OUT, seed, k))) for k in range(episodes)]
        self._left = [
            Assignment(Task(world, instruction, split="eval"), (_HELD_OUT, seed, k, row))
            for row, instruction in enumerate(instructions)
            for k, world in enumerate(worlds)
        ][::-1]

    def __call__(self, actor: int) -> Assignment | None:
        return self._left.pop() if self._left else None
