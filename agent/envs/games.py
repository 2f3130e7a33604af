"""What environments of several games have in common: which ones were asked for, and which one an attempt plays.

Knows names only, no game.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from agent.envs.base import Game
from store.errors import AmagoError

_FEW = 12  # names that fit into one line


def chosen_games(environment: str, names: Sequence[str], known: Iterable[str]) -> tuple[str, ...]:
    """`names`, each once and spelt as in `known`, or without any all that are known.

    Capitals and small letters are taken for the same. AmagoError with the nearest names for one that is not known.
    """
    spelt = {name.lower(): name for name in known}
    for name in names:
        if name.lower() not in spelt:
            raise AmagoError(f"{environment} has no game '{name}'{_meant(name, spelt)}")
    return tuple(dict.fromkeys(spelt[name.lower()] for name in names)) or tuple(spelt.values())


def played_game(options: Mapping[str, Any] | None, games: Sequence[Game], rng: np.random.Generator) -> str:
    """The name of the game that the options of a reset ask for, else one drawn from those that are not held out."""
    asked = (options or {}).get("game", "")
    if asked:
        return asked
    trained = [game.name for game in games if not game.held_out]
    return trained[rng.integers(len(trained))]


def _meant(name: str, spelt: Mapping[str, str]) -> str:
    near = [spelt[each] for each in difflib.get_close_matches(name.lower(), spelt, n=3)]
    if near:
        return f"; is it {' or '.join(near)}?"
    names = list(spelt.values())
    return f"; there are {', '.join(names[:_FEW])}{f' and {len(names) - _FEW} more' if len(names) > _FEW else ''}"
