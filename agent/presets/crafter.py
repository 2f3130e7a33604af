"""Crafter: on two cores, in seconds, and at the sizes of the papers."""

from __future__ import annotations

from typing import Any

from agent.config import Config, override


def small() -> Config:
    """For an hour or two on two cores.

    Against the papers' values, what an hour on two cores allows: smaller networks, a shorter memory, a higher learning
    rate, five-step returns and faster targets, so that values spread within thousands of updates instead of hundreds
    of thousands; cloning of what went well beside the policy gradient, by how well it went; an entropy that keeps the
    policy from one action everywhere while the critics know little; step sizes that forget soon, rollouts that ask for
    what the agent is about to learn, a replay that shows rare goals more often, and foresight: a reward tells of one
    goal, each step of all goals that it reached or comes nearer to.
    """
    changes: dict[str, Any] = {
        "model.foresight": True,
        "loss.advantage_filter": "linear",
        "loss.entropy_weight": 0.02,
        "replay.goal_share": 0.3,
    }
    return override(Config(), changes)


def tiny() -> Config:
    changes: dict[str, Any] = {
        "model.context": 16,
        "model.d_model": 16,
        "model.num_layers": 1,
        "model.num_heads": 2,
        "model.d_ff": 32,
        "model.d_token": 4,
        "model.d_encoder": 32,
        "model.num_critics": 2,
        "model.d_head": 16,
        "loss.discounts": (0.9, 0.99),
        "loss.num_bins": 16,
        "optimizer.batch_size": 4,
        "replay.warmup_steps": 200,
        "replay.steps_per_update": 16.0,
        "collect.actors": 4,
        "collect.publish_every": 5,
        "run.log_every": 1.0,
        "run.threads": 1,
    }
    return override(Config(), changes)


def paper() -> Config:
    changes: dict[str, Any] = {
        "task.tech_tree_share": 0.0,
        "task.curriculum_share": 0.0,
        "model.context": 512,
        "model.d_model": 256,
        "model.num_layers": 3,
        "model.num_heads": 8,
        "model.d_ff": 1024,
        "model.d_token": 16,
        "model.d_encoder": 512,
        "model.num_critics": 4,
        "model.d_head": 256,
        "loss.discounts": (0.1, 0.9, 0.95, 0.97, 0.99, 0.995, 0.999),
        "loss.num_steps": 1,
        "loss.cloning_weight": 0.1,
        "loss.target_tau": 0.003,
        "loss.num_bins": 128,
        "optimizer.learning_rate": 1e-4,
        "optimizer.beta2": 0.999,
        "optimizer.warmup_updates": 500,
        "exploration.anneal_steps": 1_000_000,
        "optimizer.bf16": True,
        "replay.max_steps": 10_000_000,
        "replay.warmup_steps": 50_000,
        "replay.steps_per_update": 256.0,
        "collect.actors": 64,
        "collect.workers": 4,
    }
    return override(Config(), changes)
