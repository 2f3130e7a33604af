"""A comparison in words: rows of tables, and Markdown made of them."""

from __future__ import annotations

from agent.reports.comparison import Comparison, Pair
from agent.reports.statistics import Estimate
from agent.reports.words import NO_DATA, Table, markdown_table
from agent.reports.words import number as plain_number


def to_markdown(comparison: Comparison) -> str:
    """The whole comparison."""
    sections = [
        f"# Comparison of {', '.join(group.name for group in comparison.groups)}",
        "\n".join(f"- {name}: {words}" for name, words in conditions(comparison).items()),
        *(f"**Note.** {note}" for note in comparison.notes),
        "## Over all tasks",
        markdown_table(group_rows(comparison)),
    ]
    for pair in comparison.pairs:
        sections += [f"## {title(pair)}", caption(pair), markdown_table(pair_rows(comparison, pair))]
    return "\n\n".join(sections) + "\n"


def conditions(comparison: Comparison) -> dict[str, str]:
    """What all evaluations had in common, and what the figures are."""
    return {**comparison.conditions, "score": f"{comparison.measure}, mean over the episodes of a task"}


def group_rows(comparison: Comparison) -> Table:
    """One row per group: aggregates over all tasks with their intervals; then over trained and held-out games."""
    names = list(comparison.groups[0].aggregates)
    header = ["runs", "seeds", "steps", *(column for name in names for column in (name, "95 %"))]
    rows = []
    for group in comparison.groups:
        low, high = min(group.steps), max(group.steps)
        steps = f"{low:,}" if low == high else f"{low:,} to {high:,}"
        for kind, aggregates in {"": group.aggregates, **group.sets}.items():
            cells = [text for name in names for text in _cells(aggregates[name], comparison.measure)]
            named = f"{group.name}, {kind}" if kind else group.name
            rows.append([named, str(len(group.runs)), steps, *cells])
    return header, rows


def pair_rows(comparison: Comparison, pair: Pair) -> Table:
    """One row per task: both scores and their difference; then those over trained and held-out games, and over all."""
    by_name = {group.name: group for group in comparison.groups}
    first, second = by_name[pair.first], by_name[pair.second]
    measure = comparison.measure
    rows = [
        [task, score(a.value, measure), score(b.value, measure), *_cells(difference, measure, signed=True)]
        for task, a, b, difference in zip(comparison.tasks, first.tasks, second.tasks, pair.tasks, strict=True)
    ]
    for part in pair.sets:
        means = [score(group.sets[part.name]["mean"].value, measure) for group in (first, second)]
        rows.append([part.name, *means, *_cells(part.overall, measure, signed=True)])
    means = [score(group.aggregates["mean"].value, measure) for group in (first, second)]
    rows.append(["all", *means, *_cells(pair.overall, measure, signed=True)])
    return ["task", pair.first, pair.second, "difference", "95 %"], rows


def title(pair: Pair) -> str:
    """'a minus b'."""
    return f"{pair.first} minus {pair.second}"


def caption(pair: Pair) -> str:
    """What the intervals mean, and who is ahead."""
    parts = "".join(f" On {part.name}: {_probability(part.improvement)}." for part in pair.sets)
    over = "training runs" if pair.over == "runs" else "worlds, the same for both; not over training runs"
    return (
        f"Intervals are over {over}. Probability that a run of {pair.first} beats one of {pair.second} on a task, ties "
        f"counting half: {_probability(pair.improvement)}.{parts}"
    )


def _probability(improvement: Estimate) -> str:
    interval = f"95 %: {_bounds(improvement, 'success')}" if improvement.interval else "no interval with a single run"
    return f"{score(improvement.value, 'success')}, {interval}"


def score(value: float, measure: str, *, signed: bool = False) -> str:
    """'62%', '+12%'; returns as numbers."""
    if measure == "success":
        return f"{value:+.0%}" if signed else f"{value:.0%}"
    return f"{'+' if signed and value > 0 else ''}{plain_number(value)}"


def _cells(estimate: Estimate, measure: str, *, signed: bool = False) -> tuple[str, str]:
    return score(estimate.value, measure, signed=signed), _bounds(estimate, measure, signed=signed)


def _bounds(estimate: Estimate, measure: str, *, signed: bool = False) -> str:
    if estimate.interval is None:
        return NO_DATA
    low, high = estimate.interval
    return f"{score(low, measure, signed=signed)} to {score(high, measure, signed=signed)}"
