"""A short evaluation in the middle of a training run: a few episodes in held-out worlds, always the same ones.

Its figures make a curve; what an agent can do is told with intervals by `amago eval`.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import torch

from agent.checkpoint import read_meta
from agent.config import Config
from agent.envs.base import EnvSpec
from agent.evaluate import evaluate
from agent.game_tallies import game_values
from agent.goals.grammar import wanted_instruction
from agent.progress import Listener, Tally
from agent.tallies import outcome
from agent.tasks import trained_games
from store.layout import RunPaths
from store.rollouts import RolloutWriter
from store.trajectory import Trajectory

_SEED = 0  # of worlds and actions: episodes differ between two evaluations by what was learned in between


@dataclass(frozen=True)
class Figures:
    """What a short evaluation found."""

    success: Tally | None  # None where the environment knows no success
    mean_return: float
    games: Mapping[str, float] = field(default_factory=dict)  # of environments with several, by metric key

    def metrics(self) -> dict[str, float]:
        """By metric key."""
        rate = self.success.rate if self.success else None
        games = {f"eval/{key}": value for key, value in self.games.items()}
        return {"eval/return": self.mean_return, **({} if rate is None else {"eval/success": rate}), **games}

    def __str__(self) -> str:
        normalised = self.games.get("normalised")
        alone = f"mean return {self.mean_return:.3g}"
        found = alone if normalised is None else f"mean normalised return {normalised:.3g}"
        if self.success:
            found = f"{self.success.successes} of {self.success.trials} held-out episodes succeeded, {found}"
        return found


def play(checkpoint: Path, config: Config, notify: Listener, stop: threading.Event) -> list[Trajectory]:
    """Episodes of the wanted instruction, or without one of fresh worlds; fewer once `stop` is set.

    Games that are trained share the episodes, each has one at least; those kept for evaluations are not played.
    """
    wanted = wanted_instruction(config.task.goals)
    games = trained_games(EnvSpec.from_json(read_meta(checkpoint)["environment"]).games)
    threads = torch.get_num_threads()
    try:
        return evaluate(
            checkpoint,
            config,
            [wanted] if wanted else None,
            episodes=max(config.run.evaluate_episodes // max(len(games), 1), 1),
            seed=_SEED,
            device=config.run.device,
            greedy=False,
            notify=notify,
            stop=stop,
            games=games,
        )
    finally:
        torch.set_num_threads(threads)


def store(trajectories: Sequence[Trajectory], paths: RunPaths, spec: EnvSpec, step: int, update: int) -> None:
    """Keep the episodes with those of other evaluations, as played after `step` steps and `update` updates."""
    writer = RolloutWriter(paths, "eval", spec=spec.to_json())
    for trajectory in trajectories:
        info = replace(trajectory.info, step=step, policy_update=update)
        writer.append(replace(trajectory, info=info))
    writer.close()


def summarise(trajectories: Sequence[Trajectory], spec: EnvSpec) -> Figures:
    """The figures of at least one episode; the last attempt counts."""
    outcomes = [outcome(spec, trajectory) for trajectory in trajectories]
    known = [each.success for each in outcomes if each.success is not None]
    success = Tally(sum(known), len(known)) if known else None
    games = {key: float(np.mean(values)) for key, values in game_values(outcomes, spec.games).items() if values}
    return Figures(success, float(np.mean([t.ret for t in trajectories])), games)
