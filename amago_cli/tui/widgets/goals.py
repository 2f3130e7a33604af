"""Success goal by goal, the wanted instruction on top; return by attempt in environments without goals."""

from __future__ import annotations

from typing import Any

from textual.content import Content

from amago_cli.tui.goal_rows import AttemptRow, GoalRow, GoalTable
from amago_cli.tui.snapshot import Snapshot
from amago_cli.tui.text import bar, compact, fitted, percent
from amago_cli.tui.widgets.panel import Panel

_NOTHING = "no data yet: rollouts are stored every half minute"
_TRENDS = {-1: "↓", 0: " ", 1: "↑"}
_PLAIN_TRENDS = {-1: "-", 0: " ", 1: "+"}
_BESIDE = 18  # characters beside name and bar: tick, rate, counts, trend
_NAME = 21  # "2. make stone pickaxe"


class Goals(Panel):
    """A line per goal with tick, share, bar, counts and trend."""

    TITLE = "success by goal, recent rollouts"

    def pick(self, snapshot: Snapshot) -> Any:
        return snapshot.rollouts.goals, snapshot.rollouts.attempts

    def render(self) -> Content:
        goals, attempts = self.shown or (GoalTable(), ())
        self.border_title = "return by attempt, recent rollouts" if attempts else self.TITLE
        lines = self._attempt_lines(attempts) if attempts else self._goal_lines(goals)
        return Content("\n").join(lines[: self.size.height]) if lines else Content(_NOTHING)

    def _goal_lines(self, goals: GoalTable) -> list[Content]:
        wanted = [self._goal_line(row, f"{number}. {row.name}") for number, row in enumerate(goals.wanted, 1)]
        others = [self._goal_line(row, row.name) for row in goals.others]
        if not wanted:
            return others
        heading = [Content.styled("the wanted instruction", "bold")]
        return [*heading, *wanted, *([Content.styled("all instructions", "bold")] if others else []), *others]

    def _goal_line(self, row: GoalRow, name: str) -> Content:
        tick = ("✓" if not self.plain else "x") if row.reached else " "
        label = fitted(name, min(_NAME, max(self.size.width - _BESIDE, 1)))
        if row.rate is None:
            return Content.assemble(f"{tick} {label} ", ("no data", "$text-muted"))
        room = self.size.width - len(label) - _BESIDE - 1
        filled = (bar(row.rate, room, plain=self.plain), "$success on $surface-lighten-2") if room > 2 else ""
        trend = (_PLAIN_TRENDS if self.plain else _TRENDS)[row.trend]
        return Content.assemble(
            f"{tick} {label}",
            " " if room > 2 else "",
            filled,
            f" {percent(row.rate)} {f'{row.reached}/{row.tried}':>7} {trend}",
        )

    def _attempt_lines(self, attempts: tuple[AttemptRow, ...]) -> list[Content]:
        most = max(max(abs(row.mean_return) for row in attempts), 1e-9)
        return [self._attempt_line(row, abs(row.mean_return) / most) for row in attempts]

    def _attempt_line(self, row: AttemptRow, share: float) -> Content:
        words = f" {compact(row.mean_return):>8}  of {row.count}"
        label = fitted(f"attempt {row.number}", 11)
        room = self.size.width - len(label) - len(words)
        filled = (bar(share, room, plain=self.plain), "$success on $surface-lighten-2") if room > 2 else ""
        return Content.assemble(label, filled, words)
