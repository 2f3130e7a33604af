"""Which goals an environment knows, by the name it gives in `EnvSpec.vocabulary`: their ids, names and tokens.

    ""           no goals
    "crafter"    the 191 goals of Crafter
    "cells 11"   to stand on a cell of a grid of 11 x 11; goal y * 11 + x is cell (x, y)
    "success"    one goal that nobody asks for: an attempt that reaches it is a success, whatever it goes on to do

Ids are stored in trajectories, so a vocabulary of one name never changes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np

from agent.goals.grammar import format_instruction
from agent.goals.vocabulary import GOALS, goal_tokens

SUCCESS = "success"
_CELLS = "cells "
_MAX_SIZE = 181  # the ids of a larger grid's cells do not fit the int16 in which goals are stored


@dataclass(frozen=True)
class Vocabulary:
    """Goal ids are the indices of `names`."""

    name: str
    names: tuple[str, ...]
    tokens: np.ndarray  # (goals + 1, words) numbers of the words of each goal, 0 is no word; the last row is all 0
    describe: Callable[[Sequence[int]], str]  # text of an instruction
    kinds: np.ndarray  # (goals,) number of each goal's kind, from 0: all places to go to are of one
    places: np.ndarray | None = None  # (goals, 2) where goals not told apart are reached, NaN for others
    milestones: frozenset[int] = frozenset()  # goals whose first time is worth telling: not the many places to go to

    @property
    def no_goal(self) -> int:
        """Stands for "no goal" wherever goal ids have a fixed number of slots."""
        return len(self.names)


@lru_cache
def vocabulary(name: str) -> Vocabulary:
    """The vocabulary of that name; ValueError if there is none."""
    if name == "":
        return Vocabulary(name, (), np.zeros((1, 1), np.uint8), partial(_listed, ()), np.arange(0))
    if name == "crafter":
        names = tuple(goal.name for goal in GOALS)
        milestones = frozenset(goal.id for goal in GOALS if goal.verb != "travel")
        kinds = np.array([goal.id if goal.id in milestones else len(milestones) for goal in GOALS])
        places = np.array([(np.nan, np.nan) if goal.x is None else (goal.x, goal.y) for goal in GOALS])
        return Vocabulary(name, names, goal_tokens(), format_instruction, kinds, places, milestones)
    if name == SUCCESS:
        return Vocabulary(name, (SUCCESS,), np.array([[1], [0]], np.uint8), partial(_listed, (SUCCESS,)), np.arange(1))
    size = name.removeprefix(_CELLS)
    if name.startswith(_CELLS) and size.isdecimal() and 0 < int(size) <= _MAX_SIZE:
        return _cells(name, int(size))
    raise ValueError(f"there is no vocabulary {name!r}, only 'crafter', 'success' and 'cells <1 to {_MAX_SIZE}>'")


def _cells(name: str, size: int) -> Vocabulary:
    y, x = np.divmod(np.arange(size * size), size)
    names = tuple(f"cell ({column}, {row})" for column, row in zip(x.tolist(), y.tolist(), strict=True))
    tokens = np.zeros((size * size + 1, 2), np.uint8)
    tokens[:-1] = np.stack([x, y], axis=1) + 1
    return Vocabulary(name, names, tokens, partial(_listed, names), np.arange(size * size))


def _listed(names: tuple[str, ...], instruction: Sequence[int]) -> str:
    return ", ".join(names[goal] for goal in instruction)
