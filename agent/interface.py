"""From an environment's description to what the networks need to know of it."""

from __future__ import annotations

import numpy as np
from gymnasium import spaces

from agent.batch import POSITION
from agent.config import ModelConfig
from agent.envs.base import EnvSpec
from agent.goals.vocabularies import vocabulary
from agent.nets.model import Interface


def interface_of(spec: EnvSpec) -> Interface:
    """The networks' view of an environment; ValueError for spaces that the agent cannot handle."""
    if not isinstance(spec.observation_space, spaces.Dict):
        raise ValueError(f"the agent observes dictionaries, not {spec.observation_space}")
    goals = vocabulary(spec.vocabulary)
    return Interface(
        observation_space=spec.observation_space,
        action_space=spec.action_space,
        goal_tokens=goals.tokens if spec.goals else None,
        goal_kinds=foreseen_kinds(spec),
        goal_places=goals.places if spec.goals and POSITION in spec.observation_space.spaces else None,
        num_goal_slots=spec.max_instruction,
    )


def foreseen_kinds(spec: EnvSpec) -> np.ndarray:
    """(goals,) the number of each goal's kind, from 0; in a world without goals there is one: a step that pays."""
    return vocabulary(spec.vocabulary).kinds if spec.goals else np.zeros(1, int)


def context_of(model: ModelConfig, spec: EnvSpec) -> int:
    """Steps that the agent remembers and that training windows have: never more than a rollout."""
    return min(model.context or spec.max_steps, max(spec.max_steps, 2))
