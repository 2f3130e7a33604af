"""The tensors that travel from replay and from the actors to the networks.

Knows shapes and devices, not where the numbers come from.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Self

import numpy as np
import torch
from torch import Tensor

ACTION_MASK = "action_mask"
"""The entry of an observation that tells which discrete actions are legal."""

POSITION = "position"
"""The entry of an observation that tells where the agent is, in the coordinates of the goals that are places."""


@dataclass(frozen=True)
class Inputs:
    """What the agent knows at each of T time steps of B sequences."""

    observations: dict[str, Tensor]  # (B, T, ...) each
    goals: Tensor  # (B, T, slots) goals still to do, active one first
    previous_actions: Tensor  # (B, T) or (B, T, D)
    previous_rewards: Tensor  # (B, T)
    is_first: Tensor  # (B, T) bool: an attempt begins here
    time: Tensor  # (B, T) absolute step index inside the rollout

    @property
    def legal(self) -> Tensor | None:
        """(B, T, A) bool: what may be done, where the observation tells."""
        mask = self.observations.get(ACTION_MASK)
        return None if mask is None else mask.bool()

    def to(self, device: torch.device) -> Self:
        """The same inputs on `device`."""
        observations = {key: value.to(device, non_blocking=True) for key, value in self.observations.items()}
        return replace(self, observations=observations, **_moved(self, device))


@dataclass(frozen=True)
class Batch:
    """Windows of L transitions, that is L + 1 time steps."""

    inputs: Inputs  # T = L + 1
    actions: Tensor  # (B, L) or (B, L, D)
    rewards: Tensor  # (B, L)
    terminated: Tensor  # (B, L) bool
    truncated: Tensor  # (B, L) bool
    valid: Tensor  # (B, L) bool: the transition exists
    token_valid: Tensor  # (B, L + 1) bool: the time step exists
    reached: Tensor  # (B, L, K) bool: the kinds of goals that the transition reached, asked for or not

    def to(self, device: torch.device) -> Self:
        """The same batch on `device`."""
        return replace(self, inputs=self.inputs.to(device), **_moved(self, device))

    def split(self, num_parts: int) -> list[Self]:
        """The same sequences in about equal parts."""
        if num_parts == 1:
            return [self]
        whole = {"inputs": _chunks(self.inputs, num_parts), **_chunked(self, num_parts)}
        return [type(self)(**dict(zip(whole, part, strict=True))) for part in zip(*whole.values(), strict=True)]


def _chunks(inputs: Inputs, num_parts: int) -> list[Inputs]:
    keys = list(inputs.observations)
    observations = zip(*(inputs.observations[key].tensor_split(num_parts) for key in keys), strict=True)
    others = _chunked(inputs, num_parts)
    return [
        Inputs(observations=dict(zip(keys, seen, strict=True)), **dict(zip(others, part, strict=True)))
        for seen, part in zip(observations, zip(*others.values(), strict=True), strict=True)
    ]


def _chunked(holder: Inputs | Batch, num_parts: int) -> dict[str, tuple[Tensor, ...]]:
    values = {f.name: getattr(holder, f.name) for f in fields(holder)}
    return {k: v.tensor_split(num_parts) for k, v in values.items() if isinstance(v, Tensor)}


def _moved(holder: Inputs | Batch, device: torch.device) -> dict[str, Tensor]:
    values = {f.name: getattr(holder, f.name) for f in fields(holder)}
    return {k: v.to(device, non_blocking=True) for k, v in values.items() if isinstance(v, Tensor)}


def as_inputs(
    observations: dict[str, np.ndarray],
    goals: np.ndarray,
    previous_actions: np.ndarray,
    previous_rewards: np.ndarray,
    is_first: np.ndarray,
    time: np.ndarray,
) -> Inputs:
    """Numpy arrays (B, T, ...) as `Inputs`, sharing their memory."""
    return Inputs(
        observations={name: torch.from_numpy(values) for name, values in observations.items()},
        goals=torch.from_numpy(goals),
        previous_actions=torch.from_numpy(previous_actions),
        previous_rewards=torch.from_numpy(previous_rewards),
        is_first=torch.from_numpy(is_first),
        time=torch.from_numpy(time),
    )
