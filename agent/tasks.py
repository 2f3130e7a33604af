"""Who plays what: the endless tasks of training and the fixed list of an evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from agent.config import Config
from agent.envs.base import EnvSpec, Game, Task, held_out_seed, train_seed
from agent.envs.maze_places import PlaceSampler
from agent.goals.grammar import wanted_instruction
from agent.goals.sampler import Sampler
from agent.goals.sampling import InstructionSampler
from agent.rollout import Assignment

_TRAINING, _HELD_OUT = 0, 1  # first number of the seeds of either kind


def make_sampler(config: Config, spec: EnvSpec) -> Sampler | None:
    """What draws the instructions of an environment, as the configuration wants them; None if it takes none."""
    task = config.task
    if not spec.goals:
        return None
    match spec.vocabulary.split():
        case ["crafter"]:
            wanted = wanted_instruction(task.goals)
            return InstructionSampler(
                wanted, task.wanted_share, task.tech_tree_share, task.curriculum_share, task.max_length
            )
        case ["cells", size]:
            return PlaceSampler(int(size), min(task.max_length, spec.max_instruction))
    raise ValueError(f"nothing draws instructions of the vocabulary '{spec.vocabulary}'")


def trained_games(games: Sequence[Game]) -> tuple[str, ...]:
    """The names of those that are not kept for evaluations."""
    return tuple(game.name for game in games if not game.held_out)


class TrainingTasks:
    """For each actor an endless sequence of tasks, a function of the run's seed, the actor and a counter alone."""

    def __init__(self, sampler: Sampler | None, seed: int, num_actors: int, games: Sequence[str] = ()) -> None:
        """Without a `sampler` the tasks carry no instruction. Each of `games` is as likely as the others."""
        self._sampler = sampler
        self._games = tuple(games)
        self._seed = seed
        self._begun = [0] * num_actors

    def __call__(self, actor: int) -> Assignment:
        seed = (_TRAINING, self._seed, actor, self._begun[actor])
        self._begun[actor] += 1
        rng = np.random.default_rng(seed)
        world = train_seed(rng)
        instruction, wanted = self._sampler.sample(rng, world) if self._sampler else ((), False)
        game = self._games[rng.integers(len(self._games))] if self._games else ""
        return Assignment(Task(world, instruction, wanted, "train", game), (*seed, 1))

    def observe(self, instruction: Sequence[int], progress: int, achieved: Sequence[int]) -> None:
        """Take note of a rollout that finished `progress` subgoals: it may change what is asked for next."""
        if self._sampler:
            self._sampler.observe(instruction, progress, achieved)

    def snapshot(self) -> dict[str, Any]:
        """The counters, as JSON's own types."""
        return {"begun": list(self._begun), "sampler": self._sampler.snapshot() if self._sampler else {}}

    def restore(self, state: dict[str, Any]) -> None:
        """Take over the counters of `snapshot`."""
        for actor, count in enumerate(state["begun"][: len(self._begun)]):
            self._begun[actor] = count
        if self._sampler:
            self._sampler.restore(state["sampler"])


class EvaluationTasks:
    """Every instruction `episodes` times on held-out worlds, the same worlds for every instruction.

    Or, without `instructions`, `episodes` held-out worlds with what `sampler` draws for each of them, or the same
    `episodes` worlds for each of `games`.
    """

    def __init__(
        self,
        instructions: Sequence[tuple[int, ...]] | None,
        episodes: int,
        seed: int,
        sampler: Sampler | None = None,
        games: Sequence[str] = (),
    ) -> None:
        """Without `instructions` and without a `sampler` the tasks carry no instruction.

        An environment has instructions or `games`, not both.
        """
        assert not (games and (instructions is not None or sampler is not None)), games
        rngs = [np.random.default_rng((_HELD_OUT, seed, k)) for k in range(episodes)]
        worlds = [held_out_seed(rng) for rng in rngs]
        rows: list[list[tuple[int, ...]]]  # an instruction for each world
        if instructions is not None:
            rows = [[instruction] * episodes for instruction in instructions]
        elif sampler is not None:
            rows = [[sampler.sample(rng, world)[0] for rng, world in zip(rngs, worlds, strict=True)]]
        else:
            rows = [[()] * episodes] * max(len(games), 1)
        names = games or [""] * len(rows)
        self._left = [
            Assignment(Task(world, instruction, split="eval", game=name), (_HELD_OUT, seed, k, number))
            for number, (row, name) in enumerate(zip(rows, names, strict=True))
            for k, (world, instruction) in enumerate(zip(worlds, row, strict=True))
        ][::-1]

    def __len__(self) -> int:
        """How many are left."""
        return len(self._left)

    def __call__(self, actor: int) -> Assignment | None:
        return self._left.pop() if self._left else None
