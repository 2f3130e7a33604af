"""What evaluation reports say of several games, as tables for the page; see `report_values`. Knows no widgets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from dashboard.report_tables import policies
from dashboard.report_values import Document, as_bounds, as_number, as_pair, as_rate, as_share, entries, section


def games(document: Document) -> pd.DataFrame:
    """A row per game that the agent played, the trained ones first; returns are in the game's own unit.

    First and last attempts, their difference with interval, normalised return and success; the random policy's beside.
    """
    beside = {str(entry.get("name")): entry for entry in entries(section(document, "random"), "games")}
    return pd.DataFrame([_game_row(entry, beside) for entry in entries(section(document, "agent"), "games")])


def game_sets(document: Document) -> pd.DataFrame:
    """A row per policy, set of games (trained or held out) and attempt: normalised mean, IQM and success."""
    rows = []
    for name, results in policies(document).items():
        for entry in entries(results, "game_sets"):
            for attempt in ("first", "last"):
                found = section(entry, attempt)
                mean, iqm = section(found, "mean"), section(found, "iqm")
                rows.append(
                    {
                        "games": f"{entry.get('count', '')} {_kind(entry)}",
                        "policy": name,
                        "attempt": attempt,
                        "normalised mean": as_number(mean.get("value")),
                        "mean 95 %": as_bounds(mean.get("interval")),
                        "IQM": as_number(iqm.get("value")),
                        "IQM 95 %": as_bounds(iqm.get("interval")),
                        **as_rate(found.get("success")),
                    }
                )
    return pd.DataFrame(rows)


def _game_row(entry: Document, beside: Mapping[str, Document]) -> dict[str, Any]:
    first, last, change = section(entry, "first"), section(entry, "last"), section(entry, "difference")
    random = section(beside.get(str(entry.get("name")), {}), "last")
    low, high = as_pair(change.get("interval"))
    return {
        "game": str(entry.get("name", "")),
        "kind": _kind(entry),
        "first": as_number(section(first, "returns").get("mean")),
        "last": as_number(section(last, "returns").get("mean")),
        "last 95 %": as_bounds(section(last, "returns").get("interval")),
        "change": as_number(change.get("value")),
        "change low": low,
        "change high": high,
        "first normalised": as_number(section(first, "normalised").get("value")),
        "normalised": as_number(section(last, "normalised").get("value")),
        "first success": as_share(section(first, "success").get("rate")),
        **as_rate(last.get("success")),
        "random": as_number(section(random, "returns").get("mean")),
        "random normalised": as_number(section(random, "normalised").get("value")),
        "random success": as_share(section(random, "success").get("rate")),
    }


def _kind(entry: Document) -> str:
    return "held out" if entry.get("held_out") is True else "trained"
