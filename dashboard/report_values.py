"""Values of evaluation reports, as they come from JSON.

Files may be a stranger's: what is missing stays empty, what has the wrong type becomes text or nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Document = Mapping[str, Any]


def section(document: Document, key: str) -> Mapping[str, Any]:
    """The mapping under `key`; empty where there is something else."""
    value = document.get(key)
    return value if isinstance(value, Mapping) else {}


def entries(results: Document, key: str) -> list[Mapping[str, Any]]:
    """The mappings in the list under `key`."""
    value = results.get(key)
    return [entry for entry in value if isinstance(entry, Mapping)] if isinstance(value, list) else []


def as_rate(tally: Any) -> dict[str, Any]:
    """Columns of a tally: success, 95 %, n."""
    tally = tally if isinstance(tally, Mapping) else {}
    return {
        "success": as_share(tally.get("rate")),
        "95 %": as_bounds(tally.get("interval"), percent=True),
        "n": as_number(tally.get("trials")),
    }


def as_bounds(interval: Any, *, percent: bool = False) -> str:
    """'0.2 to 0.4', or 'no data'."""
    low, high = as_pair(interval)
    if low is None or high is None:
        return "no data"
    return f"{low:.0%} to {high:.0%}" if percent else f"{low:.3g} to {high:.3g}"


def as_pair(interval: Any) -> tuple[float | None, float | None]:
    """Both ends of an interval."""
    if isinstance(interval, list) and len(interval) == 2:
        return as_number(interval[0]), as_number(interval[1])
    return None, None


def as_share(value: Any) -> float | None:
    """A rate as it is shown: tenths of a percent."""
    share = as_number(value)
    return None if share is None else round(share, 3)


def as_number(value: Any) -> float | None:
    """A number, None for anything else."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def as_listed(values: Document) -> str:
    """'key value, key value'."""
    return ", ".join(f"{key} {value}" for key, value in values.items() if value is not None)
