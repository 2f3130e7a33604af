"""Figures of others to measure against, kept in references.json: the published ones, and the random policy's."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

_FILE = Path(__file__).with_name("references.json")


@dataclass(frozen=True)
class Reference:
    """Success of somebody else by instruction in words, 0 to 1."""

    label: str
    rates: dict[str, float]


@lru_cache
def references() -> dict[str, Reference]:
    """By name: "published" and "random"."""
    content = json.loads(_FILE.read_text("utf-8"))
    return {
        name: Reference(each["label"], {text: percent / 100 for text, percent in each["percent"].items()})
        for name, each in content.items()
    }
