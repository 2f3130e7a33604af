"""A question with a few answers."""

from __future__ import annotations

from collections.abc import Mapping

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.events import Key
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option


class Ask(ModalScreen[str]):
    """Answers by the letter before them, by arrows and enter, or by mouse; escape answers with ""."""

    BINDINGS = [Binding("escape", "answer('')", "Back", show=False)]  # noqa: RUF012

    def __init__(self, question: str, answers: Mapping[str, str]) -> None:
        """`answers` by letter."""
        super().__init__()
        self._question, self._answers = question, answers

    def compose(self) -> ComposeResult:
        with Vertical(classes="box"):
            yield Static(self._question, markup=False)
            options = (Option(f"{letter}  {text}", id=letter) for letter, text in self._answers.items())
            yield OptionList(*options, markup=False)

    def on_key(self, event: Key) -> None:
        """A letter is an answer."""
        if event.key in self._answers:
            event.stop()
            self.dismiss(event.key)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Enter or a click."""
        self.dismiss(event.option.id or "")

    def action_answer(self, answer: str) -> None:
        """Close with this answer."""
        self.dismiss(answer)
