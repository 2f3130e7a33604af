"""What metrics are called on charts, with their units; which of them come first. Knows keys only."""

from __future__ import annotations

import re
from collections.abc import Iterable

_TITLES = {
    "rollout/return": "return per rollout (reward)",
    "rollout/length": "length of a rollout (steps)",
    "rollout/epsilon": "random actions (share)",
    "rollout/success": "success (share of rollouts)",
    "rollout/wanted_success": "success on the wanted instruction (share)",
    "rollout/subgoals_ratio": "subgoals finished (share)",
    "rollout/death_ratio": "deaths (share of rollouts)",
    "rollout/normalised": "normalised return of the last attempt (mean over games)",
    "eval/normalised": "normalised return in evaluations (mean over games)",
    "rollout/attempts": "attempts per rollout",
    "rollout/first_attempt_return": "return of the first attempt (reward)",
    "rollout/last_attempt_return": "return of the last attempt (reward)",
    "train/critic_loss": "critic loss",
    "train/actor_loss": "actor loss",
    "train/foresight_loss": "error of foresight (nats and squared moves per step)",
    "train/entropy": "entropy of the policy (nats)",
    "train/gradient_norm": "gradient norm",
    "train/value": "value (return)",
    "train/target": "value target (return)",
    "system/steps_per_second": "environment steps per second",
    "system/updates_per_second": "updates per second",
    "system/sampling_seconds": "sampling batches (seconds)",
}
_UNLOCKED = "rollout/unlocked_"
_GAME = re.compile(r"(?P<of>rollout|eval)/game/(?P<game>.+)/(?P<figure>return|success)")
_FIRST = (
    "rollout/success",
    "rollout/normalised",
    "rollout/return",
    "rollout/subgoals_ratio",
    "train/critic_loss",
    "train/entropy",
)
MAX_FIRST = 4  # charts of a page before anything is chosen


def game_of(key: str) -> str | None:
    """The game whose figure this metric is; None of one that is of no single game."""
    found = _GAME.fullmatch(key)
    return found["game"] if found else None


def title(key: str) -> str:
    """The name of a metric for an axis, with its unit where that is known."""
    if found := _GAME.fullmatch(key):
        unit = "share of rollouts" if found["figure"] == "success" else "last attempt, the game's own unit"
        played = " in evaluations" if found["of"] == "eval" else ""
        return f"{found['game']}: {found['figure']}{played} ({unit})"
    if key in _TITLES:
        return _TITLES[key]
    if key.startswith(_UNLOCKED):
        return f"{key.removeprefix(_UNLOCKED).replace('_', ' ')} (share of rollouts)"
    name = key.rpartition("/")[2].replace("_", " ")
    return name.removesuffix(" ratio") + " (share)" if name.endswith(" ratio") else name


def sensible_first(keys: Iterable[str]) -> list[str]:
    """What to show before anybody chose."""
    keys = sorted(keys)
    return ([key for key in _FIRST if key in keys] or keys)[:MAX_FIRST]
