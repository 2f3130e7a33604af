"""`amago goals`: the vocabulary of goals, and how to write them."""

from __future__ import annotations

from amago_cli.options import AsJson
from amago_cli.output import print_json

WAYS_TO_WRITE = """\
Ways to write a goal: 'stone pickaxe', 'make a stone pickaxe', 'make_stone_pickaxe', 'drink water',
'eat cow x2', 'travel to 10,20', 'go to (10, 20)'. An instruction is a list of goals in the order in which
they are to be reached, separated by commas.

next: amago train crafter --goals "stone pickaxe, collect iron x2"\
"""


def goals(as_json: AsJson = False) -> None:
    """List the goals that instructions for crafter are made of."""
    from agent.goals.vocabulary import GOALS

    if as_json:
        print_json([{"id": g.id, "name": g.name, "verb": g.verb, "noun": g.noun, "x": g.x, "y": g.y} for g in GOALS])
        return
    nouns: dict[str, list[str]] = {}
    for goal in GOALS:
        if goal.x is None:
            nouns.setdefault(goal.verb, []).append(goal.noun)
    for verb, words in nouns.items():
        print(f"{verb:<8} {', '.join(words)}")
    print(f"{'travel':<8} {_travel_grid()}\n")
    print(WAYS_TO_WRITE)


def _travel_grid() -> str:
    from agent.goals.vocabulary import GRID_MAX, GRID_STEP

    return f"(x, y), each of 0, {GRID_STEP}, {2 * GRID_STEP}, ... {GRID_MAX} metres"
