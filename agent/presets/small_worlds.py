"""Small worlds and small control tasks on two cores."""

from __future__ import annotations

from typing import Any

from agent.config import Config
from agent.presets.fields import built_from


def small_world(**changes: Any) -> Config:
    """What the small environments have in common: networks that train fast on one core.

    One-step targets: n-step returns blame a step for chance turns after it, and what is to be remembered pays late.
    AdamW forgets soon how large gradients once were, or a rare signal would wait for a thousand updates to count.
    """
    base: dict[str, Any] = {
        "model.context": None,
        "model.d_model": 64,
        "model.num_layers": 1,
        "model.num_heads": 2,
        "model.d_ff": 128,
        "model.d_encoder": 64,
        "model.num_critics": 2,
        "model.d_head": 64,
        "loss.discounts": (0.9, 0.97, 0.99),
        "loss.num_steps": 1,
        "loss.cloning_weight": 0.1,
        "optimizer.learning_rate": 1e-3,
        "optimizer.batch_size": 16,
        "collect.actors": 32,
        "collect.workers": 0,
        "replay.max_steps": 1_000_000,
    }
    return built_from(base, changes)


def tmaze() -> Config:
    """One slip in hundreds of steps and the junction is out of reach, so only the last steps of a rollout explore.

    Each step and the turn pay at once: short discounts spare the agent to learn from the clock how far the junction is.
    """
    return small_world(
        env__name="tmaze",
        model__d_model=48,
        model__d_ff=96,
        loss__discounts=(0.1, 0.5),
        collect__actors=12,
        replay__max_steps=100_000,
        replay__steps_per_update=100.0,
        replay__warmup_steps=10_000,
        exploration__start=(0.5, 0.0),
        exploration__end=(1.0, 1.0),
        exploration__power=300.0,
        exploration__anneal_steps=20_000,
    )


def key_door() -> Config:
    return small_world(
        env__name="dark-key-door",
        model__context=100,
        loss__num_steps=3,
        replay__steps_per_update=150.0,
        replay__warmup_steps=20_000,
        exploration__start=(1.0, 0.1),
        exploration__end=(1.0, 0.05),
        exploration__anneal_steps=600_000,
    )


def frozen_lake() -> Config:
    return small_world(
        env__name="frozen-lake",
        replay__steps_per_update=100.0,
        replay__warmup_steps=10_000,
        exploration__anneal_steps=200_000,
    )


def delivery() -> Config:
    return small_world(
        env__name="delivery",
        replay__steps_per_update=150.0,
        replay__warmup_steps=10_000,
    )


def maze() -> Config:
    return small_world(
        env__name="maze",
        model__context=64,
        loss__discounts=(0.9, 0.95, 0.98),
        loss__num_steps=3,
        replay__steps_per_update=100.0,
        replay__warmup_steps=10_000,
    )


def gym() -> Config:
    return _control("gym")


def own() -> Config:
    return _control("own")


def _control(name: str) -> Config:
    """For small control tasks; larger worlds want more of everything."""
    return small_world(
        env__name=name,
        model__context=32,
        loss__num_steps=3,
        collect__actors=8,
        replay__steps_per_update=16.0,
        replay__warmup_steps=2_000,
        exploration__start=(0.5, 0.05),
        exploration__end=(0.5, 0.02),
        exploration__anneal_steps=20_000,
    )


def half_cheetah() -> Config:
    return small_world(
        env__name="half-cheetah",
        model__context=32,
        model__d_head=128,
        loss__discounts=(0.9, 0.98),
        loss__action_samples=2,
        collect__actors=8,
        collect__workers=1,
        replay__steps_per_update=48.0,
        replay__warmup_steps=10_000,
        exploration__start=(0.5, 0.1),
        exploration__end=(0.5, 0.1),
        exploration__anneal_steps=100_000,
    )
