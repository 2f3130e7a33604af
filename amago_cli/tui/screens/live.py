"""The live view of one run."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Grid, Vertical
from textual.screen import Screen
from textual.widgets import Footer, Static

from amago_cli.tui.notice import notice
from amago_cli.tui.snapshot import Snapshot
from amago_cli.tui.widgets.event_list import EventList
from amago_cli.tui.widgets.goals import Goals
from amago_cli.tui.widgets.header import RunHeader
from amago_cli.tui.widgets.plot import Plot, Sparks
from amago_cli.tui.widgets.toast import Toast
from amago_cli.tui.widgets.tree import TechTree
from amago_cli.tui.widgets.world import World

WIDE, NORMAL = 120, 60  # columns from which on the layouts hold
TALL, MEDIUM = 36, 18  # rows


class LiveScreen(Screen[None]):
    """Header, what the run is doing and how well, keys. Which panels are shown follows from the size: amago.tcss."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (NORMAL, "-normal"), (WIDE, "-wide")]  # noqa: RUF012 (Textual's own way)
    VERTICAL_BREAKPOINTS = [(0, "-short"), (MEDIUM, "-medium"), (TALL, "-tall")]  # noqa: RUF012

    def __init__(self) -> None:
        super().__init__()
        self._header = RunHeader(id="header")
        self._notice = Static(id="notice", markup=False)
        self._world = World(id="world")
        self._goals, self._tree = Goals(id="goals"), TechTree(id="tree")
        self._events, self._sparks = EventList(id="events"), Sparks(id="sparks")
        self.plot = Plot(id="plot")
        self.toast = Toast()

    def compose(self) -> ComposeResult:
        yield self._header
        yield self._notice
        with Grid(id="body"):
            with Vertical(id="progress"):
                yield self._goals
                yield self._tree
            yield self._world
            yield self.plot
            yield self._events
            yield self._sparks
        yield self.toast
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        """Ages grow without new data."""
        self.set_interval(1.0, self._header.tick)

    def show(self, snapshot: Snapshot) -> None:
        """Hand a snapshot to every panel."""
        self._header.show(snapshot)
        self._world.show(snapshot)
        for panel in (self._goals, self._tree, self.plot, self._events, self._sparks):
            panel.show(snapshot)
        self._say(snapshot)
        self.set_class(not snapshot.is_crafter, "-treeless")

    def turn_page(self) -> None:
        """Where goals and tree do not fit together, the other one."""
        self.toggle_class("-tree")

    def _say(self, snapshot: Snapshot) -> None:
        words = notice(snapshot)
        self._notice.display = words is not None
        if words is not None and words.plain != str(self._notice.content):
            self._notice.update(words)
