"""An evaluation report in words: rows of tables, and Markdown made of them.

Knows the report's fields, not how they were computed, nor where the text goes.
"""

from __future__ import annotations

from agent.progress import Tally
from agent.report import EvalReport, GoalResult, InstructionResult, Results, wilson_interval

NO_DATA = "no data"

Table = tuple[list[str], list[list[str]]]  # header, rows


def to_markdown(report: EvalReport) -> str:
    """The whole report: header, one table per instruction and one per goal."""
    sections = [
        f"# Evaluation of {report.header.checkpoint}",
        _header(report),
        "## Instructions",
        _markdown(instruction_rows(report)),
        "## Goals",
        "Reached, of the times the goal's turn came, over all instructions above.",
        _markdown(goal_rows(report)),
    ]
    return "\n\n".join(sections) + "\n"


def instruction_rows(report: EvalReport) -> Table:
    """One row per instruction, and a last one over all of them when there are several."""
    header = ["instruction", "success", "95 %", "subgoals", "steps to success", "failures"]
    rows = [_instruction_row(result) for result in report.agent.instructions]
    beside = [percent(result.success) for result in report.random.instructions] if report.random else []
    if len(rows) > 1:
        total = report.agent.success
        rows.append(["all", percent(total), interval(total), "", "", ""])
        beside += [percent(report.random.success)] if report.random else []
    return _with_random(header, rows, beside)


def goal_rows(report: EvalReport) -> Table:
    """One row per goal that any instruction asked for."""
    rows = [[goal.text, percent(goal.reached), interval(goal.reached)] for goal in report.agent.goals]
    beside = _reached_by_random(report.random, report.agent.goals) if report.random else []
    return _with_random(["goal", "reached", "95 %"], rows, beside)


def percent(tally: Tally) -> str:
    """'25% (5/20)', or 'no data' without a trial."""
    return NO_DATA if tally.rate is None else f"{tally.rate:.0%} ({tally.successes}/{tally.trials})"


def interval(tally: Tally) -> str:
    """The 95 % interval of a rate in percent: '11-47'."""
    bounds = wilson_interval(tally)
    return NO_DATA if bounds is None else f"{100 * bounds[0]:.0f}-{100 * bounds[1]:.0f}"


def _header(report: EvalReport) -> str:
    header = report.header
    policy = f"{header.policy} actions; the random column is a uniformly random policy in the same worlds"
    rows = {
        "checkpoint": f"{header.checkpoint} ({header.rule}), step {header.step}",
        "sha256": ", ".join(f"{name} {digest}" for name, digest in header.sha256.items()),
        "worlds": header.worlds,
        "episodes": f"{header.episodes} per instruction, suite {header.suite}, seed {header.seed}",
        "policy": policy if report.random else f"{header.policy} actions",
        "device": header.device,
        "versions": ", ".join(f"{name} {version}" for name, version in header.versions.items()),
        "wall time": f"{header.seconds:.0f} s",
        "command": f"`{header.command}`",
    }
    lines = [f"- {name}: {value}" for name, value in rows.items()]
    if header.interrupted:
        lines.append("- INTERRUPTED: episodes are missing, and short episodes are over-represented")
    return "\n".join(lines)


def _instruction_row(result: InstructionResult) -> list[str]:
    subgoals, steps = result.mean_subgoals, result.median_steps
    return [
        result.text,
        percent(result.success),
        interval(result.success),
        NO_DATA if subgoals is None else f"{subgoals:.2f} of {result.num_subgoals}",
        NO_DATA if steps is None else f"{steps:.0f} (median)",
        ", ".join(f"{cause} {count}" for cause, count in result.failures.items()),
    ]


def _reached_by_random(random: Results, goals: tuple[GoalResult, ...]) -> list[str]:
    reached = {goal.text: goal.reached for goal in random.goals}
    return [percent(reached[goal.text]) for goal in goals]


def _with_random(header: list[str], rows: list[list[str]], beside: list[str]) -> Table:
    if not beside:
        return header, rows
    rows = [[*row[:3], figure, *row[3:]] for row, figure in zip(rows, beside, strict=True)]
    return [*header[:3], "random", *header[3:]], rows


def _markdown(table: Table) -> str:
    header, rows = table
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
