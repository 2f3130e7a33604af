"""An evaluation report in words: rows of tables, and Markdown made of them.

Knows the report's fields, not how they were computed, nor where the text goes.
"""

from __future__ import annotations

from typing import Any

from agent.reports.figures import AttemptResult
from agent.reports.games_text import game_tables
from agent.reports.report import EvalReport, GoalResult, InstructionResult, Results
from agent.reports.statistics import RESAMPLES
from agent.reports.words import NO_DATA, Table, bounds, interval, markdown_table, number, percent

TRAINING = "training"  # the row of the run's own recent rollouts
MAX_ATTEMPTS = 10  # shown; the report as JSON has them all


def to_markdown(report: EvalReport) -> str:
    """The whole report: header, all episodes together, then what there is of attempts, instructions and goals."""
    sections = [
        f"# Evaluation of {report.header.checkpoint}",
        _header(report),
        "## All episodes",
        markdown_table(overall_rows(report)),
    ]
    if report.training:
        sections.append(training_caption(report.training))
    for title, caption, table in game_tables(report):
        sections += [f"## {title}", caption, markdown_table(table)]
    if has_attempts(report):
        sections += ["## Attempts", ATTEMPTS_CAPTION, markdown_table(attempt_rows(report))]
    if report.agent.instructions:
        sections += ["## Instructions", markdown_table(instruction_rows(report))]
    if has_attempts(report) and report.agent.instructions:
        sections += ["## Success by attempt", markdown_table(instruction_attempt_rows(report))]
    if report.agent.goals:
        sections += ["## Goals", GOALS_CAPTION, markdown_table(goal_rows(report))]
    return "\n\n".join(sections) + "\n"


GOALS_CAPTION = "Reached, of the times the goal's turn came, over all instructions above."
ATTEMPTS_CAPTION = (
    "Attempts at the same task, in order; one that the end of its episode cut short is left out. "
    "Late attempts that only some episodes had are those of the episodes with quick ones."
)


def training_caption(training: Results) -> str:
    """What the row of the training rollouts is."""
    return (
        f"{TRAINING.capitalize()}: the run's last {training.returns.count} rollouts before this checkpoint with "
        "what was asked for here, in training worlds and with the exploration noise of training."
    )


def has_attempts(report: EvalReport) -> bool:
    """Whether any episode had several attempts, and those of all episodes can be put together: not those of games."""
    return len(report.agent.attempts) > 1 and not report.agent.games


def overall_rows(report: EvalReport) -> Table:
    """One row per policy, over all its episodes, and one of the recent training rollouts."""
    header = ["policy", "success", "95 %", "return", "95 %", "median", "min to max", "how episodes ended"]
    rows = [_overall_row("agent", report.agent)]
    rows += [_overall_row("random", report.random)] if report.random else []
    rows += [_overall_row(TRAINING, report.training)] if report.training else []
    if report.agent.crafter_score is not None:
        every = [each for each in (report.agent, report.random, report.training) if each]
        header.insert(-1, "Crafter score")
        for row, results in zip(rows, every, strict=True):
            row.insert(-1, number(results.crafter_score))
    if report.agent.games:  # a mean over returns in different units is none
        header, rows = [*header[:3], header[-1]], [[*row[:3], row[-1]] for row in rows]
    if report.agent.success is None:
        return _without_success(header), [_without_success(row) for row in rows]
    return header, rows


def attempt_rows(report: EvalReport) -> Table:
    """One row per attempt at a task."""
    header = ["attempt", "return", "95 %", "success", "95 %", "steps", "episodes"]
    shown = report.agent.attempts[:MAX_ATTEMPTS]
    rows = [_attempt_row(result) for result in shown]
    beside = _attempts_of_random(report.random, len(shown)) if report.random else []
    if len(report.agent.attempts) > len(shown):
        left_out = f"{len(shown) + 1} to {len(report.agent.attempts)}"
        rows.append([left_out, "in the JSON report", *[""] * (len(header) - 2)])
        beside += [""] if report.random else []
    if report.agent.success is None:
        header, rows = [*header[:3], *header[5:]], [[*row[:3], *row[5:]] for row in rows]
    return _with_random(header, rows, beside)


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


