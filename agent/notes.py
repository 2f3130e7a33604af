"""What a policy thinks while it acts: its probabilities and the returns that it expects, kept beside a trajectory.

Knows networks and distributions, no recorder and no file. Never touches a random generator: noting changes nothing of
what is played.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from agent.config import LossConfig
from agent.losses.returns import expected_value
from agent.nets.distributions import Categorical, Choices, Distribution
from agent.nets.model import ActingModel
from agent.values import policy_values

_BLOCK = 256  # states that are worked out together: one by one they would cost as much as acting
_NUM_DRAWS = 8  # of an expectation over actions that cannot be counted
_LARGEST = float(np.finfo(np.float16).max)


class _Pending(NamedTuple):
    """One step of the K actors that have a page, still to be worked out; rows of who does not play mean nothing."""

    playing: np.ndarray  # (K,) bool
    states: Tensor  # (K, d_model)
    legal: Tensor | None  # (K, A)
    log_probabilities: Tensor | None  # (K, A)


class Notebook:
    """A page for each of the first `num_actors` actors, with a row for every step of the rollout that it plays."""

    def __init__(self, model: ActingModel, loss: LossConfig, num_actors: int) -> None:
        self._model = model
        self._loss = loss
        self._pages: list[dict[str, list[np.ndarray]]] = [{} for _ in range(num_actors)]
        self._pending: list[_Pending] = []
        self._chances = _spread_out(_NUM_DRAWS, model.family.num_chances)

    def write(
        self, time: np.ndarray, playing: np.ndarray, states: Tensor, legal: Tensor | None, acting: Distribution
    ) -> None:
        """Note a step: the actors (N,) that are `playing` are at `time`, in `states` (N, d_model).

        There they choose by `acting` (N,) among `legal` (N, A) actions, if that is given. Before exploration.
        """
        noted = slice(len(self._pages))
        if not playing[noted].any():
            return
        for actor in np.flatnonzero(playing[noted] & (time[noted] == 0)).tolist():
            self.settle()
            self._pages[actor] = {"probabilities": [], "values": []}
        self._pending.append(
            _Pending(
                playing[noted].copy(),
                states[noted],
                None if legal is None else legal[noted],
                acting.log_probabilities[noted] if isinstance(acting, Categorical) else None,
            )
        )
        if len(self._pending) * len(self._pages) >= _BLOCK:
            self.settle()

    def settle(self) -> None:
        """Work out what is pending; must be done before the weights change."""
        if not self._pending:
            return
        pending, self._pending = self._pending, []
        steps, actors = np.nonzero([each.playing for each in pending])
        rows = torch.from_numpy(steps * len(self._pages) + actors).to(self._model.discounts.device)
        legal = _joined([each.legal for each in pending], rows)
        states = torch.cat([each.states for each in pending])[rows]
        self._append("values", actors, self.values(states, legal))
        log_probabilities = _joined([each.log_probabilities for each in pending], rows)
        if log_probabilities is not None:
            self._append("probabilities", actors, log_probabilities.exp())

    def page(self, actor: int, length: int) -> dict[str, np.ndarray]:
        """What is noted on the first `length` steps T of the rollout of `actor`, by name (T, width) float16.

        "probabilities" (T, A), only of discrete actions, and "values" (T, G). Empty for an actor without a page, and
        for a rollout whose beginning was not seen, because it was played again after a resume.
        """
        if actor >= len(self._pages):
            return {}
        self.settle()
        return {name: np.stack(rows[:length]) for name, rows in self._pages[actor].items() if len(rows) >= length}

    @torch.no_grad()
    def values(self, states: Tensor, legal: Tensor | None) -> Tensor:
        """V(s) (K, G): what each discount's own policy is expected to return, in the unit of the environment's rewards.

        V(s) = mean over the critics of E_{a ~ pi} Q(s, a) for `states` (K, d_model). The expectation over actions that
        cannot be counted is one over a few, always at the same places of the policy.
        """
        model = self._model
        policy = model.policy(model.actor, states[None], None if legal is None else legal[None])  # (1, K, G)
        choices = policy.choices(0) if isinstance(policy, Categorical) else self._choices(policy, len(states))
        features = model.critics.features(states)  # (C, K, ...)
        tried = policy_values(model, model.critics, features, choices, self._loss)  # (C, 1, K, G, M)
        return expected_value(tried, choices.weights).mean(0)[0] / self._loss.reward_scale

    def _choices(self, policy: Distribution, num_states: int) -> Choices:
        each = (1, num_states, len(self._loss.discounts))
        chances = self._chances.to(self._model.discounts.device)
        actions = torch.stack([policy.draw(chance.expand(*each, -1)) for chance in chances], dim=-2)
        weights = torch.full((*each, _NUM_DRAWS), 1 / _NUM_DRAWS, device=actions.device)
        return Choices(actions, weights, weights.log())

    def _append(self, name: str, actors: np.ndarray, numbers: Tensor) -> None:
        """A row of `numbers` (M, width) to the page of each of `actors` (M,), in order of time."""
        rows = numbers.clamp(-_LARGEST, _LARGEST).half().cpu().numpy()
        for actor, row in zip(actors.tolist(), rows, strict=True):
            self._pages[actor].setdefault(name, []).append(row)


def _joined(parts: list[Tensor | None], rows: Tensor) -> Tensor | None:
    """`rows` of all `parts` together; None where there are none."""
    present = [part for part in parts if part is not None]
    return torch.cat(present)[rows] if present else None


def _spread_out(num_draws: int, width: int) -> Tensor:
    """Uniform numbers (M, W), always the same: along each axis one in every M-th of [0, 1) (a Latin hypercube)."""
    rng = np.random.default_rng(0)
    places = np.stack([rng.permutation(num_draws) for _ in range(width)], axis=-1)
    return torch.from_numpy(((places + 0.5) / num_draws).astype(np.float32))
