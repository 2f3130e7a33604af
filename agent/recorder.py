"""The rollouts being played, one row per actor: what the policy remembers, and what becomes a trajectory.

Arrays of all actors together, grown as the longest rollout needs. Knows no environment and no policy.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from gymnasium import spaces

from agent.envs.base import EnvSpec, Task
from agent.goals.vocabularies import vocabulary
from agent.replay import remaining_goals
from store.trajectory import Trajectory, TrajectoryInfo

_FIRST_CAPACITY = 256


class Found(Protocol):
    """What one step of all environments brought, a row for every actor; `agent.envs.vector.VectorEnv` has it."""

    observations: dict[str, np.ndarray]  # by key, (N, ...)
    rewards: np.ndarray  # (N,)
    is_first: np.ndarray  # (N,) bool
    progress: np.ndarray  # (N,)
    achieved: list[tuple[int, ...]]  # N of them


class Recorder:
    """Row i holds time steps 0..lengths[i] of actor i's rollout; the arrays may be read, not written, from outside."""

    def __init__(self, spec: EnvSpec, num_actors: int) -> None:
        assert isinstance(spec.observation_space, spaces.Dict)
        self.spec = spec
        self.num_actors = num_actors
        self._no_goal = vocabulary(spec.vocabulary).no_goal
        self.lengths = np.zeros(num_actors, np.int64)  # transitions so far
        self.tasks: list[Task] = [Task(seed=0)] * num_actors
        self._events: list[list[tuple[int, int]]] = [[] for _ in range(num_actors)]
        capacity = min(_FIRST_CAPACITY, spec.max_steps + 1)
        self._arrays = {  # by name, (N, capacity, ...)
            f"observations/{key}": np.zeros((num_actors, capacity, *(space.shape or ())), space.dtype)
            for key, space in spec.observation_space.spaces.items()
        }
        action = spec.action_space
        self._arrays |= {
            "is_first": np.zeros((num_actors, capacity), bool),
            "goals": np.zeros((num_actors, capacity, spec.max_instruction), np.int16),
            "progress": np.zeros((num_actors, capacity), np.uint8),
            "previous_actions": np.zeros((num_actors, capacity, *(action.shape or ())), action.dtype),
            "previous_rewards": np.zeros((num_actors, capacity), np.float32),
        }

    @property
    def observations(self) -> dict[str, np.ndarray]:
        """By key, (N, capacity, ...)."""
        prefix = "observations/"
        return {k.removeprefix(prefix): v for k, v in self._arrays.items() if k.startswith(prefix)}

    def __getitem__(self, name: str) -> np.ndarray:
        """(N, capacity, ...): "goals", "progress", "is_first", "previous_actions" or "previous_rewards"."""
        return self._arrays[name]

    def actions(self, actor: int) -> np.ndarray:
        """The actions (T, ...) that `actor` has executed in its rollout."""
        return self._arrays["previous_actions"][actor, 1 : self.lengths[actor] + 1]

    def begin(self, actor: int, task: Task, observations: dict[str, np.ndarray]) -> None:
        """Start a rollout: `observations` by key (N, ...), of which row `actor` counts."""
        self.tasks[actor] = task
        self.lengths[actor] = 0
        self._events[actor] = []
        for name in ("progress", "previous_actions", "previous_rewards"):
            self._arrays[name][actor, 0] = 0
        self._arrays["is_first"][actor, 0] = True
        self._write_state(np.array([actor]), observations)

    def record(self, actors: np.ndarray, actions: np.ndarray, found: Found) -> None:
        """One transition of each of `actors` (M,): `actions` (N, ...) and what the environments made of them."""
        for actor in actors.tolist():
            if found.achieved[actor]:
                time = int(self.lengths[actor])
                self._events[actor] += [(time, goal) for goal in found.achieved[actor]]
        self.lengths[actors] += 1
        self._reserve(int(self.lengths.max()) + 1)
        time = self.lengths[actors]
        self._arrays["previous_actions"][actors, time] = actions[actors]
        self._arrays["previous_rewards"][actors, time] = found.rewards[actors]
        self._arrays["is_first"][actors, time] = found.is_first[actors]
        self._arrays["progress"][actors, time] = found.progress[actors]
        self._write_state(actors, found.observations)

    def finish(
        self,
        actor: int,
        *,
        terminated: bool,
        truncated: bool,
        cause: str,
        policy_update: int,
        step: int,
        epsilon: float,
        diagnostics: dict[str, np.ndarray] | None = None,
    ) -> Trajectory:
        """The rollout of `actor` as a trajectory of its own memory; it must have at least one transition."""
        length, task = int(self.lengths[actor]), self.tasks[actor]
        states, steps = slice(0, length + 1), slice(1, length + 1)
        ends = np.zeros((2, length), bool)
        ends[:, -1] = terminated, truncated
        return Trajectory(
            observations={key: array[actor, states].copy() for key, array in self.observations.items()},
            actions=self._arrays["previous_actions"][actor, steps].copy(),
            rewards=self._arrays["previous_rewards"][actor, steps].copy(),
            terminated=ends[0],
            truncated=ends[1],
            is_first=self._arrays["is_first"][actor, states].copy(),
            progress=self._arrays["progress"][actor, states].copy(),
            instruction=np.array(task.instruction, np.int16),
            events=np.array(self._events[actor], np.int32).reshape(-1, 2),
            info=TrajectoryInfo(
                environment=self.spec.name,
                seed=task.seed,
                actor=actor,
                split=task.split,
                cause=cause,
                wanted=task.wanted,
                policy_update=policy_update,
                step=step,
                epsilon=epsilon,
                game=task.game,
            ),
            diagnostics=diagnostics or {},
        )

    def _write_state(self, actors: np.ndarray, observations: dict[str, np.ndarray]) -> None:
        time = self.lengths[actors]
        for key, array in self.observations.items():
            array[actors, time] = observations[key][actors]
        for actor, t in zip(actors.tolist(), time.tolist(), strict=True):
            progress = self._arrays["progress"][actor, t]
            if t and progress == self._arrays["progress"][actor, t - 1]:
                self._arrays["goals"][actor, t] = self._arrays["goals"][actor, t - 1]
            else:
                instruction = np.array(self.tasks[actor].instruction, np.int16)
                left = remaining_goals(instruction, np.array([progress]), self.spec.max_instruction, self._no_goal)
                self._arrays["goals"][actor, t] = left[0]

    def _reserve(self, capacity: int) -> None:
        held = self._arrays["progress"].shape[1]
        if capacity > held:
            for name, array in self._arrays.items():
                self._arrays[name] = np.concatenate([array, np.zeros_like(array)], axis=1)
