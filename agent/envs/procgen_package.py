"""The package procgen, imported without the ones it does not need.

Its library ends the process over a game or a mode that it does not know: whoever calls checks them first.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

from store.errors import AmagoError

INSTALL = 'pip install --no-deps procgen-mirror==0.10.7 gym3==0.3.3 "cffi<2" pycparser'
"""Without its dependencies: they hold numpy below 2, which it does not need."""


@cache
def load() -> Any:
    """The class of its games, `ProcgenGym3Env`; AmagoError where the package is missing or does not load."""
    try:
        with _stand_in_for_gym():
            return import_module("procgen").ProcgenGym3Env
    except (ImportError, OSError) as error:
        raise AmagoError(f"Procgen cannot be loaded ({error}); on Linux and x86-64: {INSTALL}") from None


def new_game(game: str, mode: str, level: int) -> Any:
    """A game at the start of a level, which it starts anew whenever an attempt at it has ended; a millisecond.

    The first one in a process reads all textures: seconds, and 350 MB.
    """
    _library()
    return _make(game, mode, level)


@cache
def _library() -> Any:
    """A game that nobody plays: with the last one the library would be unloaded, and its textures with it."""
    return _make("coinrun", "easy", 0)


def _make(game: str, mode: str, level: int) -> Any:
    # With one level nothing is left to the package's own seed, but without one it would ask the system for another.
    return load()(
        num=1, num_threads=0, env_name=game, distribution_mode=mode, num_levels=1, start_level=level, rand_seed=0
    )


@contextmanager
def _stand_in_for_gym() -> Iterator[None]:
    """While it is imported, procgen registers its games with the unmaintained package gym, whose place this takes."""
    names = ("gym", "gym.envs", "gym.envs.registration")
    modules = {name: ModuleType(name) for name in names}
    modules["gym.envs.registration"].__dict__["register"] = lambda **_: None
    there, path = {name: sys.modules[name] for name in names if name in sys.modules}, list(sys.path)
    sys.modules.update(modules)
    try:
        yield
    finally:
        for name in names:
            del sys.modules[name]
        sys.modules.update(there)
        sys.path[:] = path  # procgen adds a folder of the machine it was built on
