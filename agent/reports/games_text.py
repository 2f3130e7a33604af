"""An evaluation of several games in words: rows of tables. Knows the report's fields, not how they were computed."""

from __future__ import annotations

from agent.reports.games import Aggregate, GameResult
from agent.reports.report import EvalReport
from agent.reports.statistics import Estimate
from agent.reports.words import Table, bounds, interval, number, percent

GAMES_CAPTION = (
    "Returns in each game's own unit. First and last are attempts in the same world, change is last minus first; "
    "success, normalised return and the random policy's return are those of last attempts."
)
SETS_CAPTION = "Every game counts the same. Intervals are over worlds, not over training runs."

_Cell = tuple[str, str | None]  # header, text; None where there is no such figure


def game_tables(report: EvalReport) -> list[tuple[str, str, Table]]:
    """Headings, captions and tables of an evaluation of several games; [] of one game."""
    found = [("Over games", SETS_CAPTION, set_rows(report))] if report.agent.games else []
    for each in report.agent.game_sets:
        title = "Held-out games" if each.held_out else "Trained games"
        found.append((title, GAMES_CAPTION, game_rows(report, held_out=each.held_out)))
    return found


def game_rows(report: EvalReport, *, held_out: bool) -> Table:
    """One row per game that is trained, or per one that is held out."""
    beside = {game.name: game for game in report.random.games} if report.random else {}
    games = [game for game in report.agent.games if game.held_out is held_out]
    several = any(game.difference for game in games)
    return _table([_game_row(game, beside.get(game.name), several) for game in games])


def set_rows(report: EvalReport) -> Table:
    """Normalised return and success over the trained games and over the held-out ones, a row per policy and attempt."""
    several = any(game.difference for game in report.agent.games)
    rows = []
    for policy, results in (("agent", report.agent), ("random", report.random)):
        for each in results.game_sets if results else ():
            games = f"{each.count} {'held out' if each.held_out else 'trained'}"
            attempts = {"first": each.first, "last": each.last} if several else {"": each.last}
            for attempt, found in attempts.items():
                about: list[_Cell] = [("games", games), ("policy", policy), ("attempt", attempt or None)]
                rows.append([*about, *_aggregate_cells(found)])
    return _table(sorted(rows, key=lambda row: "held out" in str(row[0][1])))


def _game_row(game: GameResult, random: GameResult | None, several: bool) -> list[_Cell]:
    return [
        ("game", game.name),
        ("first", number(game.first.returns.mean) if several else None),
        ("last" if several else "return", number(game.last.returns.mean)),
        ("95 %", bounds(game.last.returns.interval)),
        *_estimate_cells("change", game.difference),
        ("first success", percent(game.first.success) if several and game.first.success else None),
        ("success", percent(game.last.success) if game.last.success else None),
        ("95 %", interval(game.last.success) if game.last.success else None),
        *_estimate_cells("normalised", game.last.normalised),
        ("random", number(random.last.returns.mean) if random else None),
    ]


def _aggregate_cells(found: Aggregate) -> list[_Cell]:
    return [
        *_estimate_cells("normalised mean", found.mean),
        *_estimate_cells("IQM", found.iqm),
        ("success", percent(found.success) if found.success else None),
        ("95 %", interval(found.success) if found.success else None),
    ]


def _estimate_cells(name: str, estimate: Estimate | None) -> list[_Cell]:
    if estimate is None:
        return [(name, None), ("95 %", None)]
    return [(name, number(estimate.value)), ("95 %", bounds(estimate.interval))]


def _table(rows: list[list[_Cell]]) -> Table:
    """Columns in which no row has a figure are left out."""
    kept = [place for place in range(len(rows[0])) if any(row[place][1] is not None for row in rows)]
    header = [next(row[place][0] for row in rows if row[place][1] is not None) for place in kept]
    return header, [[row[place][1] or "" for place in kept] for row in rows]
