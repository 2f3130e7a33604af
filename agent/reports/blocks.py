"""The pieces that all sections of the report page are made of. Knows of a report only who played."""

from __future__ import annotations

from collections.abc import Sequence

from agent.progress import Tally
from agent.reports.markup import Markup, join, tag
from agent.reports.report import EvalReport
from agent.reports.statistics import wilson
from agent.reports.svg import Mark, rate_bars
from agent.reports.words import Table, percent


def tile(name: str, figure: str, below: str) -> Markup:
    """One figure of those that come first."""
    return tag(
        "div", tag("span", name, class_="quiet"), tag("b", figure), tag("span", below, class_="quiet"), class_="tile"
    )


def section(title: str, *content: Markup | None) -> Markup:
    """A heading and what is below it."""
    return tag("section", tag("h2", title), *content)


def html_table(table: Table, bars: Sequence[Markup] | None = None) -> Markup:
    """`bars` go into a column after the first."""
    header, rows = table
    names = [*header[:1], *([""] if bars else []), *header[1:]]
    lines = [
        tag("tr", *(tag("td", cell) for cell in [*row[:1], *([bars[place]] if bars else []), *row[1:]]))
        for place, row in enumerate(rows)
    ]
    head = tag("thead", tag("tr", *(tag("th", name) for name in names)))
    return tag("div", tag("table", head, tag("tbody", *lines)), class_="scroll")


def legend(report: EvalReport) -> Markup:
    """What the colours of bars and lines mean."""
    policies = ("agent", "random") if report.random else ("agent",)
    words = [join(tag("span", "", class_=f"swatch {kind}"), kind) for kind in policies]
    return tag("p", *words, "; thin lines are 95 % intervals", class_="legend")


def pair(mine: Tally | None, theirs: Tally | None) -> Markup:
    """Bars of the agent and, where it played, of the random policy."""
    return rate_bars([mark("agent", "agent", mine)] + ([mark("random", "random", theirs)] if theirs else []))


def mark(kind: str, name: str, tally: Tally | None) -> Mark:
    """A bar of a rate with its interval."""
    bounds = wilson(tally.successes, tally.trials) if tally else None
    return Mark(kind, f"{name}: {percent(tally)}", tally.rate if tally else None, bounds)
