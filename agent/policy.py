"""From rollouts in progress to actions, with cached inference.

The memory of an actor is a window of its rollout: at most `context` steps. When the window is full it moves on by
half, and what it still holds is encoded anew. So acting at step t is at all times one full forward pass over steps
s..t, the same thing that training does on a window that begins at s. New weights make every cache stale.
"""

from __future__ import annotations

from typing import Protocol

import gymnasium
import numpy as np
import torch
from torch import Tensor

from agent.batch import ACTION_MASK, Inputs, as_inputs
from agent.exploring import anything, disturb, num_chances
from agent.nets.distributions import Distribution
from agent.nets.linear import fold
from agent.nets.model import ActingModel
from agent.notes import Notebook
from agent.recorder import Recorder


class ActionSource(Protocol):
    """Anything that chooses actions for rollouts in progress."""

    update: int  # optimiser steps behind it
    num_chances: int  # uniform numbers that one choice is made of

    def choose(
        self, recorder: Recorder, playing: np.ndarray, chances: np.ndarray, epsilon: np.ndarray | None
    ) -> np.ndarray:
        """Actions (N, ...) of every actor, made of `chances` (N, W), explored by `epsilon` (N,) if it is given.

        Rows where `playing` (N,) is false mean nothing.
        """
        ...

    def diagnostics(self, actor: int, length: int) -> dict[str, np.ndarray]:
        """What `actor` thought in the first `length` steps of its rollout, as a trajectory holds it; often nothing."""
        ...


class UniformPolicy:
    """Every legal action is as likely as any other: what an agent has to beat."""

    update = 0

    def __init__(self, space: gymnasium.Space) -> None:
        self._space = space
        self.num_chances = num_chances(space)

    def choose(
        self, recorder: Recorder, playing: np.ndarray, chances: np.ndarray, epsilon: np.ndarray | None
    ) -> np.ndarray:
        return anything(self._space, chances, _legal(recorder))

    def diagnostics(self, actor: int, length: int) -> dict[str, np.ndarray]:
        return {}


class Policy:
    """The agent as an actor: weights, and one cached window per actor."""

    def __init__(
        self,
        model: ActingModel,
        num_actors: int,
        context: int,
        *,
        greedy: bool = False,
        notebook: Notebook | None = None,
    ) -> None:
        """`context`: steps an actor remembers, as many as the training windows have transitions.

        With `greedy` the likeliest action is taken instead of drawing one. Into a `notebook`, of the same `model`, goes
        what some actors think.
        """
        self.model = model.eval().requires_grad_(False)
        self.update = 0
        self.context = context
        self.num_chances = model.family.num_chances + num_chances(model.action_space)
        self._greedy = greedy
        self._notebook = notebook
        self._cache = model.representation.memory.new_cache(num_actors, context)
        self._device = self._cache.device
        self._starts = np.zeros(num_actors, np.int64)  # first step of each window
        self._cached = np.full(num_actors, -1)  # steps each cache holds, -1 when it is stale
        fold(self.model)

    def load(self, tensors: dict[str, Tensor], update: int) -> None:
        """Take over new weights, by the names of `agent.nets.model.acting_tensors`."""
        if self._notebook:
            self._notebook.settle()
        self.model.load_state_dict(tensors)
        fold(self.model)
        self.update = update
        self._cached[:] = -1

    def choose(
        self, recorder: Recorder, playing: np.ndarray, chances: np.ndarray, epsilon: np.ndarray | None
    ) -> np.ndarray:
        own = self.model.family.num_chances
        legal = _legal(recorder)
        states = self.states(recorder, playing)
        allowed = None if legal is None else torch.from_numpy(legal).to(self._device)
        distribution = self.distribution(states, allowed)
        if self._notebook:
            self._notebook.write(recorder.lengths, playing, states, allowed, distribution)
        drawn = torch.from_numpy(chances[:, :own]).to(self._device)
        encoded = distribution.likeliest() if self._greedy else distribution.draw(drawn)
        actions = self.model.code.decode(encoded).cpu().numpy()
        if epsilon is None:
            return actions
        return disturb(self.model.action_space, actions, chances[:, own:], epsilon, legal)

    def diagnostics(self, actor: int, length: int) -> dict[str, np.ndarray]:
        return self._notebook.page(actor, length) if self._notebook else {}

    @torch.no_grad()
    def distribution(self, states: Tensor, legal: Tensor | None) -> Distribution:
        """The distributions (N,) of the discount that acts, in `states` (N, d_model), over `legal` (N, A) actions."""
        return self.model.family.make(self.model.actor.last_discount(states), legal)

    @torch.no_grad()
    def states(self, recorder: Recorder, playing: np.ndarray) -> Tensor:
        """The representations (N, width) of the steps that the actors are at."""
        time = recorder.lengths
        self._place_windows(time)
        behind = np.flatnonzero(playing & (self._cached != time - self._starts))
        if len(behind):
            self._refill(recorder, behind)
        idle = ~playing
        self._cached[idle] = 0
        self._cache.lengths.copy_(torch.from_numpy(self._cached))
        actors = np.arange(len(time))
        inputs = _inputs(recorder, actors, time[:, None], self._device)
        representation = self.model.representation
        features = representation.encoder.features(inputs)
        token = representation.encoder.mix(features)[:, 0]
        remembered = representation.memory.step(token, inputs.time[:, 0], self._cache)
        self._cached += 1
        self._cached[idle] = -1
        return representation.complete(remembered.unsqueeze(1), features, inputs).states[:, 0]

    def _place_windows(self, time: np.ndarray) -> None:
        """Where the windows begin is a function of the time alone, so that a resumed run acts on the same ones."""
        self._cached[time == 0] = 0
        stride = self.context - self.context // 2
        self._starts = np.maximum((time - self.context) // stride + 1, 0) * stride

    def _refill(self, recorder: Recorder, actors: np.ndarray) -> None:
        """Encode anew what the windows of `actors` (M,) hold before the current step."""
        lengths = recorder.lengths[actors] - self._starts[actors]
        steps = self._starts[actors][:, None] + np.arange(max(int(lengths.max()), 1))
        steps = np.minimum(steps, recorder.lengths[actors][:, None])  # padding repeats the current step
        inputs = _inputs(recorder, actors, steps, self._device)
        rows, counts = torch.from_numpy(actors).to(self._device), torch.from_numpy(lengths).to(self._device)
        representation = self.model.representation
        representation.memory.prefill(representation.encoder(inputs), inputs.time, counts, self._cache, rows)
        self._cached[actors] = lengths


def _inputs(recorder: Recorder, actors: np.ndarray, steps: np.ndarray, device: torch.device) -> Inputs:
    """What `actors` (M,) knew at `steps` (M, T)."""
    at = (actors[:, None], steps)
    inputs = as_inputs(
        observations={key: array[at] for key, array in recorder.observations.items()},
        goals=recorder["goals"][at],
        previous_actions=recorder["previous_actions"][at],
        previous_rewards=recorder["previous_rewards"][at],
        is_first=recorder["is_first"][at],
        time=steps,
    )
    return inputs if device.type == "cpu" else inputs.to(device)


def _legal(recorder: Recorder) -> np.ndarray | None:
    """(N, A) bool: what every actor may do now, where the observation tells."""
    masks = recorder.observations.get(ACTION_MASK)
    return None if masks is None else masks[np.arange(recorder.num_actors), recorder.lengths].astype(bool)
