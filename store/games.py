"""The games that a stored description of an environment names: whose returns may be compared, and how.

The description may be a stranger's: what is not as our environments write it is passed over. Knows no environment.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class StoredGame:
    """One of several games; `low` and `high` are the returns of an attempt that count as 0 and 1, None if unknown."""

    name: str
    held_out: bool = False
    low: float | None = None
    high: float | None = None
    scale: float = 1.0  # by this the environment multiplied the rewards that it paid; `low` and `high` are before it

    def own(self, paid: float) -> float:
        """A paid return in the game's own unit."""
        return paid / self.scale

    def normalised(self, own: float) -> float | None:
        """A return in the game's own unit in units of the span from `low` to `high`; None where that is not known."""
        if self.low is None or self.high is None or self.low == self.high:
            return None
        return (own - self.low) / (self.high - self.low)


def stored_games(spec: Mapping[str, Any]) -> tuple[StoredGame, ...]:
    """The games of an environment's description, () where it plays one only."""
    said = spec.get("games")
    if not isinstance(said, Mapping):
        return ()
    return tuple(_game(name, about if isinstance(about, Mapping) else {}) for name, about in said.items())


def _game(name: str, about: Mapping[str, Any]) -> StoredGame:
    scale = _number(about.get("scale"))
    return StoredGame(
        name=str(name),
        held_out=about.get("held_out") is True,
        low=_number(about.get("low")),
        high=_number(about.get("high")),
        scale=1.0 if scale is None or scale <= 0 else scale,
    )


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None
