"""Which orders make sense in which state of a run, and what to say about it. Pure: gives no order itself."""

from __future__ import annotations

ACTIVE = ("running", "paused")
"""States in which a trainer listens."""

_TOLD = {
    "pause": "asked to pause: it will at the end of this cycle",
    "resume": "asked to go on",
    "checkpoint": "asked for a checkpoint",
    "evaluate": "asked for an evaluation: training waits for it",
    "stop": "asked to stop: it writes a checkpoint first",
}


def told(order: str) -> str:
    """What to say when an order was given."""
    return _TOLD[order]


def objection(order: str, state: str, run: str) -> str:
    """Why an order makes no sense now; empty when it does."""
    if state not in ACTIVE:
        doing = "has no trainer that wrote its status yet" if state == "unknown" else f"is {state}"
        return f"nothing to {order}: run {run} {doing}"
    if order == "pause" and state == "paused":
        return f"run {run} is paused already"
    if order == "resume" and state == "running":
        return f"run {run} is running already"
    return ""
