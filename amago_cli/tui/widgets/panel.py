"""What all parts of the live view share: they draw a part of each snapshot, and only when it changed."""

from __future__ import annotations

from typing import Any

from textual.widget import Widget

from amago_cli.tui.snapshot import Snapshot


class Panel(Widget):
    """A framed part of the screen. Subclasses say what they draw (`pick`) and how (`render`)."""

    TITLE = ""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.border_title = self.TITLE
        self.shown: Any = None

    def pick(self, snapshot: Snapshot) -> Any:
        """What of the snapshot is drawn; equal values mean that there is nothing to redraw."""
        raise NotImplementedError

    def show(self, snapshot: Snapshot) -> None:
        """Take in a snapshot."""
        picked = self.pick(snapshot)
        if picked != self.shown:
            self.shown = picked
            self.refresh()

    @property
    def plain(self) -> bool:
        """Whether the terminal shows ASCII only."""
        return bool(getattr(self.app, "plain", False))
