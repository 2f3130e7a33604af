"""Evaluation reports as tables for the page; what is missing or of the wrong type stays empty, see `report_values`.

Knows no widgets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import pandas as pd

from dashboard.report_values import (
    Document,
    as_bounds,
    as_listed,
    as_number,
    as_pair,
    as_rate,
    as_share,
    entries,
    section,
)


def overview(documents: Sequence[Document]) -> pd.DataFrame:
    """A row per report: what was evaluated and what came out."""
    return pd.DataFrame([_overview_row(document) for document in documents])


def policies(document: Document) -> dict[str, Mapping[str, Any]]:
    """The results in a report by name: "agent", then "random" and "training" where there are any."""
    found = {name: section(document, name) for name in ("agent", "random", "training")}
    return {name: results for name, results in found.items() if results}


def totals(document: Document) -> pd.DataFrame:
    """A row per policy: success and return with intervals, and how episodes ended; games pay in different units, the
    mean of their returns is left out."""
    rows = []
    has_games = bool(entries(section(document, "agent"), "games"))
    for name, results in policies(document).items():
        returns, causes = section(results, "returns"), section(results, "causes")
        figures = {
            "return": as_number(returns.get("mean")),
            "return 95 %": as_bounds(returns.get("interval")),
            "median": as_number(returns.get("median")),
        }
        rows.append(
            {
                "policy": name,
                **as_rate(results.get("success")),
                **({} if has_games else figures),
                "episodes": as_number(returns.get("count")),
                "how episodes ended": ", ".join(f"{cause} {number}" for cause, number in causes.items()),
            }
        )
    return pd.DataFrame(rows)


def rates(document: Document, part: str, key: str) -> pd.DataFrame:
    """A row per policy and entry of `part` ("instructions", "goals", "attempts") that had a trial: text, run (the
    policy), rate, low, high, successes, trials. `key` is the entry's tally.
    """
    rows = []
    for name, results in policies(document).items():
        for entry in entries(results, part):
            tally = section(entry, key)
            bounds = tally.get("interval")
            if tally.get("trials") and isinstance(bounds, list) and len(bounds) == 2:
                rows.append(
                    {
                        "text": str(entry.get("text", entry.get("number", ""))),
                        "run": name,
                        "rate": as_number(tally.get("rate")),
                        "low": as_number(bounds[0]),
                        "high": as_number(bounds[1]),
                        "successes": int(tally.get("successes", 0)),
                        "trials": int(tally["trials"]),
                    }
                )
    return pd.DataFrame(rows)


def instructions(document: Document) -> pd.DataFrame:
    """A row per instruction, the random policy's success beside."""
    beside = {str(entry.get("text")): entry for entry in entries(section(document, "random"), "instructions")}
    rows = []
    for entry in entries(section(document, "agent"), "instructions"):
        failures = section(entry, "failures")
        rows.append(
            {
                "instruction": str(entry.get("text", "")),
                **as_rate(entry.get("success")),
                "random": as_share(section(beside.get(str(entry.get("text")), {}), "success").get("rate")),
                "subgoals": as_number(entry.get("mean_subgoals")),
                "of": as_number(entry.get("num_subgoals")),
                "steps to success": as_number(entry.get("median_steps")),
                "failures": ", ".join(f"{cause} {number}" for cause, number in failures.items()),
            }
        )
    return pd.DataFrame(rows)


def attempts(document: Document) -> pd.DataFrame:
    """A row per policy and attempt: return with interval, success, steps."""
    rows = []
    for name, results in policies(document).items():
        for entry in entries(results, "attempts"):
            returns = section(entry, "returns")
            low, high = as_pair(returns.get("interval"))
            rows.append(
                {
                    "policy": name,
                    "attempt": int(entry.get("number", 0)),
                    "return": as_number(returns.get("mean")),
                    "return low": low,
                    "return high": high,
                    **as_rate(entry.get("success")),
                    "steps": as_number(entry.get("mean_steps")),
                    "episodes": as_number(returns.get("count")),
                }
            )
    return pd.DataFrame(rows)


def episodes(document: Document, run: str) -> pd.DataFrame:
    """A row per episode of the agent; `replay` leads to it on the page Replay where it is stored."""
    rows = []
    for entry in entries(section(document, "agent"), "episodes"):
        number = entry.get("number")
        stored = as_number(number) is not None
        query = urlencode({"run": run, "split": "eval", "ep": number, "t": 0}) if stored else ""
        rows.append(
            {
                "replay": f"./replay?{query}" if stored else None,
                **({"game": str(entry["game"])} if entry.get("game") else {}),
                "instruction": str(entry.get("instruction", "")),
                "world": as_number(entry.get("seed")),
                "outcome": str(entry.get("cause", "")),
                "success": entry.get("completed") if isinstance(entry.get("completed"), bool) else None,
                "subgoals": as_number(entry.get("subgoals")),
                "steps": as_number(entry.get("steps")),
                "return": as_number(entry.get("episode_return")),
            }
        )
    return pd.DataFrame(rows)


def facts(document: Document) -> dict[str, str]:
    """The header in words."""
    header = section(document, "header")
    words = {
        "checkpoint": f"{header.get('checkpoint', '')} ({header.get('rule', '')})",
        "step": f"{as_number(header.get('step')) or 0:,.0f}",
        "sha256": as_listed(section(header, "sha256")),
        "environment": f"{header.get('environment', '')} ({as_listed(section(header, 'settings'))})",
        "split": str(header.get("worlds", "")),
        "suite": f"{header.get('suite', '')}, {header.get('episodes', '')} episodes, seed {header.get('seed', '')}",
        "actions": str(header.get("policy", "")),
        "device": str(header.get("device", "")),
        "versions": as_listed(section(header, "versions")),
        "wall time": f"{as_number(header.get('seconds')) or 0:.0f} s",
        "command": str(header.get("command", "")),
    }
    return {name: text for name, text in words.items() if text}


def _overview_row(document: Document) -> dict[str, Any]:
    header, agent = section(document, "header"), section(document, "agent")
    return {
        "report": str(document.get("file", "")),
        "step": as_number(header.get("step")),
        "picked as": str(header.get("rule", "")),
        "suite": str(header.get("suite", "")),
        **as_rate(agent.get("success")),
        "random": as_share(section(section(document, "random"), "success").get("rate")),
        "return": None if entries(agent, "games") else as_number(section(agent, "returns").get("mean")),
        "note": "interrupted" if header.get("interrupted") else "",
    }
