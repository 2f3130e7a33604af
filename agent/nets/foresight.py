"""What each action would reach at once: a forecast of goals, learned from every step whatever was asked for.

Rewards are rare and each pays one goal of many; which goals a step reaches is known for all of them. So this is learned
long before values are, and then tells actor and critics of any goal, asked for often or never, what one step does. An
auxiliary task in the manner of UNREAL (Jaderberg et al. 2017), whose forecast the heads may use.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

GAIN = 5.0  # a probability moves too little beside representations of unit variance
RARE = -4.0  # logit of a goal before anything has been seen: most steps reach nothing


class Foresight(nn.Module):
    """From representations to a probability for every action and kind of goal."""

    kinds: Tensor
    is_single: Tensor

    def __init__(self, d_model: int, num_actions: int, kinds: np.ndarray) -> None:
        """`kinds` (goals,): the number of each goal's kind, from 0; goals of one kind are not told apart."""
        super().__init__()
        sizes = np.bincount(kinds)
        self.shape = (num_actions, len(sizes))
        self.out = nn.Linear(d_model, num_actions * len(sizes))
        nn.init.constant_(self.out.bias, RARE)
        no_goal = len(sizes)
        self.register_buffer("kinds", torch.from_numpy(np.append(kinds, no_goal)).long(), persistent=False)
        self.register_buffer("is_single", torch.from_numpy(np.append(sizes == 1, False)), persistent=False)

    def forward(self, states: Tensor) -> Tensor:
        """`states` (..., d_model) to logits (..., A, K): does the step by each of A actions reach each of K kinds?"""
        return self.out(states).unflatten(-1, self.shape)

    @torch.no_grad()
    def promise(self, states: Tensor, goals: Tensor) -> Tensor:
        """GAIN times the probability that each action reaches the active goal, (..., A).

        `goals` (..., slots), the active one first. Zero where there is none and where others are of its kind.
        """
        kind = self.kinds[goals[..., 0].long()]  # (...)
        logits = self(states)
        index = kind.clamp(max=self.shape[1] - 1)[..., None, None].expand(*logits.shape[:-1], 1)
        return GAIN * logits.gather(-1, index).squeeze(-1).sigmoid() * self.is_single[kind].unsqueeze(-1)
