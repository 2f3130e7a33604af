"""Words and numbers for people: ages, counts, rates; text of files made harmless for Markdown. Knows no widgets."""

from __future__ import annotations

import re
import time
from datetime import datetime

NO_DATA = "no data"
MAX_QUOTED = 300  # characters of a foreign text that are shown

_MARKDOWN = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:^&=])")


def plain(text: object) -> str:
    """`text` so that Markdown shows it as it stands, on one line: names, causes and messages come from files."""
    line = " ".join(str(text).split())
    if len(line) > MAX_QUOTED:
        line = line[: MAX_QUOTED - 1] + "…"
    return _MARKDOWN.sub(r"\\\1", line)


def percent(rate: float | None) -> str:
    """'73 %', '< 1 %' for little but not nothing, or "no data" where there was no trial: unknown is never zero."""
    if rate is None:
        return NO_DATA
    return "< 1 %" if 0 < rate < 0.005 else f"{100 * rate:.0f} %"


def count(number: int, noun: str) -> str:
    """'1 run', '1,200 runs'."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def duration(seconds: float) -> str:
    """'41 s', '12 min', '3.5 h' or '2.1 d'."""
    for limit, divisor, unit in ((100, 1, "s"), (100 * 60, 60, "min"), (48 * 3600, 3600, "h")):
        if seconds < limit:
            digits = 1 if unit == "h" else 0
            return f"{seconds / divisor:.{digits}f} {unit}"
    return f"{seconds / 86400:.1f} d"


def age(created: str, now: float | None = None) -> str:
    """How long ago an ISO 8601 time was, "" where it is none."""
    try:
        then = datetime.fromisoformat(created).timestamp()
    except (ValueError, OverflowError):
        return ""
    return duration(max((time.time() if now is None else now) - then, 0.0))
