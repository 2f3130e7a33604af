"""What happened in the run, newest at the bottom."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from textual.content import Content

from amago_cli.tui.snapshot import Snapshot
from amago_cli.tui.text import fitted
from amago_cli.tui.widgets.panel import Panel
from store.events import RunEvent

_KINDS = {
    "achievement": ("★", "bold $text-warning"),
    "warning": ("!", "bold $text-error"),
    "checkpoint": ("▪", "$text-muted"),
    "evaluation": ("◆", "bold $text-accent"),
    "paused": ("‖", "$text-warning"),
    "resumed": ("▶", "$text-success"),
    "start": ("▶", "$text-success"),
    "resume": ("▶", "$text-success"),
    "end": ("■", "bold"),
}
_OTHER = ("·", "")


class EventList(Panel):
    """The newest events that fit, a line each, the kind as a sign: the texts tell it too."""

    TITLE = "events"

    def pick(self, snapshot: Snapshot) -> Any:
        return snapshot.events, snapshot.problems

    def render(self) -> Content:
        events, problems = self.shown or ((), ())
        lines = [self._line(event) for event in events]
        lines += self._problem_lines(problems)
        return Content("\n").join(lines[-self.size.height :]) if lines else Content("nothing yet")

    def _problem_lines(self, problems: Sequence[str]) -> list[Content]:
        """One line: however much is damaged, it must not push the events away."""
        if not problems:
            return []
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        room = max(self.size.width - len(more), 1)
        return [Content.styled(fitted(f"! {problems[0]}", room) + more, "$error")]

    def _line(self, event: RunEvent) -> Content:
        sign, style = _KINDS.get(event.kind, _OTHER)
        at = time.strftime("%H:%M", time.localtime(event.time)) if abs(event.time) < 1e11 else "--:--"
        text = fitted(f"{sign} {event.text}", self.size.width - 6)
        return Content.assemble((f"{at} ", "$text-muted"), (text, style))
