"""Training from stored rollouts alone: where experience comes from when nothing is played.

All of it lies in the run's own store before training begins. Such a run has no environment steps: its step counter
counts updates instead, so that curves have an axis and checkpoints have names.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor

from agent.contents import spec_from_json
from agent.envs.base import EnvSpec
from agent.pace import Pace
from store.errors import StorageError
from store.layout import RunPaths
from store.rollouts import RolloutReader
from store.trajectory import Trajectory


class StoredExperience:
    """An `agent.experience.Experience` in which everything has happened already."""

    def __init__(self, state: dict[str, Any] | None) -> None:
        self.incidents: list[str] = []
        self.step = state["collector"]["step"] if state else 0

    def publish(self, tensors: dict[str, Tensor], update: int) -> None:
        """Nobody acts; the updates are what is counted."""
        self.step = update

    def poll(self, allowed_step: int, timeout: float) -> list[Trajectory]:
        return []

    def snapshot(self) -> tuple[dict[str, Any], list[Trajectory]]:
        """Shaped like a collector's, with nothing in progress."""
        return {"tasks": {"begun": []}, "collector": {"step": self.step, "rollouts": []}}, []

    def close(self) -> None:
        pass


def offline_pace(publish_every: int) -> Pace:
    """A pace at which every update is due: a cycle is as many updates as the step counter lags behind."""
    return Pace(steps_per_update=1.0, lead_updates=0, free_steps=-publish_every)


def stored_spec(paths: RunPaths) -> EnvSpec:
    """What the stored rollouts of a run say of their environment. StorageError without any, or a damaged one."""
    reader = RolloutReader(paths.rollouts("train"))
    if not len(reader.index()):
        why = f": {'; '.join(reader.problems)}" if reader.problems else ""
        raise StorageError(f"run {paths.name} has no stored rollouts to learn from{why}")
    return spec_from_json(reader.spec(0))
