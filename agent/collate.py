"""From windows of the replay to tensors."""

from __future__ import annotations

import torch

from agent.batch import Batch, as_inputs
from agent.replay import SequenceArrays


def as_batch(arrays: SequenceArrays) -> Batch:
    """Windows from the replay as tensors, sharing their memory."""
    return Batch(
        inputs=as_inputs(
            arrays.observations,
            arrays.goals,
            arrays.previous_actions,
            arrays.previous_rewards,
            arrays.is_first,
            arrays.time,
        ),
        actions=torch.from_numpy(arrays.actions),
        rewards=torch.from_numpy(arrays.rewards),
        terminated=torch.from_numpy(arrays.terminated),
        truncated=torch.from_numpy(arrays.truncated),
        valid=torch.from_numpy(arrays.valid),
        token_valid=torch.from_numpy(arrays.token_valid),
        reached=torch.from_numpy(arrays.reached),
    )
