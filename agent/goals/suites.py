"""Named sets of instructions to evaluate on.

Knows goals only; worlds and numbers of episodes are the evaluation's business.
"""

from collections.abc import Callable

import numpy as np

from agent.goals.grammar import parse_instruction
from agent.goals.sampling import sample_instruction
from agent.goals.vocabulary import ACHIEVEMENT_GOALS

Instruction = tuple[int, ...]
Suite = Callable[[np.random.Generator, int], list[Instruction]]

_PAPER = (
    "make stone pickaxe, collect iron",
    "make stone pickaxe, collect iron x2",
    "make stone pickaxe, collect stone x2, collect iron",
    "collect wood, place table, make wood pickaxe, collect coal",
    "make stone pickaxe, collect coal, collect iron, place furnace, make iron sword",
    "collect drink, eat cow, wake up, make stone sword, defeat zombie",
    "make wood sword, defeat zombie x2",
    "travel to 10,10, place stone, travel to 50,50, place stone",
    "collect sapling, place plant x3, eat cow",
    "eat cow, make stone pickaxe, collect coal, make wood sword, defeat zombie",
)


def _instructions(rng: np.random.Generator, count: int) -> list[Instruction]:
    return [sample_instruction(rng) for _ in range(count)]


def _achievements(rng: np.random.Generator, count: int) -> list[Instruction]:
    return [(goal,) for goal in ACHIEVEMENT_GOALS]


def _paper(rng: np.random.Generator, count: int) -> list[Instruction]:
    return [parse_instruction(text) for text in _PAPER]


SUITES: dict[str, Suite] = {
    "instructions": _instructions,
    "achievements": _achievements,
    "paper": _paper,
}
"""Suites by name, called with (rng, count): `count` fresh draws of the training distribution, the 22 single
goals, or the ten instructions of the paper. The latter two are fixed lists, whatever the arguments."""
