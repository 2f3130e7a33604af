"""Configurations of runs side by side: which settings differ, which runs differ by their seed alone.

The records come from files and may hold anything.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

SEED = "run.seed"


def flatten(config: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested sections as dotted keys: {"run": {"seed": 1}} becomes {"run.seed": 1}."""
    flat: dict[str, Any] = {}
    for key, value in config.items():
        if isinstance(value, Mapping):
            flat |= flatten(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value
    return flat


def differences(configs: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, str]]:
    """Key -> run -> value as text, for the keys in which the runs differ; "not set" where a run has no such key."""
    flat = {run: flatten(config) for run, config in configs.items()}
    keys = dict.fromkeys(key for each in flat.values() for key in each)
    table = {key: {run: _text(each, key) for run, each in flat.items()} for key in keys}
    return {key: row for key, row in table.items() if len(set(row.values())) > 1}


def seed_groups(configs: Mapping[str, Mapping[str, Any]]) -> list[list[str]]:
    """The runs, those together that have the same configuration apart from the seed; order is kept."""
    groups: dict[str, list[str]] = {}
    for run, config in configs.items():
        rest = {key: value for key, value in flatten(config).items() if key != SEED}
        groups.setdefault(json.dumps(rest, sort_keys=True, default=str), []).append(run)
    return list(groups.values())


def setting(config: Mapping[str, Any], section: str, key: str) -> str:
    """A setting as text, "" where there is none."""
    content = config.get(section)
    value = content.get(key) if isinstance(content, Mapping) else None
    return "" if value is None else str(value)


def _text(flat: Mapping[str, Any], key: str) -> str:
    return json.dumps(flat[key], default=str) if key in flat else "not set"
