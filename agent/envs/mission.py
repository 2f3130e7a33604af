"""What the player of a stored trajectory was told to do in words, beside or instead of an instruction.

Observations may come from a stranger's file: numbers that are no words are left out.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from agent.envs.babyai_levels import WORDS


def mission(environment: str, observations: Mapping[str, np.ndarray], t: int) -> str:
    """The mission at state `t` of a trajectory, '' where there is none; `observations` by name, each (T+1, ...)."""
    numbers = observations.get("mission")
    if environment != "babyai" or numbers is None or numbers.ndim != 2 or numbers.dtype.kind not in "iu":
        return ""
    words = " ".join(WORDS[number - 1] for number in numbers[t].tolist() if 0 < number <= len(WORDS))
    return words.replace(" ,", ",")
