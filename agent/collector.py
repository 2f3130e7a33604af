"""The collector of a training run, built from its configuration: environments, policy, tasks and exploration.

Knows nothing of learning, storage, or the process it runs in.
"""

from __future__ import annotations

from typing import Any

from agent.catalog import make_env
from agent.config import Config
from agent.device import resolve_device
from agent.envs.exploration import ExplorationSchedule
from agent.envs.vector import VectorEnv
from agent.interface import context_of, interface_of
from agent.nets.model import ActingModel
from agent.notes import Notebook
from agent.policy import Policy
from agent.rollout import Collector
from agent.tasks import TrainingTasks, make_sampler, trained_games
from agent.values import value_bins
from store.trajectory import Trajectory

_NUM_NOTED = 1  # actors whose thoughts are kept with their rollouts: enough to look at, and cheap


class TrainingCollector:
    """Environments, policy, tasks and exploration as the configuration wants them, with their counters."""

    def __init__(self, config: Config, state: dict[str, Any] | None) -> None:
        make = make_env(config.env)
        collect = config.collect
        self.envs = VectorEnv(make, collect.actors, collect.workers, collect.worker_timeout)
        spec = self.envs.spec
        model = ActingModel(interface_of(spec), config, value_bins(config.loss)).to(resolve_device(config.run.device))
        notebook = Notebook(model, config.loss, _NUM_NOTED)
        self.policy = Policy(model, collect.actors, context_of(config.model, spec), notebook=notebook)
        sampler, games = make_sampler(config, spec), trained_games(spec.games)
        self._tasks = TrainingTasks(sampler, config.run.seed, collect.actors, games)
        schedule = ExplorationSchedule(**config.exploration.model_dump(), max_steps=spec.max_steps)
        self.collector = Collector(self.envs, self.policy, self._tasks, schedule)
        if state:
            self._tasks.restore(state["tasks"])
            self.collector.restore(state["collector"])

    def advance(self) -> list[Trajectory]:
        """One step of every actor; returns the rollouts that it finished."""
        finished = self.collector.advance()
        for trajectory in finished:
            progress, achieved = int(trajectory.progress[-1]), trajectory.events[:, 1].tolist()
            self._tasks.observe(trajectory.instruction.tolist(), progress, achieved)
        return finished

    def snapshot(self) -> dict[str, Any]:
        """Counters and rollouts in progress, as JSON's own types."""
        return {"tasks": self._tasks.snapshot(), "collector": self.collector.snapshot()}


def advanced(experience: dict[str, Any], later: list[Trajectory]) -> dict[str, Any]:
    """The collector's state with the rollouts counted that were finished after it was saved.

    The first of them for each actor is the one that it was playing then: that one's steps are counted in part.
    """
    begun = list(experience["tasks"]["begun"])
    collector = experience["collector"]
    for trajectory in later:
        begun[trajectory.info.actor] += 1
    actors = {trajectory.info.actor for trajectory in later}
    counted = sum(len(rollout["actions"]) for rollout in collector["rollouts"] if rollout["actor"] in actors)
    return {
        "tasks": {**experience["tasks"], "begun": begun},
        "collector": {
            "step": collector["step"] + sum(trajectory.length for trajectory in later) - counted,
            "rollouts": [rollout for rollout in collector["rollouts"] if rollout["actor"] not in actors],
        },
    }
