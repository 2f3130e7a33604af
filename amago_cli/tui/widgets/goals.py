"""Success goal by goal, the wanted instruction on top; without goals return by game, or of one game by attempt."""

from __future__ import annotations

from typing import Any

from textual.content import Content

from amago_cli.tui.game_rows import GameRow
from amago_cli.tui.goal_rows import AttemptRow, GoalRow, GoalTable
from amago_cli.tui.snapshot import Snapshot
from amago_cli.tui.text import bar, clean, compact, fitted, percent
from amago_cli.tui.widgets.panel import Panel

_NOTHING = "no data yet: rollouts are stored every half minute"
_TRENDS = {-1: "↓", 0: " ", 1: "↑"}
_BESIDE = 18  # characters beside name and bar: tick, rate, counts, trend
_NAME = 21  # "2. make stone pickaxe"
_BESIDE_GAME = 23  # characters beside the name and the bar of a game: share, return, count, trend
_GAME = 24  # of its name


class Goals(Panel):
    """A line per goal with tick, share, bar, counts and trend."""

    TITLE = "success by goal, recent rollouts"

    def pick(self, snapshot: Snapshot) -> Any:
        return snapshot.rollouts.goals, snapshot.rollouts.attempts, snapshot.games

    def show(self, snapshot: Snapshot) -> None:
        """Take in a snapshot; what the panel is about may have become known."""
        super().show(snapshot)
        _, attempts, games = self.shown
        title, below = self.TITLE, ""
        if games:
            title, below = f"return by game, last attempts: {len(games)} games", "share, return, rollouts"
        elif attempts:
            title = "return by attempt, recent rollouts"
        if (self.border_title, self.border_subtitle) != (title, below):
            self.border_title, self.border_subtitle = title, below

    def render(self) -> Content:
        goals, attempts, games = self.shown or (GoalTable(), (), ())
        if games:
            lines = self._game_lines(games)
        else:
            lines = self._attempt_lines(attempts) if attempts else self._goal_lines(goals)
        return Content("\n").join(self._fitting(lines)) if lines else Content(_NOTHING)

    def _fitting(self, lines: list[Content]) -> list[Content]:
        """The first, and how many more there are."""
        room = self.size.height
        if len(lines) <= room:
            return lines
        shown = lines[: max(room - 1, 0)]
        return [*shown, Content.styled(f"and {len(lines) - len(shown)} more", "$text-muted")]

    def _goal_lines(self, goals: GoalTable) -> list[Content]:
        wanted = [self._goal_line(row, f"{number}. {row.name}") for number, row in enumerate(goals.wanted, 1)]
        others = [self._goal_line(row, row.name) for row in goals.others]
        if not wanted:
            return others
        heading = [Content.styled("the wanted instruction", "bold")]
        return [*heading, *wanted, *([Content.styled("all instructions", "bold")] if others else []), *others]

    def _goal_line(self, row: GoalRow, name: str) -> Content:
        tick = "✓" if row.reached else " "
        label = fitted(name, min(_NAME, max(self.size.width - _BESIDE, 1)))
        if row.rate is None:
            return Content.assemble(f"{tick} {label} ", ("no data", "$text-muted"))
        room = self.size.width - len(label) - _BESIDE - 1
        filled = (bar(row.rate, room, plain=self.plain), "$success on $surface-lighten-2") if room > 2 else ""
        trend = _TRENDS[row.trend]
        return Content.assemble(
            f"{tick} {label}",
            " " if room > 2 else "",
            filled,
            f" {percent(row.rate)} {f'{row.reached}/{row.tried}':>7} {trend}",
        )

    def _game_lines(self, games: tuple[GameRow, ...]) -> list[Content]:
        name = min(max(len(row.name) for row in games), _GAME, max(self.size.width - _BESIDE_GAME, 1))
        return [self._game_line(row, fitted(clean(row.name), name)) for row in games]

    def _game_line(self, row: GameRow, label: str) -> Content:
        if row.mean_return is None:
            return Content.assemble(f"{label} ", ("no data", "$text-muted"))
        share = "" if row.share is None else percent(row.share)
        trend = _TRENDS[row.trend]
        words = f" {share:>5} {compact(row.mean_return):>7} {row.count:>6} {trend}"
        room = max(self.size.width - len(label) - 1 - len(words), 0)
        drawn = row.share is not None and room > 2
        filled = (bar(row.share or 0.0, room, plain=self.plain), "$success on $surface-lighten-2")
        return Content.assemble(f"{label} ", filled if drawn else " " * room, words)

    def _attempt_lines(self, attempts: tuple[AttemptRow, ...]) -> list[Content]:
        """Bars from nothing to the best; what is below zero has none."""
        most = max(max(row.mean_return for row in attempts), 1e-9)
        return [self._attempt_line(row, row.mean_return / most) for row in attempts]

    def _attempt_line(self, row: AttemptRow, share: float) -> Content:
        words = f" {compact(row.mean_return):>8}  of {row.count}"
        label = fitted(f"attempt {row.number}", 11)
        room = self.size.width - len(label) - len(words)
        filled = (bar(share, room, plain=self.plain), "$success on $surface-lighten-2") if room > 2 else ""
        return Content.assemble(label, filled, words)
