"""Every key and what it does."""

from __future__ import annotations

from itertools import zip_longest

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

_RUN = (
    ("space", "pause, or go on"),
    ("c", "write a checkpoint now"),
    ("e", "evaluate now: training waits"),
    ("s", "stop cleanly (asks)"),
    ("q", "leave; the trainer goes on"),
)
_VIEW = (
    ("b", "episodes, step by step"),
    ("m", "choose what is plotted"),
    ("g", "goals or technology tree"),
    ("r", "look at another run"),
    ("t", "next theme"),
    ("ctrl+p", "all commands by name"),
)
_CHOOSE = (
    ("up down", "choose an episode"),
    ("f", "all, successes, failures"),
    ("v", "of training, of evaluations"),
    ("space", "play"),
)
_STEP = (
    ("left right", "one step"),
    ("shift+arrow", "ten steps"),
    ("home end", "first, last step"),
    ("escape", "back"),
)
_SIGNS = (
    ("▶ running", "‖ paused"),
    ("✓ finished", "■ stopped"),
    ("✗ crashed", "! diverged"),
)
_TREND = "↑ ↓  better, worse than the 200 rollouts before"
_KEY, _COLUMN = 12, 34  # characters
_WIDE = 2 * _COLUMN + 4


class Help(ModalScreen[None]):
    """A page that any of the usual keys closes."""

    BINDINGS = [Binding("escape,question_mark,q,enter", "dismiss", "Back", show=False)]  # noqa: RUF012

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="box"):
            yield Static(help_text(self.app.size.width), markup=False)


def help_text(width: int) -> str:
    """All keys and signs, in two columns where they fit."""
    lines = ["This run", *_side_by_side(_RUN, _VIEW, width), "", "Among the episodes"]
    lines += [*_side_by_side(_CHOOSE, _STEP, width), "", *(f"{one:<{_KEY}} {other}" for one, other in _SIGNS), _TREND]
    return "\n".join(lines)


def _side_by_side(left: tuple[tuple[str, str], ...], right: tuple[tuple[str, str], ...], width: int) -> list[str]:
    if width < _WIDE:
        return [_line(pair) for pair in (*left, *right)]
    return [
        f"{_line(one):<{_COLUMN + 4}}{_line(other)}".rstrip()
        for one, other in zip_longest(left, right, fillvalue=("", ""))
    ]


def _line(pair: tuple[str, str]) -> str:
    return f"{pair[0]:<{_KEY}}{pair[1]}"
