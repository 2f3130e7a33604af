"""The words and tables that all texts about figures are made of. Knows no report."""

from __future__ import annotations

from agent.progress import Tally
from agent.reports.statistics import Interval, wilson

NO_DATA = "no data"

Table = tuple[list[str], list[list[str]]]  # header, rows


def percent(tally: Tally | None) -> str:
    """'25% (5/20)', or 'no data' without a trial."""
    return NO_DATA if tally is None or tally.rate is None else f"{tally.rate:.0%} ({tally.successes}/{tally.trials})"


def number(value: float | None) -> str:
    """'0.931', '12.5', '1,234', or 'no data'."""
    if value is None:
        return NO_DATA
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def interval(tally: Tally | None) -> str:
    """The 95 % interval of a rate in percent: '11-47'."""
    found = wilson(tally.successes, tally.trials) if tally else None
    return NO_DATA if found is None else f"{100 * found[0]:.0f}-{100 * found[1]:.0f}"


def bounds(interval: Interval | None) -> str:
    """'0.2 to 0.4', or 'no data'."""
    return NO_DATA if interval is None else f"{number(interval[0])} to {number(interval[1])}"


def markdown_table(table: Table) -> str:
    """The table in Markdown."""
    header, rows = table
    cells = [[cell.replace("|", "\\|") for cell in row] for row in [header, *rows]]
    lines = [cells[0], ["---"] * len(header), *cells[1:]]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
