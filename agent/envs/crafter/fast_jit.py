"""How the compiled Crafter is compiled: parts for compiled callers, entry points for Python, and constants.

numba's cache on disk watches one file, but the rules are spread over several. So only entry points are
cached, and they enclose a digest of all sources: numba tells closures apart by what they enclose.
"""

import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numba
import numpy as np

_PART: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def part(function: Callable) -> Any:
    """Decorator of a function for compiled callers: without wrappers it compiles in half the time."""
    return numba.njit(**_PART)(function)


def entry(function: Callable) -> Callable:
    """Decorator of a function for Python, cached on disk where numba finds a folder it may write to."""
    try:
        return numba.njit(cache=True)(function)
    except RuntimeError:
        return numba.njit(function)


def constants(numbers: Iterable[int]) -> tuple[Any, ...]:
    """Integers to call compiled functions with.

    numba compiles a function anew for every Python integer that stands in a call, but not for numpy's.
    """
    return tuple(np.int64(number) for number in numbers)


def digest_of_sources() -> str:
    """Digest of everything that is compiled into an entry point."""
    folder = Path(__file__).parent
    digest = hashlib.sha256()
    for source in [folder / "engine.py", folder / "textures.py", *sorted(folder.glob("fast*.py"))]:
        digest.update(source.read_bytes())
    return digest.hexdigest()
