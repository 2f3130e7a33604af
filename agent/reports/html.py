"""An evaluation report as one HTML page that needs nothing else: no network, no other file, no script.

The figures are those of `agent.reports.text`; here they get bars, pictures and a place. Knows no files.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from pathlib import PurePath

from agent.progress import Tally
from agent.reports.blocks import html_table, legend, mark, pair, section, tile
from agent.reports.figures import AttemptResult
from agent.reports.filmstrips import Filmstrip, Frame
from agent.reports.games_html import game_sections, game_tiles
from agent.reports.markup import Markup, join, tag
from agent.reports.report import EvalReport, GoalResult, Results
from agent.reports.style import STYLE
from agent.reports.svg import Line, Mark, line_chart, rate_bars
from agent.reports.text import (
    ATTEMPTS_CAPTION,
    GOALS_CAPTION,
    INTERRUPTED,
    attempt_rows,
    goal_rows,
    has_attempts,
    header_facts,
    instruction_attempt_rows,
    instruction_rows,
    overall_rows,
    training_caption,
)
from agent.reports.words import NO_DATA, interval, number, percent

MAX_EPISODES = 500  # listed; the report as JSON has them all

_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:"  # what a browser may load: nothing from outside
)
_SEEDS = (
    "All figures are of one checkpoint of one training run: intervals tell how far other worlds and other draws of "
    "actions could move them, not how another training seed would have done."
)


def to_html(report: EvalReport, strips: Sequence[Filmstrip]) -> str:
    """The whole page."""
    title = f"Evaluation of {_name(report.header.checkpoint)}"
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", title),
        tag("style", Markup(STYLE)),
    )
    sections = [
        _opening(report),
        *game_sections(report),
        _instructions(report),
        _attempts(report),
        _goals(report),
        _overall(report),
        _causes(report),
        _film(strips),
        _episodes(report),
        _about(report),
    ]
    body = tag("body", tag("main", *sections))
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


def _opening(report: EvalReport) -> Markup:
    header, agent = report.header, report.agent
    line = f"Step {header.step:,}, picked as {header.rule}; {header.policy} actions; suite {header.suite}."
    returns = agent.returns
    bounds = f"95 %: {number(returns.interval[0])} to {number(returns.interval[1])}" if returns.interval else ""
    tiles = [tile("episodes", f"{returns.count:,}", "held-out worlds")]
    tiles += game_tiles(report) or [tile("mean return", number(returns.mean), bounds)]
    if agent.success is not None:
        tiles.insert(
            0, tile("success", _rate(agent.success), f"{percent(agent.success)}, 95 %: {interval(agent.success)}")
        )
        if report.random:
            tiles.insert(1, tile("random policy", _rate(report.random.success), percent(report.random.success)))
    return join(
        tag("h1", f"Evaluation of {_name(header.checkpoint)}"),
        tag("p", line, class_="quiet"),
        tag("p", INTERRUPTED, class_="warning") if header.interrupted else None,
        tag("div", *tiles, class_="tiles"),
    )


def _name(checkpoint: str) -> str:
    """The run of a checkpoint that lies in one, else its path."""
    parts = PurePath(checkpoint).parts
    return parts[-3] if len(parts) > 2 and parts[-2] == "checkpoints" else checkpoint


def _rate(tally: Tally | None) -> str:
    return NO_DATA if tally is None or tally.rate is None else f"{tally.rate:.0%}"


def _instructions(report: EvalReport) -> Markup | None:
    if not report.agent.instructions:
        return None
    header, rows = instruction_rows(report)
    mine = [row.success for row in report.agent.instructions]
    theirs = [row.success for row in report.random.instructions] if report.random else []
    if len(rows) > len(mine) and report.agent.success:
        mine.append(report.agent.success)
        theirs += [report.random.success] if report.random and report.random.success else []
    bars = [pair(each, theirs[row] if theirs else None) for row, each in enumerate(mine)]
    by_attempt = None
    if has_attempts(report):
        by_attempt = join(
            tag("p", "Success of each instruction by attempt:", class_="quiet"),
            html_table(instruction_attempt_rows(report)),
        )
    return section("Instructions", legend(report), html_table((header, rows), bars), by_attempt)


def _goals(report: EvalReport) -> Markup | None:
    if not report.agent.goals:
        return None
    beside: dict[str, GoalResult] = {goal.text: goal for goal in report.random.goals} if report.random else {}
    bars = [
        pair(goal.reached, beside[goal.text].reached if goal.text in beside else None) for goal in report.agent.goals
    ]
    return section("Goals", tag("p", GOALS_CAPTION, class_="quiet"), html_table(goal_rows(report), bars))


def _attempts(report: EvalReport) -> Markup | None:
    if not has_attempts(report):
        return None
    by_success = report.agent.success is not None
    lines = [Line("agent", _attempt_marks("agent", report.agent.attempts, by_success))]
    if report.random:
        lines.append(Line("random", _attempt_marks("random", report.random.attempts, by_success)))
    label = "success" if by_success else "mean return"
    chart = line_chart(lines, x_label="attempt at the same task", y_label=label, unit_interval=by_success)
    caption = tag("p", ATTEMPTS_CAPTION, class_="quiet")
    return section("Attempts", legend(report), chart, caption, html_table(attempt_rows(report)))


def _attempt_marks(kind: str, attempts: Sequence[AttemptResult], by_success: bool) -> list[Mark]:
    if by_success:
        return [mark(kind, f"{kind}, attempt {each.number}", each.success) for each in attempts]
    return [
        Mark(
            kind,
            f"{kind}, attempt {each.number}: {number(each.returns.mean)}",
            each.returns.mean,
            each.returns.interval,
        )
        for each in attempts
    ]


def _overall(report: EvalReport) -> Markup:
    caption = tag("p", training_caption(report.training), class_="quiet") if report.training else None
    return section("All episodes", html_table(overall_rows(report)), caption)


def _causes(report: EvalReport) -> Markup:
    """How episodes ended, agent beside random."""
    policies = {"agent": report.agent} | ({"random": report.random} if report.random else {})
    causes = list(dict.fromkeys(cause for results in policies.values() for cause in results.causes))
    bars = [rate_bars([_cause_mark(kind, cause, results) for kind, results in policies.items()]) for cause in causes]
    rows = [[cause, *(str(results.causes.get(cause, 0)) for results in policies.values())] for cause in causes]
    caption = tag("p", "Share of all episodes that ended so.", class_="quiet")
    return section("How episodes ended", legend(report), caption, html_table((["cause", *policies], rows), bars))


def _cause_mark(kind: str, cause: str, results: Results) -> Mark:
    return mark(kind, f"{kind}, {cause}", Tally(results.causes.get(cause, 0), results.returns.count))


def _film(strips: Sequence[Filmstrip]) -> Markup | None:
    if not strips:
        return None
    caption = tag("p", "What the agent saw, from left to right; t counts steps.", class_="quiet")
    return section("Best and worst episodes", caption, *(_strip(strip) for strip in strips))


def _strip(strip: Filmstrip) -> Markup:
    good = "good" if strip.outcome == "success" else "bad"
    stored = f", episode {strip.number}" if strip.number >= 0 else ""
    facts = f"; {strip.steps:,} steps, return {number(strip.ret)}, world {strip.seed}{stored}"
    caption = tag(
        "figcaption",
        tag("b", f"{strip.kind}: {strip.task}" if strip.task else strip.kind),
        " ",
        tag("span", strip.outcome, class_=f"badge {good}"),
        facts,
    )
    return tag("figure", caption, tag("div", *(_frame(frame) for frame in strip.frames), class_="film"))


def _frame(frame: Frame) -> Markup:
    source = f"data:image/png;base64,{b64encode(frame.png).decode('ascii')}"
    note = tag("div", frame.note, class_="note") if frame.note else None
    return tag("div", tag("img", src=source, alt=f"state {frame.t}"), f"t = {frame.t:,}", note)


def _episodes(report: EvalReport) -> Markup:
    episodes = report.agent.episodes[:MAX_EPISODES]
    task = "game" if report.agent.games else "instruction"
    header = [task, "world", "outcome", "subgoals", "steps", "return", "episode"]
    rows = [
        [
            each.game or each.instruction or "none",
            str(each.seed),
            each.cause,
            str(each.subgoals),
            f"{each.steps:,}",
            number(each.episode_return),
            "" if each.number is None else str(each.number),
        ]
        for each in episodes
    ]
    left = len(report.agent.episodes) - len(rows)
    more = tag("p", f"{left:,} more are in the report as JSON.", class_="quiet") if left else None
    summary = tag("summary", f"Every episode of the agent ({len(rows):,})")
    listed = tag("details", summary, html_table((header, rows)), more)
    return section("Episodes", listed)


def _about(report: EvalReport) -> Markup:
    facts = header_facts(report)
    rows = [
        join(tag("dt", name), tag("dd", tag("code", text) if name in ("command", "sha256") else text))
        for name, text in facts.items()
    ]
    return section("What was evaluated, and how", tag("dl", *rows), tag("p", _SEEDS, class_="quiet"))
