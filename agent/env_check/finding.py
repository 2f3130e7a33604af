"""What a check says: one line."""

from __future__ import annotations

from typing import NamedTuple


class Finding(NamedTuple):
    """One line of the report."""

    check: str
    ok: bool
    text: str


def found(check: str, problem: str, otherwise: str) -> Finding:
    """A problem if there is one, else what is said instead."""
    return Finding(check, not problem, problem or otherwise)
