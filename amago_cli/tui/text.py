"""Short texts of the screen. Pure: knows no terminal and no run."""

from __future__ import annotations

import math

_EIGHTHS = " ▏▎▍▌▋▊▉"
_UNITS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))

STATE_MARKS = {
    "running": "▶",
    "paused": "‖",
    "finished": "✓",
    "stopped": "■",
    "crashed": "✗",
    "diverged": "!",
    "unknown": "?",
}
"""A sign beside the word, so that a state is never told by its colour."""


def clean(text: str) -> str:
    """`text` on one line without control characters: files of strangers must not steer the terminal."""
    return "".join(character if character.isprintable() else " " for character in text)


def bar(share: float, width: int, *, plain: bool = False) -> str:
    """`width` cells of which a share of 0..1 is filled; `plain` keeps to ASCII."""
    filled = min(max(share, 0.0), 1.0) * width
    if plain:
        return ("#" * round(filled)).ljust(width, ".")
    whole = int(filled)
    rest = _EIGHTHS[int((filled - whole) * 8)] if whole < width else ""
    return ("█" * whole + rest).ljust(width)


def compact(value: float) -> str:
    """At most seven characters: '0.0123', '41.2k', '-3', '1e-07', 'nan'."""
    if not math.isfinite(value):
        return str(value)
    for unit, letter in _UNITS:
        if abs(value) >= unit:
            return f"{value / unit:.3g}{letter}"
    return f"{value:.3g}"


def percent(share: float) -> str:
    """'34 %', right-aligned in five characters."""
    return f"{share:4.0%}".replace("%", " %").rjust(5)


def fitted(text: str, width: int) -> str:
    """`text` in exactly `width` characters, with an ellipsis where it had to be cut."""
    cut = text if len(text) <= width else text[: max(width - 1, 0)] + "…"[: min(width, 1)]
    return cut.ljust(width)
