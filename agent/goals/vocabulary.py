"""The 191 goals of Crafter: their ids, names and tokens, and which event of the game reaches which goal.

Ids follow one fixed order (collect, defeat, eat, make, place, wake up, travel) and are stored in
trajectories, so they must never be renumbered. This module knows no game and no instruction text beyond the
canonical names.
"""

from dataclasses import dataclass

import numpy as np

MAX_SUBGOALS = 5
"""Longest instruction."""

GRID_STEP = 5
GRID_MAX = 60
"""Travel goals lie on a grid of GRID_STEP metres from 0 to GRID_MAX in both directions."""

_NOUNS = {
    "collect": ("coal", "diamond", "drink", "iron", "sapling", "stone", "wood"),
    "defeat": ("skeleton", "zombie"),
    "eat": ("cow", "plant"),
    "make": tuple(f"{material} {tool}" for material in ("wood", "stone", "iron") for tool in ("pickaxe", "sword")),
    "place": ("furnace", "plant", "stone", "table"),
    "wake": ("up",),
}
_COORDINATES = tuple(range(0, GRID_MAX + 1, GRID_STEP))


@dataclass(frozen=True)
class Goal:
    """One goal: a verb with a noun, or the verb "travel" with a grid point."""

    id: int
    verb: str
    noun: str
    x: int | None = None
    y: int | None = None

    @property
    def name(self) -> str:
        """Canonical name, which the parser reads back: "make stone pickaxe", "travel (10, 20)"."""
        return f"{self.verb} {self.noun}" if self.x is None else f"{self.verb} ({self.x}, {self.y})"

    @property
    def words(self) -> tuple[str, ...]:
        """The goal's tokens in words, at most three: ("make", "stone", "pickaxe"), ("travel", "10", "20")."""
        return (self.verb, *self.noun.split()) if self.x is None else (self.verb, str(self.x), str(self.y))


def _all_goals() -> tuple[Goal, ...]:
    parts: list[tuple] = [(verb, noun) for verb, nouns in _NOUNS.items() for noun in nouns]
    parts += [("travel", "", x, y) for x in _COORDINATES for y in _COORDINATES]
    return tuple(Goal(number, *part) for number, part in enumerate(parts))


GOALS = _all_goals()
NUM_GOALS = len(GOALS)
NO_GOAL = NUM_GOALS
"""Stands for "no goal" wherever goal ids have a fixed number of slots."""

_IDS = {goal.name: goal.id for goal in GOALS}
_FIRST_TRAVEL = _IDS["travel (0, 0)"]

TOKENS = ("", *dict.fromkeys(word for goal in GOALS for word in goal.words))
"""Words of the goals by token number; 0 is nothing."""
NUM_TOKENS = len(TOKENS)

ACHIEVEMENTS = (
    "collect_coal",
    "collect_diamond",
    "collect_drink",
    "collect_iron",
    "collect_sapling",
    "collect_stone",
    "collect_wood",
    "defeat_skeleton",
    "defeat_zombie",
    "eat_cow",
    "eat_plant",
    "make_iron_pickaxe",
    "make_iron_sword",
    "make_stone_pickaxe",
    "make_stone_sword",
    "make_wood_pickaxe",
    "make_wood_sword",
    "place_furnace",
    "place_plant",
    "place_stone",
    "place_table",
    "wake_up",
)
"""The game's achievements in its own order."""

ACHIEVEMENT_GOALS = tuple(_IDS[name.replace("_", " ")] for name in ACHIEVEMENTS)


def goal_id(name: str) -> int:
    """Id of a goal by its canonical name; KeyError for any other spelling: those are the grammar's."""
    return _IDS[name]


def achievement_goal(index: int) -> int:
    """Goal id of the achievement with that index in ACHIEVEMENTS."""
    return ACHIEVEMENT_GOALS[index]


def travel_goal(x: int, y: int) -> int | None:
    """Id of the travel goal reached at (x, y), each 0..63: the one whose grid point is less than 2 m away."""
    column = min((x + 2) // GRID_STEP, len(_COORDINATES) - 1)
    row = min((y + 2) // GRID_STEP, len(_COORDINATES) - 1)
    if (x - GRID_STEP * column) ** 2 + (y - GRID_STEP * row) ** 2 >= 4:
        return None
    return _FIRST_TRAVEL + len(_COORDINATES) * column + row


def goal_tokens() -> np.ndarray:
    """(NUM_GOALS + 1, 3) uint8 token numbers by goal id, padded with 0; the last row, NO_GOAL's, is all 0."""
    numbers = {word: number for number, word in enumerate(TOKENS)}
    table = np.zeros((NUM_GOALS + 1, 3), np.uint8)
    for goal in GOALS:
        table[goal.id, : len(goal.words)] = [numbers[word] for word in goal.words]
    return table
