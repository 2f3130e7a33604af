"""Presets as keyword arguments: the fields of `agent.config`, with two underscores for the dot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent.config import Config, override


def built_from(base: Mapping[str, Any], changes: Mapping[str, Any]) -> Config:
    """The defaults with the dotted keys of `base` replaced, then those of `changes`: "env__name" for "env.name"."""
    return override(Config(), {**base, **{key.replace("__", "."): value for key, value in changes.items()}})
