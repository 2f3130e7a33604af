"""Crafter's achievements in the order in which one opens the next. Knows names only."""

from __future__ import annotations

from typing import NamedTuple

UNLOCKED = "rollout/unlocked_"
"""Key of the metric with the share of rollouts that reached an achievement, before its name."""


class Branch(NamedTuple):
    """An achievement and how deep it stands in the tree."""

    achievement: str
    depth: int


TREE = (
    Branch("collect_drink", 0),
    Branch("eat_cow", 0),
    Branch("wake_up", 0),
    Branch("defeat_zombie", 0),
    Branch("defeat_skeleton", 0),
    Branch("collect_sapling", 0),
    Branch("place_plant", 1),
    Branch("eat_plant", 2),
    Branch("collect_wood", 0),
    Branch("place_table", 1),
    Branch("make_wood_sword", 2),
    Branch("make_wood_pickaxe", 2),
    Branch("collect_coal", 3),
    Branch("collect_stone", 3),
    Branch("place_stone", 4),
    Branch("make_stone_sword", 4),
    Branch("place_furnace", 4),
    Branch("make_stone_pickaxe", 4),
    Branch("collect_iron", 5),
    Branch("make_iron_sword", 6),
    Branch("make_iron_pickaxe", 6),
    Branch("collect_diamond", 7),
)
