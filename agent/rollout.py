"""Playing: actors choose actions, environments answer, finished rollouts come out as trajectories.

Everything random in a rollout comes from one generator per rollout, so what is played depends on the tasks and the
weights only, and a rollout in progress can be played again from its seed and its actions. Does not know who learns from
the trajectories.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from agent.envs.base import Task
from agent.envs.exploration import ExplorationSchedule
from agent.envs.vector import VectorEnv, WorkerError
from agent.policy import ActionSource
from agent.recorder import Recorder
from store.trajectory import WORKER_LOST, Trajectory

_MAX_TRIES = 5  # of a rollout that must not be lost


@dataclass(frozen=True)
class Assignment:
    """A task for an actor, and the seed of everything random in playing it."""

    task: Task
    seed: tuple[int, ...]


TaskSource = Callable[[int], Assignment | None]  # by actor; None: nothing left to play


class Collector:
    """Steps all actors together. `step` counts the environment steps of the run so far."""

    def __init__(
        self,
        envs: VectorEnv,
        policy: ActionSource,
        tasks: TaskSource,
        exploration: ExplorationSchedule | None = None,
        *,
        retry_lost: bool = False,
    ) -> None:
        """Without `exploration` the policy's own actions are executed.

        A rollout lost with its worker ends there as a truncated trajectory, or with `retry_lost` is played again.
        """
        self.policy = policy
        self.step = 0
        self.recorder = Recorder(envs.spec, envs.num_envs)
        self._envs = envs
        self._tasks = tasks
        self._exploration = exploration
        self._retry_lost = retry_lost
        self._playing = np.zeros(envs.num_envs, bool)
        self._assignments: list[Assignment | None] = [None] * envs.num_envs
        # Uniform numbers (N, T, W), from which the actions of each step are drawn.
        self._chances = np.zeros((envs.num_envs, envs.spec.max_steps, policy.num_chances), np.float32)
        self._losses = [0] * envs.num_envs  # of the rollout that each actor plays, with its worker
        self._multipliers = np.zeros(envs.num_envs)
        self._epsilon_sums = np.zeros(envs.num_envs)

    @property
    def idle(self) -> bool:
        """Whether nothing is being played."""
        return not self._playing.any()

    def advance(self) -> list[Trajectory]:
        """One step of every actor; returns the rollouts that it finished."""
        rescued = self._begin_rollouts()
        if self.idle:
            return rescued
        return rescued + self._play(self._choose())

    def _begin_rollouts(self) -> list[Trajectory]:
        """Give every idle actor a task; returns rollouts that ended because a reset cost a worker."""
        begun = {}
        for actor in np.flatnonzero(~self._playing).tolist():
            assignment = self._assignments[actor] or self._tasks(actor)
            if assignment is not None:
                begun[actor] = assignment
        return self._begin(begun) if begun else []

    def _begin(self, begun: dict[int, Assignment]) -> list[Trajectory]:
        """Reset the environments of `begun`; one whose worker is lost keeps its assignment for the next try."""
        self._envs.reset(list(begun), [assignment.task for assignment in begun.values()])
        rescued = self._give_up_lost()
        for actor, assignment in begun.items():
            self._assignments[actor] = assignment
            if self._envs.lost[actor]:
                continue
            rng = np.random.default_rng(assignment.seed)
            self._multipliers[actor] = rng.random()
            self._chances[actor] = rng.random(self._chances.shape[1:], np.float32)
            self._epsilon_sums[actor] = 0.0
            self._playing[actor] = True
            self.recorder.begin(actor, assignment.task, self._envs.observations)
        return rescued

    def _choose(self) -> np.ndarray:
        """Actions (N, ...) of the policy, explored as far as the schedule says."""
        time = self.recorder.lengths
        chances = self._chances[np.arange(len(time)), np.minimum(time, self._chances.shape[1] - 1)]  # (N, W)
        epsilon = None
        if self._exploration is not None:
            epsilon = self._exploration.epsilon(self.step, time, self._multipliers)
            self._epsilon_sums += epsilon
        return self.policy.choose(self.recorder, self._playing, chances, epsilon)

    def _play(self, actions: np.ndarray) -> list[Trajectory]:
        """Execute `actions` (N, ...) where somebody plays, and record what happens."""
        envs = self._envs
        envs.step(actions)
        survivors = self._playing & ~envs.lost
        actors = np.flatnonzero(survivors)
        self.step += len(actors)
        self.recorder.record(actors, actions, envs)
        ended = survivors & (envs.terminated | envs.truncated)
        finished = [
            self._finish(actor, bool(envs.terminated[actor]), bool(envs.truncated[actor]), envs.cause[actor])
            for actor in np.flatnonzero(ended).tolist()
        ]
        self._end(ended)
        return finished + self._give_up_lost()

    def _give_up_lost(self) -> list[Trajectory]:
        """End the rollouts whose environments were lost with their worker."""
        lost = self._playing & self._envs.lost
        if self._retry_lost:
            self._playing[lost] = False
            for actor in np.flatnonzero(lost).tolist():
                self._count_loss(actor)
            return []
        rescued = [
            self._finish(actor, False, True, WORKER_LOST)
            for actor in np.flatnonzero(lost & (self.recorder.lengths > 0)).tolist()
        ]
        self._end(lost)
        return rescued

    def _count_loss(self, actor: int) -> None:
        """A rollout that is lost again and again is not played for ever: WorkerError."""
        self._losses[actor] += 1
        if self._losses[actor] == _MAX_TRIES:
            assignment = self._assignments[actor]
            assert assignment is not None
            last = self._envs.incidents[-1]
            raise WorkerError(f"world {assignment.task.seed} was lost {_MAX_TRIES} times; the last time: {last}")

    def _end(self, ended: np.ndarray) -> None:
        for actor in np.flatnonzero(ended).tolist():
            self._losses[actor] = 0
            self._playing[actor] = False
            self._assignments[actor] = None

    def _finish(self, actor: int, terminated: bool, truncated: bool, cause: str) -> Trajectory:
        length = int(self.recorder.lengths[actor])
        return self.recorder.finish(
            actor,
            terminated=terminated,
            truncated=truncated,
            cause=cause,
            policy_update=self.policy.update,
            step=self.step,
            epsilon=float(self._epsilon_sums[actor] / length),
            diagnostics=self.policy.diagnostics(actor, length),
        )

    def snapshot(self) -> dict[str, Any]:
        """What `restore` needs to continue the rollouts in progress, as JSON's own types."""
        rollouts = []
        for actor in np.flatnonzero(self._playing).tolist():
            assignment = self._assignments[actor]
            assert assignment is not None
            rollouts.append(
                {
                    "actor": actor,
                    "task": asdict(assignment.task),
                    "seed": list(assignment.seed),
                    "actions": self.recorder.actions(actor).tolist(),
                    "epsilon_sum": float(self._epsilon_sums[actor]),
                }
            )
        return {"step": self.step, "rollouts": rollouts}

    def restore(self, state: dict[str, Any]) -> None:
        """Play the rollouts in progress again, up to where `snapshot` found them.

        Rollouts are begun so late that all arrive together. One that ends early (an environment that does not repeat
        itself) is dropped.
        """
        rollouts = [r for r in state["rollouts"] if r["actor"] < self._envs.num_envs]
        longest = max((len(r["actions"]) for r in rollouts), default=0)
        for time in range(longest + 1):
            due = {
                r["actor"]: Assignment(_task(r["task"]), tuple(r["seed"]))
                for r in rollouts
                if longest - len(r["actions"]) == time
            }
            if due:
                self._begin(due)
            if time < longest and not self.idle:
                self._play(self._actions_at(rollouts, time - longest))
        for rollout in rollouts:
            self._epsilon_sums[rollout["actor"]] = rollout["epsilon_sum"]
        self.step = state["step"]

    def _actions_at(self, rollouts: list[dict[str, Any]], back: int) -> np.ndarray:
        """The actions of all rollouts, `-back` steps before their ends."""
        space = self._envs.spec.action_space
        actions = np.zeros((self._envs.num_envs, *(space.shape or ())), space.dtype)
        for rollout in rollouts:
            if len(rollout["actions"]) >= -back:
                actions[rollout["actor"]] = rollout["actions"][back]
        return actions


def _task(record: dict[str, Any]) -> Task:
    return Task(**{**record, "instruction": tuple(record["instruction"])})
