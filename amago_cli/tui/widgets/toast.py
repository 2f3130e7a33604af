"""A remark in the corner that goes away by itself."""

from __future__ import annotations

from textual.timer import Timer
from textual.widgets import Static

SECONDS = 6.0


class Toast(Static):
    """Shows one remark at a time. Textual 8.2's own toasts can spin for ever when one expires as it is mounted."""

    def __init__(self) -> None:
        super().__init__(id="toast", markup=False)
        self._timer: Timer | None = None

    def say(self, text: str, severity: str) -> None:
        """Show `text`; a severity other than "information" is marked with a sign too."""
        self.update(text if severity == "information" else f"! {text}")
        self.set_class(severity != "information", "-warning")
        self.display = True
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(SECONDS, self._hide)

    def on_click(self) -> None:
        """Gone."""
        self._hide()

    def _hide(self) -> None:
        self.display = False
