"""A small agent, random batches for it, and small trajectories: what the tests of the agent's core begin with."""

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from gymnasium import spaces

from agent.batch import Batch, Inputs
from agent.config import Config, override
from agent.forward import build_model
from agent.nets.model import AgentModel, Interface
from agent.presets import preset

NUM_ACTIONS, NUM_GOALS, GOAL_SLOTS = 3, 7, 2
CONTEXT = 6

INTERFACE = Interface(
    observation_space=spaces.Dict(
        {
            "view": spaces.MultiDiscrete(np.full((2, 2), 40)),
            "place": spaces.Box(0, 9, (1,), np.uint8),
            "light": spaces.Box(0.0, 1.0, (1,), np.float32),
        }
    ),
    num_actions=NUM_ACTIONS,
    goal_tokens=np.stack([np.arange(NUM_GOALS + 1), np.arange(NUM_GOALS + 1) % 2], axis=1),
    num_goal_slots=GOAL_SLOTS,
)


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


def tiny_model(config: Config, seed: int = 0) -> AgentModel:
    """An agent for `INTERFACE` whose policy and values are not as flat as they start."""
    torch.manual_seed(seed)
    model = build_model(INTERFACE, config)
    with torch.no_grad():
        for out in (model.actor.out, model.critics.out):
            out.weight.add_(0.5 * torch.randn_like(out.weight))
        for target, online in ((model.target_actor, model.actor), (model.target_critics, model.critics)):
            for mine, theirs in zip(target.parameters(), online.parameters(), strict=True):
                mine.copy_(theirs + 0.1 * torch.randn_like(theirs))
    return model


def random_inputs(rng: np.random.Generator, rows: int, length: int) -> Inputs:
    """(rows, length) random time steps of `INTERFACE`, each row from the start of a rollout."""
    shape = (rows, length)
    return Inputs(
        observations={
            "view": torch.from_numpy(rng.integers(40, size=(*shape, 2, 2))),
            "place": torch.from_numpy(rng.integers(10, size=(*shape, 1)).astype(np.uint8)),
            "light": torch.from_numpy(rng.random((*shape, 1)).astype(np.float32)),
        },
        goals=torch.from_numpy(rng.integers(NUM_GOALS + 1, size=(*shape, GOAL_SLOTS)).astype(np.int16)),
        previous_actions=torch.from_numpy(rng.integers(NUM_ACTIONS, size=shape)),
        previous_rewards=torch.from_numpy(rng.random(shape).astype(np.float32)),
        is_first=torch.arange(length).expand(shape) == 0,
        time=torch.arange(length).expand(shape).clone(),
    )


def random_batch(seed: int, lengths: tuple[int, ...] = (6, 2, 5), length: int = CONTEXT) -> Batch:
    """One window for each of `lengths`, padded with rubbish to `length`; short ones end, terminated or truncated."""
    rng = np.random.default_rng(seed)
    steps = np.arange(length)
    valid = steps < np.array(lengths)[:, None]
    last = steps == np.array(lengths)[:, None] - 1
    terminated = last & (np.arange(len(lengths)) % 2 == 1)[:, None]
    return Batch(
        inputs=random_inputs(rng, len(lengths), length + 1),
        actions=torch.from_numpy(rng.integers(NUM_ACTIONS, size=valid.shape)),
        rewards=torch.from_numpy((rng.random(valid.shape) < 0.4).astype(np.float32)),
        terminated=torch.from_numpy(terminated),
        truncated=torch.from_numpy(last & ~terminated & (np.array(lengths) < length)[:, None]),
        valid=torch.from_numpy(valid),
        token_valid=torch.from_numpy(np.arange(length + 1) <= np.array(lengths)[:, None]),
    )


def with_other_padding(batch: Batch, seed: int) -> Batch:
    """The same batch with different rubbish behind the end of each window."""
    other = random_batch(seed, lengths=(batch.valid.shape[1],) * len(batch.valid), length=batch.valid.shape[1])

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
