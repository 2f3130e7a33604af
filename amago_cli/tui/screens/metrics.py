"""Which metrics the charts show."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option


class MetricPicker(ModalScreen[tuple[str, ...]]):
    """Space or a click marks a metric, enter or escape closes with those marked."""

    BINDINGS = [  # noqa: RUF012 (Textual's own way)
        Binding("space", "mark", "Mark", priority=True),
        Binding("enter,escape,m", "done", "Done", priority=True),
    ]

    def __init__(self, metrics: list[str], chosen: tuple[str, ...]) -> None:
        super().__init__()
        self._metrics, self._chosen, self._marked = metrics, chosen, set(chosen)
        self._options = OptionList(*(Option(self._line(key)) for key in metrics), markup=False)

    def compose(self) -> ComposeResult:
        with Vertical(classes="box"):
            yield Static("What to plot: space marks, enter closes", markup=False)
            yield self._options

    def action_mark(self) -> None:
        """Mark the highlighted metric, or take its mark away."""
        if self._options.highlighted is not None:
            self._toggle(self._options.highlighted)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """A click."""
        self._toggle(event.option_index)

    def action_done(self) -> None:
        """Close; who was chosen before keeps its place, and others follow in the order of the list."""
        in_order = dict.fromkeys((*self._chosen, *self._metrics))
        self.dismiss(tuple(key for key in in_order if key in self._marked))

    def _toggle(self, position: int) -> None:
        key = self._metrics[position]
        self._marked ^= {key}
        self._options.replace_option_prompt_at_index(position, self._line(key))

    def _line(self, key: str) -> str:
        return f"[{'x' if key in self._marked else ' '}] {key}"
