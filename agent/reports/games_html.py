"""What the report page shows of an evaluation of several games: the figures of `games_text`, with bars."""

from __future__ import annotations

from collections.abc import Sequence

from agent.reports.blocks import html_table, legend, mark, section, tile
from agent.reports.games import GameAttempt, GameResult
from agent.reports.games_text import game_tables
from agent.reports.markup import Markup, tag
from agent.reports.report import EvalReport
from agent.reports.statistics import Interval
from agent.reports.svg import Mark, rate_bars
from agent.reports.words import bounds, number


def game_tiles(report: EvalReport) -> list[Markup]:
    """The normalised return over the trained games, and over the held-out ones; [] where there is none."""
    tiles = []
    for each in report.agent.game_sets:
        found = each.last.mean
        if found is not None:
            name = f"normalised, {'held-out' if each.held_out else 'trained'} games ({each.count})"
            tiles.append(tile(name, number(found.value), f"95 %: {bounds(found.interval)}"))
    return tiles


def game_sections(report: EvalReport) -> list[Markup]:
    """A section over all games, one for those that are trained, one for those held out."""
    sections = []
    for (title, caption, table), games in zip(game_tables(report), _games_of_sections(report), strict=True):
        bars = _bars(games, report)
        words = tag("p", caption, class_="quiet")
        sections.append(section(title, legend(report) if bars else None, words, html_table(table, bars or None)))
    return sections


def _games_of_sections(report: EvalReport) -> list[list[GameResult]]:
    """The games of the rows of each table: none of the first, whose rows are sets of games."""
    if not report.agent.games:
        return []
    games = report.agent.games
    return [[], *([game for game in games if game.held_out is each.held_out] for each in report.agent.game_sets)]


def _bars(games: Sequence[GameResult], report: EvalReport) -> list[Markup]:
    """Success, or else normalised return, of agent and random policy for each row; [] where there is neither."""
    beside = {game.name: game for game in report.random.games} if report.random else {}
    if not all(game.last.success or game.last.normalised for game in games):
        return []
    rows = [[("agent", game), *([("random", beside[game.name])] if game.name in beside else [])] for game in games]
    return [rate_bars([_mark(kind, each.last) for kind, each in row]) for row in rows]


def _mark(kind: str, attempt: GameAttempt) -> Mark:
    if attempt.success:
        return mark(kind, kind, attempt.success)
    found = attempt.normalised
    assert found is not None
    words = f"{kind}, normalised: {number(found.value)} ({bounds(found.interval)})"
    return Mark(kind, words, _inside(found.value), _both_inside(found.interval))


def _inside(value: float) -> float:
    """What a bar from 0 to 1 can show; the figure stands beside it."""
    return min(max(value, 0.0), 1.0)


def _both_inside(interval: Interval | None) -> Interval | None:
    return (_inside(interval[0]), _inside(interval[1])) if interval else None
