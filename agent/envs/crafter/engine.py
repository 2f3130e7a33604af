"""What a Crafter engine is: the game alone, without goals, rewards, time limit, spaces or pictures.

Two engines keep this contract and must play the same game in lock step: `PackageEngine` on the published
package and a compiled one. What the package leaves open is settled here:

- The world's random stream is `numpy.random.RandomState(seed)`; world generation and play draw from it,
  nothing else does.
- The creatures of a chunk are kept in order of insertion (entering a chunk, by birth or by a move, appends;
  leaving keeps the order of the rest). The package keeps them in sets ordered by memory address, which makes
  it irreproducible.
- Nothing is drawn, so no random number is ever spent on night noise.
- Cells of the view beyond the border of the 64x64 world are OFF_MAP, on every side.

The cause of death is what brought health to zero within the step: an update of a zombie or an arrow, else
lava if the player stands on lava, else the first empty need in the order food, drink, energy.
"""

from typing import Protocol

import numpy as np

WORLD_SIZE = 64
VIEW_SHAPE = (9, 7)  # columns (x, to the right), rows (y, downwards)

ITEMS = (
    "health",
    "food",
    "drink",
    "energy",
    "sapling",
    "wood",
    "stone",
    "coal",
    "iron",
    "diamond",
    "wood_pickaxe",
    "stone_pickaxe",
    "iron_pickaxe",
    "wood_sword",
    "stone_sword",
    "iron_sword",
)
"""Names of the inventory entries, each between 0 and 9."""

ACTIONS = (
    "noop",
    "move_left",
    "move_right",
    "move_up",
    "move_down",
    "do",
    "sleep",
    "place_stone",
    "place_table",
    "place_furnace",
    "place_plant",
    "make_wood_pickaxe",
    "make_stone_pickaxe",
    "make_iron_pickaxe",
    "make_wood_sword",
    "make_stone_sword",
    "make_iron_sword",
)
"""Names of the actions, by number."""

NUM_ACTIONS = len(ACTIONS)

FACINGS = ((-1, 0), (1, 0), (0, -1), (0, 1))
"""Steps (dx, dy) by facing number: left, right, up, down."""

DEATH_CAUSES = ("", "zombie", "skeleton arrow", "lava", "starvation", "thirst", "exhaustion")
"""Every value of `Engine.death_cause`; "" while the player lives."""


class Engine(Protocol):
    """One running game. Attributes describe the state after the last `reset` or `step`.

    Arrays belong to the engine and are overwritten by the next step: whoever keeps one copies it.
    """

    @property
    def view(self) -> np.ndarray:
        """(9, 7) uint8 texture ids; view[i, j] is the cell (x - 4 + i, y - 3 + j)."""
        ...

    @property
    def facing(self) -> int:
        """Index into FACINGS."""
        ...

    @property
    def inventory(self) -> np.ndarray:
        """(16,) uint8 counts in the order of ITEMS."""
        ...

    @property
    def position(self) -> np.ndarray:
        """(2,) uint8, the player's x (to the right) and y (downwards), each 0..63."""
        ...

    @property
    def daylight(self) -> float:
        """0 (dark) .. 1 (bright), as the game computes it."""
        ...

    @property
    def achievements(self) -> np.ndarray:
        """(22,) int32, how often each achievement was reached since reset, in the package's order."""
        ...

    @property
    def dead(self) -> bool:
        """Whether health is zero; stepping on is then an error of the caller."""
        ...

    @property
    def death_cause(self) -> str:
        """One of DEATH_CAUSES."""
        ...

    @property
    def sleeping(self) -> bool:
        """Whether the player is asleep."""
        ...

    def reset(self, seed: int) -> None:
        """Build the world of `seed` (0 <= seed < 2**31 - 1); one seed always gives the same game."""
        ...

    def step(self, action: int) -> None:
        """Play one action (an index into ACTIONS)."""
        ...