def instruction_attempt_rows(report: EvalReport) -> Table:
    """One row per instruction, its success in each attempt."""
    shown = min(len(report.agent.attempts), MAX_ATTEMPTS)
    header = ["instruction", *(f"attempt {number}" for number in range(1, shown + 1))]
    rows = [[row.text, *(percent(tally) for tally in row.attempts[:shown])] for row in report.agent.instructions]
    return header, [row + [NO_DATA] * (len(header) - len(row)) for row in rows]


def goal_rows(report: EvalReport) -> Table:
    """One row per goal that any instruction asked for, or in free play one per achievement."""
    rows = [[goal.text, percent(goal.reached), interval(goal.reached)] for goal in report.agent.goals]
    beside = _reached_by_random(report.random, report.agent.goals) if report.random else []
    return _with_random(["goal", "reached", "95 %"], rows, beside)


def environment_text(name: str, settings: dict[str, Any]) -> str:
    """'tmaze (max_steps 400, active no)'."""
    words = [f"{key} {_setting(value)}" for key, value in settings.items() if value not in (None, "", [])]
    return f"{name} ({', '.join(words)})" if words else name


def _setting(value: Any) -> str:
    if isinstance(value, list):
        return "+".join(map(str, value))
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)


def header_facts(report: EvalReport) -> dict[str, str]:
    """What was evaluated, and how: name -> words."""
    header = report.header
    policy = f"{header.policy} actions; random is a uniformly random policy in the same worlds"
    kind = "game" if report.agent.games else "instruction" if report.agent.goals else ""
    each = f"{header.episodes} per {kind}" if kind else str(header.episodes)
    return {
        "checkpoint": f"{header.checkpoint} ({header.rule}), step {header.step}",
        "sha256": ", ".join(f"{name} {digest}" for name, digest in header.sha256.items()),
        "environment": environment_text(header.environment, header.settings),
        "worlds": header.worlds,
        "episodes": f"{each}, suite {header.suite}, seed {header.seed}",
        "policy": policy if report.random else f"{header.policy} actions",
        "intervals": f"95 %: of rates Wilson's, of mean returns the percentile bootstrap's ({RESAMPLES} resamples)",
        "device": header.device,
        "versions": ", ".join(f"{name} {version}" for name, version in header.versions.items()),
        "wall time": f"{header.seconds:.0f} s",
        "command": header.command,
    }


INTERRUPTED = "INTERRUPTED: episodes are missing, and short episodes are over-represented"


def _header(report: EvalReport) -> str:
    facts = header_facts(report)
    lines = [f"- {name}: {value}" for name, value in (facts | {"command": f"`{facts['command']}`"}).items()]
    return "\n".join([*lines, f"- {INTERRUPTED}"] if report.header.interrupted else lines)


def _overall_row(policy: str, results: Results) -> list[str]:
    returns = results.returns
    return [
        policy,
        percent(results.success),
        interval(results.success),
        number(returns.mean),
        bounds(returns.interval),
        number(returns.median),
        f"{number(returns.min)} to {number(returns.max)}",
        ", ".join(f"{cause} {count}" for cause, count in results.causes.items()),
    ]


def _without_success(row: list[str]) -> list[str]:
    return [row[0], *row[3:]]


def _attempt_row(result: AttemptResult) -> list[str]:
    return [
        str(result.number),
        number(result.returns.mean),
        bounds(result.returns.interval),
        percent(result.success),
        interval(result.success),
        f"{result.mean_steps:.1f}",
        str(result.returns.count),
    ]


def _attempts_of_random(random: Results, count: int) -> list[str]:
    means = [number(result.returns.mean) for result in random.attempts[:count]]
    return means + [NO_DATA] * (count - len(means))


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
