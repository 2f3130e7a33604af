"""Every key and what it does."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

HELP = """\
space     pause the run, or let it go on
c         write a checkpoint now
e         evaluate now: training waits
s         stop the run cleanly (asks)
q         leave; the trainer goes on
b         episodes, step by step
m         choose what is plotted
g         goals or technology tree
r         look at another run
t         next theme      ctrl+p  all commands

Among the episodes
up down   choose          left right  one step
home end  first, last     shift+arrow ten steps
space     play            f           only successes ...
v         evaluations     escape      back

▶ running  ‖ paused  ✓ finished, reached
■ stopped  ✗ crashed  ! diverged, warning
↑ ↓ better, worse than the 200 rollouts before
"""


class Help(ModalScreen[None]):
    """A page that any of the usual keys closes."""

    BINDINGS = [Binding("escape,question_mark,q,enter", "dismiss", "Back", show=False)]  # noqa: RUF012

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="box"):
            yield Static(HELP, markup=False)
