"""A small agent, random batches for it, and small trajectories: what the tests of the agent's core begin with."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from gymnasium import Space, spaces

from agent.batch import ACTION_MASK, POSITION, Batch, Inputs
from agent.config import Config, override
from agent.forward import build_model
from agent.nets.model import AgentModel, Interface
from agent.presets import preset

NUM_ACTIONS, NUM_GOALS, GOAL_SLOTS = 3, 7, 2
GOAL_KINDS = np.array([0, 1, 2, 3, 4, 4, 4])
CONTEXT = 6

OBSERVATIONS: dict[str, Space] = {
    "view": spaces.MultiDiscrete(np.full((2, 2), 40)),
    "place": spaces.Box(0, 9, (1,), np.uint8),
    "light": spaces.Box(0.0, 1.0, (1,), np.float32),
}
INTERFACE = Interface(
    observation_space=spaces.Dict(OBSERVATIONS),
    action_space=spaces.Discrete(NUM_ACTIONS),
    goal_tokens=np.stack([np.arange(NUM_GOALS + 1), np.arange(NUM_GOALS + 1) % 2], axis=1),
    num_goal_slots=GOAL_SLOTS,
    goal_kinds=GOAL_KINDS,
)
MASKED = replace(
    INTERFACE, observation_space=spaces.Dict({**OBSERVATIONS, ACTION_MASK: spaces.MultiBinary(NUM_ACTIONS)})
)
MAP_SIZE = 40
ON_A_MAP = replace(
    INTERFACE,
    observation_space=spaces.Dict({**OBSERVATIONS, POSITION: spaces.Box(0, MAP_SIZE - 1, (2,), np.uint8)}),
    goal_places=np.array([(np.nan, np.nan)] * 4 + [(0, 0), (3, 3), (9, 1)]),
)
BITS = replace(INTERFACE, action_space=spaces.MultiBinary(3))
BOX = replace(INTERFACE, action_space=spaces.Box(np.float32([-1, 0]), np.float32([3, 10])))

KINDS: dict[str, tuple[Interface, dict[str, Any]]] = {  # of actions: an interface, and what the configuration adds
    "discrete": (INTERFACE, {}),
    "foreseen": (INTERFACE, {"model__foresight": True, "loss__foresight_weight": 2.0}),
    "on a map": (ON_A_MAP, {"model__foresight": True}),
    "masked": (MASKED, {"model__foresight": True}),
    "bits": (BITS, {}),
    "gaussian": (BOX, {}),
    "mixture": (BOX, {"model__continuous": "mixture"}),
    "beta": (BOX, {"model__continuous": "beta"}),
}


@dataclass
class Seen:
    """What a step of all environments brought, as the recorder takes it."""

    observations: dict[str, np.ndarray]
    rewards: np.ndarray
    is_first: np.ndarray
    progress: np.ndarray
    achieved: list[tuple[int, ...]]


def tiny_config(**changes: Any) -> Config:
    """The preset "tiny", smaller; keys of `changes` have "__" for the dot."""
    base = {
        "loss.actor": "ind",
        "loss.critic": "ind",
        "loss.num_steps": 1,
        "loss.reward_scale": 10.0,
        "model.context": CONTEXT,
        "model.d_model": 8,
        "model.num_layers": 2,
        "model.d_ff": 16,
        "model.d_encoder": 16,
        "model.num_critics": 3,
        "model.d_head": 8,
        "loss.discounts": (0.5, 0.9),
        "loss.num_bins": 12,
        "run.device": "cpu",
    }
    return override(preset("tiny"), {**base, **{key.replace("__", "."): value for key, value in changes.items()}})


def tiny_model(config: Config, seed: int = 0, interface: Interface = INTERFACE) -> AgentModel:
    """An agent whose policy and values are not as flat as they start."""
    torch.manual_seed(seed)
    model = build_model(interface, config)
    with torch.no_grad():
        for out in (model.actor.out, model.critics.out):
            out.weight.add_(0.5 * torch.randn_like(out.weight))
        for target, online in ((model.target_actor, model.actor), (model.target_critics, model.critics)):
            for mine, theirs in zip(target.parameters(), online.parameters(), strict=True):
                mine.copy_(theirs + 0.1 * torch.randn_like(theirs))
    return model


def random_inputs(rng: np.random.Generator, rows: int, length: int, interface: Interface = INTERFACE) -> Inputs:
    """(rows, length) random time steps, each row from the start of a rollout."""
    shape = (rows, length)
    observations: dict[str, np.ndarray] = {
        "view": rng.integers(40, size=(*shape, 2, 2)),
        "place": rng.integers(10, size=(*shape, 1)).astype(np.uint8),
        "light": rng.random((*shape, 1)).astype(np.float32),
    }
    goals = rng.integers(NUM_GOALS + 1, size=(*shape, GOAL_SLOTS)).astype(np.int16)
    previous_actions = random_actions(rng, shape, interface)
    previous_rewards = rng.random(shape).astype(np.float32)
    if ACTION_MASK in interface.observation_space.spaces:
        observations[ACTION_MASK] = (rng.random((*shape, NUM_ACTIONS)) < 0.6).astype(np.int8)
    if POSITION in interface.observation_space.spaces:
        observations[POSITION] = rng.integers(MAP_SIZE, size=(*shape, 2)).astype(np.uint8)
    return Inputs(
        observations={key: torch.from_numpy(value) for key, value in observations.items()},
        goals=torch.from_numpy(goals),
        previous_actions=torch.from_numpy(previous_actions),
        previous_rewards=torch.from_numpy(previous_rewards),
        is_first=torch.arange(length).expand(shape) == 0,
        time=torch.arange(length).expand(shape).clone(),
    )


def random_actions(rng: np.random.Generator, shape: tuple[int, ...], interface: Interface) -> np.ndarray:
    """Actions (*shape, ...) that the space contains."""
    space = interface.action_space
    if isinstance(space, spaces.Box):
        return rng.uniform(space.low, space.high, (*shape, *space.shape)).astype(np.float32)
    if isinstance(space, spaces.MultiBinary):
        return rng.integers(2, size=(*shape, *space.shape)).astype(np.int8)
    return rng.integers(NUM_ACTIONS, size=shape)


def random_batch(
    seed: int, lengths: tuple[int, ...] = (6, 2, 5), length: int = CONTEXT, interface: Interface = INTERFACE
) -> Batch:
    """One window for each of `lengths`, padded with rubbish to `length`; short ones end, terminated or truncated.

    Where there are masks, what is done in valid steps is legal and so is something else: the sign of the advantage of
    an only legal action is a matter of rounding.
    """
    rng = np.random.default_rng(seed)
    steps = np.arange(length)
    valid = steps < np.array(lengths)[:, None]
    last = steps == np.array(lengths)[:, None] - 1
    terminated = last & (np.arange(len(lengths)) % 2 == 1)[:, None]
    inputs = random_inputs(rng, len(lengths), length + 1, interface)
    actions = torch.from_numpy(random_actions(rng, valid.shape, interface))
    if ACTION_MASK in inputs.observations:
        for done in (actions, (actions + 1) % NUM_ACTIONS):
            mask = inputs.observations[ACTION_MASK][:, :-1]
            mask.scatter_(2, done[..., None], torch.from_numpy(valid).char()[..., None])
    return Batch(
        inputs=inputs,
        actions=actions,
        rewards=torch.from_numpy((rng.random(valid.shape) < 0.4).astype(np.float32)),
        terminated=torch.from_numpy(terminated),
        truncated=torch.from_numpy(last & ~terminated & (np.array(lengths) < length)[:, None]),
        valid=torch.from_numpy(valid),
        token_valid=torch.from_numpy(np.arange(length + 1) <= np.array(lengths)[:, None]),
        reached=torch.from_numpy(rng.random((*valid.shape, GOAL_KINDS.max() + 1)) < 0.3),
    )


def with_other_padding(batch: Batch, seed: int, interface: Interface = INTERFACE) -> Batch:
    """The same batch with different rubbish behind the end of each window."""
    length = batch.valid.shape[1]
    other = random_batch(seed, (length,) * len(batch.valid), length, interface)

    def mixed(mine: torch.Tensor, theirs: torch.Tensor, keep: torch.Tensor) -> torch.Tensor:
        return torch.where(keep.reshape(keep.shape + (1,) * (mine.ndim - 2)), mine, theirs.to(mine.dtype))

    tokens = {
        name: mixed(getattr(batch.inputs, name), getattr(other.inputs, name), batch.token_valid)
        for name in ("goals", "previous_actions", "previous_rewards", "is_first", "time")
    }
    observations = {
        key: mixed(value, other.inputs.observations[key], batch.token_valid)
        for key, value in batch.inputs.observations.items()
    }
    steps = {
        name: mixed(getattr(batch, name), getattr(other, name), batch.valid)
        for name in ("actions", "rewards", "terminated", "truncated")
    }
    return replace(batch, inputs=replace(batch.inputs, observations=observations, **tokens), **steps)
