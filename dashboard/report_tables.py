"""Evaluation reports, as they come from JSON, as tables for the page. Files may be a stranger's: what is missing stays
empty, what has the wrong type becomes text or nothing. Knows no widgets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import pandas as pd

Document = Mapping[str, Any]


def overview(documents: Sequence[Document]) -> pd.DataFrame:
    """A row per report: what was evaluated and what came out."""
    return pd.DataFrame([_overview_row(document) for document in documents])


def policies(document: Document) -> dict[str, Mapping[str, Any]]:
    """The results in a report by name: "agent", then "random" and "training" where there are any."""
    found = {name: section(document, name) for name in ("agent", "random", "training")}
    return {name: results for name, results in found.items() if results}


def totals(document: Document) -> pd.DataFrame:
    """A row per policy: success and return with intervals, and how episodes ended."""
    rows = []
    for name, results in policies(document).items():
        returns, causes = section(results, "returns"), section(results, "causes")
        rows.append(
            {
                "policy": name,
                **_rate(results.get("success")),
                "return": _number(returns.get("mean")),
                "return 95 %": _bounds(returns.get("interval")),
                "median": _number(returns.get("median")),
                "episodes": _number(returns.get("count")),
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
                        "rate": _number(tally.get("rate")),
                        "low": _number(bounds[0]),
                        "high": _number(bounds[1]),
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
                **_rate(entry.get("success")),
                "random": _share(section(beside.get(str(entry.get("text")), {}), "success").get("rate")),
                "subgoals": _number(entry.get("mean_subgoals")),
                "of": _number(entry.get("num_subgoals")),
                "steps to success": _number(entry.get("median_steps")),
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
            low, high = _pair(returns.get("interval"))
            rows.append(
                {
                    "policy": name,
                    "attempt": int(entry.get("number", 0)),
                    "return": _number(returns.get("mean")),
                    "return low": low,
                    "return high": high,
                    **_rate(entry.get("success")),
                    "steps": _number(entry.get("mean_steps")),
                    "episodes": _number(returns.get("count")),
                }
            )
    return pd.DataFrame(rows)


def episodes(document: Document, run: str) -> pd.DataFrame:
    """A row per episode of the agent; `replay` leads to it on the page Replay where it is stored."""
    rows = []
    for entry in entries(section(document, "agent"), "episodes"):
        number = entry.get("number")
        stored = _number(number) is not None
        query = urlencode({"run": run, "split": "eval", "ep": number, "t": 0}) if stored else ""
        rows.append(
            {
                "replay": f"./replay?{query}" if stored else None,
                "instruction": str(entry.get("instruction", "")),
                "world": _number(entry.get("seed")),
                "outcome": str(entry.get("cause", "")),
                "success": entry.get("completed") if isinstance(entry.get("completed"), bool) else None,
                "subgoals": _number(entry.get("subgoals")),
                "steps": _number(entry.get("steps")),
                "return": _number(entry.get("episode_return")),
            }
        )
    return pd.DataFrame(rows)


def facts(document: Document) -> dict[str, str]:
    """The header in words."""
    header = section(document, "header")
    words = {
        "checkpoint": f"{header.get('checkpoint', '')} ({header.get('rule', '')})",
        "step": f"{_number(header.get('step')) or 0:,.0f}",
        "sha256": _listed(section(header, "sha256")),
        "environment": f"{header.get('environment', '')} ({_listed(section(header, 'settings'))})",
        "split": str(header.get("worlds", "")),
        "suite": f"{header.get('suite', '')}, {header.get('episodes', '')} episodes, seed {header.get('seed', '')}",
        "actions": str(header.get("policy", "")),
        "device": str(header.get("device", "")),
        "versions": _listed(section(header, "versions")),
        "wall time": f"{_number(header.get('seconds')) or 0:.0f} s",
        "command": str(header.get("command", "")),
    }
    return {name: text for name, text in words.items() if text}


def section(document: Document, key: str) -> Mapping[str, Any]:
    """The mapping under `key`; empty where there is something else."""
    value = document.get(key)
    return value if isinstance(value, Mapping) else {}


def entries(results: Document, key: str) -> list[Mapping[str, Any]]:
    """The mappings in the list under `key`."""
    value = results.get(key)
    return [entry for entry in value if isinstance(entry, Mapping)] if isinstance(value, list) else []


def _overview_row(document: Document) -> dict[str, Any]:
    header, agent = section(document, "header"), section(document, "agent")
    return {
        "report": str(document.get("file", "")),
        "step": _number(header.get("step")),
        "picked as": str(header.get("rule", "")),
        "suite": str(header.get("suite", "")),
        **_rate(agent.get("success")),
        "random": _share(section(section(document, "random"), "success").get("rate")),
        "return": _number(section(agent, "returns").get("mean")),
        "note": "interrupted" if header.get("interrupted") else "",
    }


def _rate(tally: Any) -> dict[str, Any]:
    tally = tally if isinstance(tally, Mapping) else {}
    return {
        "success": _share(tally.get("rate")),
        "95 %": _bounds(tally.get("interval"), percent=True),
        "n": _number(tally.get("trials")),
    }


def _bounds(interval: Any, *, percent: bool = False) -> str:
    low, high = _pair(interval)
    if low is None or high is None:
        return "no data"
    return f"{low:.0%} to {high:.0%}" if percent else f"{low:.3g} to {high:.3g}"


def _pair(interval: Any) -> tuple[float | None, float | None]:
    if isinstance(interval, list) and len(interval) == 2:
        return _number(interval[0]), _number(interval[1])
    return None, None


def _share(value: Any) -> float | None:
    """A rate as it is shown: tenths of a percent."""
    share = _number(value)
    return None if share is None else round(share, 3)


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _listed(values: Document) -> str:
    return ", ".join(f"{key} {value}" for key, value in values.items() if value is not None)
