"""The arrays through which environments and their caller exchange a step: one block of shared memory.

Row i of every array belongs to environment i. The block is anonymous, so nothing is left behind by a killed
process. Knows the layout only, not who may write when.
"""

from dataclasses import dataclass
from multiprocessing import get_context

import numpy as np
from gymnasium import spaces

from agent.envs.base import EnvSpec

MAX_ACHIEVED = 8
"""Most goals that one step can report."""

_CAUSE_BYTES = 64
_ALIGNMENT = 64


@dataclass(frozen=True)
class StepArrays:
    """Views of the block; N environments, each array with N rows."""

    observations: dict[str, np.ndarray]
    """By key of the observation space, each (N, ...) in the space's dtype."""
    actions: np.ndarray
    """(N, ...) in the action space's shape and dtype."""
    rewards: np.ndarray
    """(N,) float32."""
    terminated: np.ndarray
    """(N,) bool."""
    truncated: np.ndarray
    """(N,) bool."""
    is_first: np.ndarray
    """(N,) bool, whether the observation begins a new attempt."""
    progress: np.ndarray
    """(N,) uint8, finished subgoals."""
    achieved: np.ndarray
    """(N, MAX_ACHIEVED) int16 goal ids, of which the first `num_achieved` count."""
    num_achieved: np.ndarray
    """(N,) uint8."""
    cause: np.ndarray
    """(N,) bytes, why the attempt ended; read only where it did."""
    playing: np.ndarray
    """(N,) bool, whether the environment takes part in the next step."""
    busy: np.ndarray
    """(N,) bool, whether the environment is at work right now: tells who was at fault when a worker dies."""


class SharedSteps:
    """Owns the block. As an argument of a child process's start it gives the same memory there."""

    def __init__(self, spec: EnvSpec, num_envs: int):
        self._fields = _fields(spec, num_envs)
        size = sum(_padded(dtype, shape) for dtype, shape in self._fields.values())
        self._block = get_context("spawn").RawArray("B", size)

    def arrays(self) -> StepArrays:
        """Views of this block in the calling process."""
        views, offset = {}, 0
        for name, (dtype, shape) in self._fields.items():
            count = int(np.prod(shape))
            views[name] = np.frombuffer(self._block, dtype, count, offset).reshape(shape)
            offset += _padded(dtype, shape)
        prefix = "observations."
        observations = {name[len(prefix) :]: views.pop(name) for name in list(views) if name.startswith(prefix)}
        return StepArrays(observations, **views)


def _fields(spec: EnvSpec, num_envs: int) -> dict[str, tuple[np.dtype, tuple[int, ...]]]:
    """Dtype and shape of every array of StepArrays; observations are named "observations.<key>"."""
    assert isinstance(spec.observation_space, spaces.Dict), spec.observation_space
    parts = {f"observations.{key}": (space.dtype, space.shape) for key, space in spec.observation_space.items()}
    parts |= {
        "actions": (spec.action_space.dtype, spec.action_space.shape),
        "rewards": (np.float32, ()),
        "terminated": (np.bool_, ()),
        "truncated": (np.bool_, ()),
        "is_first": (np.bool_, ()),
        "progress": (np.uint8, ()),
        "achieved": (np.int16, (MAX_ACHIEVED,)),
        "num_achieved": (np.uint8, ()),
        "cause": (f"S{_CAUSE_BYTES}", ()),
        "playing": (np.bool_, ()),
        "busy": (np.bool_, ()),
    }
    return {name: (np.dtype(dtype), (num_envs, *(shape or ()))) for name, (dtype, shape) in parts.items()}


def _padded(dtype: np.dtype, shape: tuple[int, ...]) -> int:
    """Bytes of an array, rounded up so that the next one starts on a cache line of its own."""
    size = dtype.itemsize * int(np.prod(shape))
    return -(-size // _ALIGNMENT) * _ALIGNMENT
