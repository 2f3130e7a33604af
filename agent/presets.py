"""Named configurations: where a run starts from before files and options change it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agent.config import Config, ConfigError, override


@dataclass(frozen=True)
class Preset:
    """One line of the table."""

    name: str
    description: str
    build: Callable[[], Config]


def _small() -> Config:
    """The defaults of `agent.config`.

    Against the papers' values, what an hour on two cores allows: smaller networks, a shorter memory, a higher learning
    rate, five-step returns and faster targets, so that values spread within thousands of updates instead of hundreds
    of thousands; cloning of what went well beside the policy gradient, step sizes that forget soon, and more rollouts
    that ask for what the agent is about to learn.
    """
    return Config()


def _tiny() -> Config:
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


def _paper() -> Config:
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


def _small_world(**changes: Any) -> Config:
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
    return override(Config(), {**base, **{key.replace("__", "."): value for key, value in changes.items()}})


def _tmaze() -> Config:
    """One slip in hundreds of steps and the junction is out of reach, so only the last steps of a rollout explore.

    Each step and the turn pay at once: short discounts spare the agent to learn from the clock how far the junction is.
    """
    return _small_world(
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


def _key_door() -> Config:
    return _small_world(
        env__name="dark-key-door",
        model__context=100,
        loss__num_steps=3,
        replay__steps_per_update=150.0,
        replay__warmup_steps=20_000,
        exploration__start=(1.0, 0.1),
        exploration__end=(1.0, 0.05),
        exploration__anneal_steps=600_000,
    )


def _frozen_lake() -> Config:
    return _small_world(
        env__name="frozen-lake",
        replay__steps_per_update=100.0,
        replay__warmup_steps=10_000,
        exploration__anneal_steps=200_000,
    )


def _delivery() -> Config:
    return _small_world(
        env__name="delivery",
        replay__steps_per_update=150.0,
        replay__warmup_steps=10_000,
    )


def _maze() -> Config:
    return _small_world(
        env__name="maze",
        model__context=64,
        loss__discounts=(0.9, 0.95, 0.98),
        loss__num_steps=3,
        replay__steps_per_update=100.0,
        replay__warmup_steps=10_000,
    )


def _gym() -> Config:
    """For small control tasks; larger worlds want more of everything."""
    return _small_world(
        env__name="gym",
        model__context=32,
        loss__num_steps=3,
        collect__actors=8,
        replay__steps_per_update=16.0,
        replay__warmup_steps=2_000,
        exploration__start=(0.5, 0.05),
        exploration__end=(0.5, 0.02),
        exploration__anneal_steps=20_000,
    )


def _half_cheetah() -> Config:
    return _small_world(
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


PRESETS = {
    preset.name: preset
    for preset in (
        Preset("small", "Crafter on a laptop or two CPU cores: something to see within minutes", _small),
        Preset("paper", "Crafter on one GPU: the sizes of the AMAGO papers", _paper),
        Preset("tiny", "seconds, for trying things out: too small to learn much", _tiny),
        Preset("tmaze", "T-Maze on two cores", _tmaze),
        Preset("dark-key-door", "dark key-to-door on two cores", _key_door),
        Preset("frozen-lake", "meta-frozen-lake on two cores", _frozen_lake),
        Preset("delivery", "package delivery on two cores", _delivery),
        Preset("maze", "maze runner on two cores", _maze),
        Preset("gym", "small control tasks on two cores", _gym),
        Preset("half-cheetah", "half-cheetah velocity on two cores", _half_cheetah),
    )
}


def preset(name: str) -> Config:
    """The configuration of a preset; ConfigError for an unknown name."""
    if name not in PRESETS:
        raise ConfigError(f"unknown preset '{name}'; there are {', '.join(PRESETS)}")
    return PRESETS[name].build()
