"""Environments of many games on two cores: a few of their games, and small networks."""

from __future__ import annotations

from typing import Any

from agent.config import Config
from agent.presets.small_worlds import small_world


def popgym() -> Config:
    """One game. Each answer pays at once, so short discounts do; to find what is to be repeated takes two layers."""
    return small_world(
        env__name="popgym",
        env__games=("RepeatPreviousEasy",),
        env__attempts=1,
        model__num_layers=2,
        loss__discounts=(0.1, 0.5),
        loss__cloning_weight=1.0,
        optimizer__learning_rate=2e-3,
        optimizer__warmup_updates=50,
        collect__actors=8,
        replay__steps_per_update=16.0,
        replay__warmup_steps=1_000,
        exploration__start=(0.5, 0.05),
        exploration__end=(0.5, 0.05),
        exploration__anneal_steps=5_000,
    )


def babyai() -> Config:
    """Levels of one room."""
    return small_world(
        env__name="babyai",
        env__games=("GoToRedBallNoDists", "GoToRedBall", "GoToLocal"),
        model__d_encoder=128,
        loss__num_steps=3,
        replay__steps_per_update=48.0,
        replay__warmup_steps=5_000,
        exploration__anneal_steps=60_000,
    )


def _pictures(**changes: Any) -> Config:
    """Games that are seen as pictures; whether the agent gets better than random within an hour is not known yet."""
    base: dict[str, Any] = {
        "model__context": 16,
        "model__d_encoder": 96,
        "model__image_network": "nature",
        "model__random_shift": 4,
        "loss__actor": "ind",
        "loss__critic": "ind",
        "loss__discounts": (0.9, 0.97),
        "loss__num_steps": 5,
        "loss__reward_scale": 1.0,
        "collect__actors": 8,
        "replay__warmup_steps": 5_000,
        "exploration__start": (1.0, 0.1),
        "exploration__end": (1.0, 0.05),
        "exploration__anneal_steps": 60_000,
    }
    return small_world(**{**base, **changes})


def procgen() -> Config:
    """Two easy games; frames take 12 kB a step, so that a full replay of 80,000 steps is 1 GB."""
    return _pictures(
        env__name="procgen",
        env__games=("coinrun", "fruitbot"),
        env__horizon=1000,
        loss__value_min=-10.0,
        loss__value_max=50.0,
        replay__max_steps=80_000,
        replay__steps_per_update=96.0,
    )


def atari() -> Config:
    """One game, for ten of them are a matter of days; frames take 21 kB a step, so that a full replay is 0.8 GB."""
    return _pictures(
        env__name="atari",
        env__games=("Boxing",),
        env__max_steps=1800,
        loss__value_min=-100.0,
        loss__value_max=100.0,
        replay__max_steps=40_000,
        replay__steps_per_update=48.0,
    )


def metaworld() -> Config:
    """One task with short attempts; rewards are large, dense and smooth."""
    return small_world(
        env__name="metaworld",
        env__benchmark="ML1-reach",
        env__attempts=2,
        env__max_steps=100,
        model__context=64,
        model__d_head=128,
        loss__discounts=(0.9, 0.97),
        loss__action_samples=2,
        loss__num_steps=3,
        loss__reward_scale=1.0,
        collect__actors=8,
        replay__steps_per_update=48.0,
        replay__warmup_steps=5_000,
        exploration__start=(0.5, 0.1),
        exploration__end=(0.5, 0.1),
        exploration__anneal_steps=100_000,
    )
