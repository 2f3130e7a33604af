"""The sixteen games of Procgen: what their returns mean, how long they go on, and which levels they have.

Tables and arithmetic only, without the package.
"""

from collections.abc import Mapping
from typing import NamedTuple

from agent.envs.base import Game

_WITH_MEMORY = frozenset({"caveflyer", "dodgeball", "heist", "jumper", "maze", "miner"})
"""The games with a "memory" mode; the package ends the process where another is asked for it."""

_ONE_PRIZE = frozenset({"coinrun", "heist", "jumper", "leaper", "maze", "ninja"})
"""The games that pay for nothing but reaching their end."""
_PRIZE = 10.0

_TIME_LIMIT = 1000
_TIME_LIMITS = {"bigfish": 6000, "bossfight": 4000, "leaper": 500, "maze": 500, "plunder": 4000}
_LONGER_TO_REMEMBER = {"jumper": 2000}  # in the "memory" mode


class _Span(NamedTuple):
    """Returns that count as 0 (a policy without eyes, or the least there is) and as 1 (the most there is, or near)."""

    low: float
    high: float


# Cobbe et al. 2020 (arXiv 1912.01588), appendix C.
_EASY = {
    "bigfish": _Span(1, 40),
    "bossfight": _Span(0.5, 13),
    "caveflyer": _Span(3.5, 12),
    "chaser": _Span(0.5, 13),
    "climber": _Span(2, 12.6),
    "coinrun": _Span(5, 10),
    "dodgeball": _Span(1.5, 19),
    "fruitbot": _Span(-1.5, 32.4),
    "heist": _Span(3.5, 10),
    "jumper": _Span(3, 10),
    "leaper": _Span(3, 10),
    "maze": _Span(5, 10),
    "miner": _Span(1.5, 13),
    "ninja": _Span(3.5, 10),
    "plunder": _Span(4.5, 30),
    "starpilot": _Span(2.5, 64),
}
_HARD = {
    "bigfish": _Span(0, 40),
    "bossfight": _Span(0.5, 13),
    "caveflyer": _Span(2, 13.4),
    "chaser": _Span(0.5, 14.2),
    "climber": _Span(1, 12.6),
    "coinrun": _Span(5, 10),
    "dodgeball": _Span(1.5, 19),
    "fruitbot": _Span(-0.5, 27.2),
    "heist": _Span(2, 10),
    "jumper": _Span(1, 10),
    "leaper": _Span(1.5, 10),
    "maze": _Span(4, 10),
    "miner": _Span(1.5, 20),
    "ninja": _Span(2, 10),
    "plunder": _Span(3, 30),
    "starpilot": _Span(1.5, 35),
}
# AMAGO-2 (arXiv 2411.11188, appendix B) normalises the memory mode by the constants of the hard one, and remarks that
# miner's upper one does not quite carry over.
_SPANS = {"easy": _EASY, "hard": _HARD, "memory": _HARD}


NAMES = tuple(_EASY)


def game_of(name: str, mode: str, scale: float) -> Game:
    """What is to be known of one game."""
    span = _SPANS[mode][name]
    return Game(name, low=span.low, high=span.high, scale=scale)


def playable_mode(name: str, mode: str) -> str:
    """The mode that a game is played in: "hard" stands in for "memory" where the game has none."""
    return "hard" if mode == "memory" and name not in _WITH_MEMORY else mode


def time_limit(name: str, mode: str) -> int:
    """Steps after which the game itself ends an attempt."""
    usual = _TIME_LIMITS.get(name, _TIME_LIMIT)
    return _LONGER_TO_REMEMBER.get(name, usual) if mode == "memory" else usual


def success_return(scales: Mapping[str, float]) -> float | None:
    """The return of a finished level where all games (by name, with their scales) have the same, else None."""
    if not _ONE_PRIZE.issuperset(scales) or len(set(scales.values())) != 1:
        return None
    return _PRIZE * next(iter(scales.values()))


def level_of(seed: int, num_levels: int) -> int:
    """The level that belongs to a world's seed.

    Even seeds give the training levels 0..num_levels - 1, odd ones levels from `num_levels` on. Without an end (0) the
    levels are the seeds themselves.
    """
    if num_levels == 0:
        return seed
    return num_levels + seed // 2 if seed % 2 else seed // 2 % num_levels
