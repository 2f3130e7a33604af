"""The experiments of AMAGO-2 on one GPU (arXiv 2411.11188, Tables 1 and 2)."""

from __future__ import annotations

from typing import Any

from agent.config import Config
from agent.presets.fields import built_from


def _amago2(**changes: Any) -> Config:
    """What the experiments of AMAGO-2 have in common: the independent updates, and most sizes of its Tables 1 and 2."""
    base: dict[str, Any] = {
        "model.d_model": 256,
        "model.num_layers": 3,
        "model.num_heads": 8,
        "model.d_ff": 1024,
        "model.d_token": 16,
        "model.d_encoder": 512,
        "model.num_critics": 4,
        "model.d_head": 256,
        "loss.actor": "ind",
        "loss.critic": "ind",
        "loss.discounts": (0.1, 0.9, 0.95, 0.97, 0.99, 0.995, 0.999),
        "loss.num_steps": 1,
        "loss.target_tau": 0.003,
        "loss.num_bins": 128,
        "loss.value_min": -1e5,
        "loss.value_max": 1e5,
        "optimizer.learning_rate": 1e-4,
        "optimizer.beta2": 0.999,
        "optimizer.warmup_updates": 500,
        "optimizer.batch_size": 24,
        "optimizer.bf16": True,
        "exploration.anneal_steps": 1_000_000,
        "replay.warmup_steps": 50_000,
        "replay.steps_per_update": 256.0,
        "collect.actors": 64,
        "collect.workers": 4,
    }
    return built_from(base, changes)


def popgym() -> Config:
    """All 27 games. The paper keeps 15,000 rollouts: about 4 million steps."""
    return _amago2(
        env__name="popgym",
        model__context=600,
        loss__num_bins=64,
        optimizer__weight_decay=1e-4,
        replay__max_steps=4_000_000,
    )


def babyai() -> Config:
    """All levels, 18 of them in evaluations only."""
    return _amago2(
        env__name="babyai",
        model__context=512,
        model__num_layers=4,
        loss__num_bins=32,
        optimizer__weight_decay=1e-3,
        replay__max_steps=10_000_000,
    )


def procgen() -> Config:
    """Five easy games; a full replay is 220 GB of pictures, of which the disk holds about a third."""
    return _amago2(
        env__name="procgen",
        env__games=("climber", "coinrun", "jumper", "leaper", "ninja"),
        model__context=128,
        model__d_model=512,
        model__d_ff=2048,
        model__random_shift=4,
        optimizer__weight_decay=5e-3,
        replay__max_steps=18_000_000,
    )


def procgen_memory() -> Config:
    """All games, in the memory mode where there is one; a full replay is 980 GB of pictures, a third of it on disk.

    The number of levels is our choice: the paper gives none.
    """
    return _amago2(
        env__name="procgen",
        env__horizon=5000,
        env__mode="memory",
        env__levels=10_000,
        model__context=768,
        model__d_model=512,
        model__d_ff=2048,
        model__num_layers=6,
        model__image_channels=(20, 36, 64),
        model__random_shift=4,
        optimizer__batch_size=16,
        optimizer__micro_batches=4,
        optimizer__weight_decay=5e-3,
        replay__max_steps=80_000_000,
    )


def atari() -> Config:
    """All ten games; the replay takes 170 GB."""
    return _amago2(
        env__name="atari",
        model__context=64,
        model__random_shift=4,
        loss__reward_scale=1.0,
        optimizer__batch_size=32,
        optimizer__weight_decay=5e-3,
        replay__max_steps=8_000_000,
    )


def metaworld() -> Config:
    return _amago2(
        env__name="metaworld",
        model__context=256,
        model__d_model=320,
        model__d_ff=1280,
        loss__reward_scale=1.0,
        optimizer__learning_rate=5e-4,
        optimizer__clip_norm=2.0,
        optimizer__weight_decay=1e-4,
        replay__max_steps=8_000_000,
    )
