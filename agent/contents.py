"""Whether a stored trajectory is what its environment can have produced: files may come from somebody else.

A number beyond its space would be an index beyond a table of the networks.
"""

from __future__ import annotations

import numpy as np
from gymnasium import Space, spaces

from agent.envs.base import EnvSpec
from agent.goals.vocabularies import vocabulary
from store.errors import StorageError
from store.trajectory import Trajectory


def spec_from_json(record: object) -> EnvSpec:
    """The description of the environment in a file; StorageError when it is none."""
    try:
        spec = EnvSpec.from_json(record)  # type: ignore[arg-type]
        vocabulary(spec.vocabulary)
        if not isinstance(spec.observation_space, spaces.Dict) or spec.max_steps < 1 or spec.max_instruction < 0:
            raise ValueError("not an environment that the agent can play")
    except (KeyError, TypeError, ValueError, AssertionError, AttributeError, OverflowError, MemoryError) as error:
        raise StorageError(f"the stored rollouts describe their environment wrongly: {error}") from None
    return spec


def require_possible(trajectory: Trajectory, spec: EnvSpec) -> None:
    """StorageError naming the first field of a trajectory that the environment cannot have produced."""
    assert isinstance(spec.observation_space, spaces.Dict)
    expected = spec.observation_space.spaces
    known = len(vocabulary(spec.vocabulary).names)
    problem = None
    if trajectory.observations.keys() != expected.keys():
        problem = f"observations are {', '.join(trajectory.observations)}, expected {', '.join(expected)}"
    elif wrong := [name for name, space in expected.items() if not _inside(trajectory.observations[name], space)]:
        problem = f"observations/{wrong[0]} lies outside its space"
    elif not _inside(trajectory.actions, spec.action_space):
        problem = "actions lie outside their space"
    elif not np.isfinite(trajectory.rewards).all():
        problem = "rewards are not all finite"
    elif len(trajectory.instruction) > spec.max_instruction:
        problem = f"instruction has {len(trajectory.instruction)} subgoals, expected {spec.max_instruction} at most"
    elif not all(((goals >= 0) & (goals < known)).all() for goals in (trajectory.instruction, trajectory.events[:, 1])):
        problem = "a goal is not in the vocabulary"
    if problem:
        raise StorageError(f"stored rollout {trajectory.info.number} is impossible in {spec.name}: {problem}")


def _inside(array: np.ndarray, space: Space) -> bool:
    """Whether every row of `array` (T, ...) is an element of `space`."""
    if array.shape[1:] != (space.shape or ()) or array.dtype != space.dtype:
        return False
    match space:
        case spaces.Discrete():
            return bool(((array >= space.start) & (array < space.start + space.n)).all())
        case spaces.MultiDiscrete():
            moved = array.astype(np.int64) - space.start
            return bool(((moved >= 0) & (moved < space.nvec)).all())
        case spaces.MultiBinary():
            return bool((array <= 1).all() and (array >= 0).all())
        case spaces.Box() if array.dtype.kind == "f":
            return bool(np.isfinite(array).all())  # bounds of measured numbers are often only approximate
        case spaces.Box():
            return bool(((array >= space.low) & (array <= space.high)).all())
    return False
