"""Where each action leads, learned from every step whatever was asked for.

Rewards are rare and each pays one goal of many; which goals a step reached, and where it went, is known for all of
them. So this is learned long before values are. The heads are then told of the active goal, asked for often or never,
what each action would lose on the way there: all-goals Q-learning (Kaelbling 1993; Veeriah et al. 2018) as an
auxiliary task whose forecast is an input, and for places a forecast of the next position.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from agent.nets.transformer import NEGATIVE_SLOPE

DISCOUNT = 0.9
"""Of forecasts, per step: low, so that one step more or less on the way is no matter of a few hundredths."""

MAX_LOST = 4.0  # steps that an action is said to lose at most: all bad actions are alike
MAX_STEPS = 40.0  # to a goal, beyond which forecasts are all alike
FAR = -3.0  # logit of a goal before anything has been seen


@dataclass(frozen=True)
class Foreseen:
    """What each action leads to."""

    reach: Tensor  # (..., A, K) logits of DISCOUNT ** (steps to each of K kinds of goals, this action being the first)
    moves: Tensor | None  # (..., A, D) how far each action goes, in the unit of the positions; None: not observed


class Foresight(nn.Module):
    """From what is known of a step to what every action leads to, for every kind of goal.

    A network of its own from the step's features: what is where decides, and the memory's few numbers have other uses.
    """

    kinds: Tensor
    is_single: Tensor
    places: Tensor

    def __init__(
        self, d_in: int, d_hidden: int, num_actions: int, kinds: np.ndarray, places: np.ndarray | None = None
    ) -> None:
        """`kinds` (goals,): the number of each goal's kind, from 0; goals of one kind are not told apart.

        `places` (goals, D): the position that reaches each goal, NaN for goals that are no place; None where the
        position is not observed.
        """
        super().__init__()
        sizes = np.bincount(kinds)
        self.shape = (num_actions, len(sizes))
        self.hidden = nn.Sequential(nn.Linear(d_in, d_hidden), nn.LeakyReLU(NEGATIVE_SLOPE))
        self.reach = nn.Linear(d_hidden, num_actions * len(sizes))
        nn.init.constant_(self.reach.bias, FAR)
        no_goal = len(sizes)
        self.register_buffer("kinds", torch.from_numpy(np.append(kinds, no_goal)).long(), persistent=False)
        self.register_buffer("is_single", torch.from_numpy(np.append(sizes == 1, False)), persistent=False)
        self.move: nn.Linear | None = None
        if places is not None:
            padded = np.concatenate([places, np.full((1, places.shape[1]), np.nan)])
            self.register_buffer("places", torch.from_numpy(padded).float(), persistent=False)
            self.move = nn.Linear(d_hidden, num_actions * places.shape[1])
            nn.init.zeros_(self.move.weight)
            nn.init.zeros_(self.move.bias)

    @property
    def width(self) -> int:
        """Numbers in a promise."""
        return self.shape[0] + 1

    def forward(self, known: Tensor) -> Foreseen:
        """`known` (..., d_in)."""
        hidden = self.hidden(known)
        moves = None if self.move is None else self.move(hidden).unflatten(-1, (self.shape[0], -1))
        return Foreseen(self.reach(hidden).float().unflatten(-1, self.shape), moves)

    @torch.no_grad()
    def promise(self, foreseen: Foreseen, goals: Tensor, position: Tensor | None) -> Tensor:
        """Of the active goal: how many steps each action loses, as 0 to -MAX_LOST, then the steps left: (..., A + 1).

        The steps left are a share of MAX_STEPS. Zeros where there is no goal, or nothing is known of it. `goals`
        (..., slots), the active one first, or no slot where one goal is meant at all times; `position` (..., D).
        """
        active = goals[..., 0].long() if goals.shape[-1] else goals.new_zeros(goals.shape[:-1]).long()
        kind = self.kinds[active]
        index = kind.clamp(max=self.shape[1] - 1)[..., None, None].expand(*kind.shape, self.shape[0], 1)
        chances = nn.functional.logsigmoid(foreseen.reach.gather(-1, index).squeeze(-1))
        steps = chances / math.log(DISCOUNT)  # (..., A)
        is_known = self.is_single[kind].unsqueeze(-1)
        if foreseen.moves is not None and position is not None:
            offset = self.places[active] - position.float()  # (..., D)
            is_place = ~(offset.isnan().any(-1, keepdim=True) | is_known)  # there may be walls, which moves know not of
            steps = torch.where(is_place, (offset.unsqueeze(-2) - foreseen.moves).abs().sum(-1) + 1, steps)
            is_known = is_known | is_place
        fewest = steps.amin(-1, keepdim=True)
        lost = (steps - fewest).clamp(max=MAX_LOST)
        return torch.cat([-lost, fewest.clamp(max=MAX_STEPS) / MAX_STEPS], -1) * is_known
