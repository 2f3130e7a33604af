"""The application: one run looked at, orders given to its trainer, other screens opened above.

Everything it shows comes from the feed's thread as snapshots; nothing here reads a file of the run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from textual.app import App, SystemCommand
from textual.binding import Binding
from textual.filter import LineFilter
from textual.message import Message
from textual.screen import Screen

from amago_cli.tui.orders import ACTIVE, objection, told
from amago_cli.tui.plain_text import PlainText
from amago_cli.tui.reader import FeedThread
from amago_cli.tui.screens.ask import Ask
from amago_cli.tui.screens.episodes import EpisodeScreen
from amago_cli.tui.screens.help import Help
from amago_cli.tui.screens.live import LiveScreen
from amago_cli.tui.screens.metrics import MetricPicker
from amago_cli.tui.screens.runs import RunsScreen
from amago_cli.tui.snapshot import Snapshot
from store.control import give_order
from store.errors import StorageError
from store.layout import RunPaths

THEMES = ("textual-dark", "textual-light", "nord", "gruvbox", "tokyo-night", "ansi-dark")

_OF_TEXTUAL = ("Theme", "Quit")  # commands of its palette that make sense here
_OF_LIVE_SCREEN = ("pause", "resume", "order", "stop", "episodes", "metrics", "tree", "runs")


class Leaving(NamedTuple):
    """How the screen was left."""

    paths: RunPaths | None = None
    state: str = "unknown"  # of the run, as last seen
    is_stopping: bool = False  # it was told to stop from here
    signal: int = 0  # that ended the screen, 0 if a person did


class WatchApp(App[Leaving]):
    """The screen of `amago watch`."""

    TITLE = "amago"
    CSS_PATH = "amago.tcss"
    BINDINGS = [  # noqa: RUF012 (Textual's own way)
        Binding("question_mark", "help", "Help"),
        Binding("q", "quit", "Quit"),
        Binding("space", "pause", "Pause"),
        Binding("space", "resume", "Resume"),
        Binding("c", "order('checkpoint')", "Save"),
        Binding("e", "order('evaluate')", "Eval"),
        Binding("s", "stop", "Stop"),
        Binding("b", "episodes", "Episodes"),
        Binding("m", "metrics", "Plots"),
        Binding("g", "tree", "Tree"),
        Binding("r", "runs", "Runs"),
        Binding("t", "next_theme", "Theme", show=False),
        Binding("ctrl+q,ctrl+c", "quit", show=False, priority=True),
    ]

    class Arrived(Message):
        """The feed has read the run again."""

        def __init__(self, snapshot: Snapshot) -> None:
            super().__init__()
            self.snapshot = snapshot

    def __init__(self, runs_dir: Path, paths: RunPaths | None, *, owns_trainer: bool, plain: bool = False) -> None:
        super().__init__()
        self.plain = plain  # the terminal has only ASCII characters
        self._in_ascii = PlainText()
        self.snapshot: Snapshot | None = None
        self._runs_dir, self._paths = runs_dir, paths
        self._own = paths if owns_trainer else None  # the run whose trainer this command started
        self._feed = FeedThread(lambda snapshot: self.post_message(self.Arrived(snapshot)))
        self._live = LiveScreen()
        self._running_in: asyncio.AbstractEventLoop | None = None
        self._stopping: RunPaths | None = None  # a run that was told to stop

    @property
    def failure(self) -> Exception | None:
        """The error of ours that ended the screen."""
        return self._exception

    @property
    def colourful(self) -> bool:
        """Whether pictures can be shown: many colours, and nobody asked for none."""
        return self.console.color_system in ("truecolor", "256") and not self.no_color and not self.plain

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Textual's own, and ASCII where the terminal has nothing else."""
        return [*super().get_line_filters(), *([self._in_ascii] if self.plain else [])]

    async def on_mount(self) -> None:
        """Show the run, or the list to choose one from."""
        self._running_in = asyncio.get_running_loop()
        self.theme = THEMES[0] if self.console.color_system in ("truecolor", "256") else "ansi-dark"
        await self.push_screen(self._live)
        if self._paths is None:
            self.action_runs()
        else:
            self._feed.follow(self._paths)

    def on_unmount(self) -> None:
        """Nobody reads any more."""
        self._feed.stop()

    def on_watch_app_arrived(self, message: Arrived) -> None:
        """Show what was read."""
        if self._paths is None or message.snapshot.paths != self._paths:
            return  # of the run looked at before
        before, self.snapshot = self.snapshot, message.snapshot
        if before is None or (before.state, before.is_crafter) != (self.snapshot.state, self.snapshot.is_crafter):
            self.refresh_bindings()
        for screen in self.screen_stack:
            if isinstance(screen, LiveScreen | EpisodeScreen) and screen.is_mounted:
                screen.show(message.snapshot)

    def notify(self, message: str, *, severity: str = "information", **_: object) -> None:
        """Say something in the corner of the live screen."""
        self._live.toast.say(message, severity)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Orders and views belong to the live screen: elsewhere their keys are free, and not in the footer."""
        if action in ("pause", "resume") and (action == "resume") != (self._state == "paused"):
            return False
        if action == "tree" and not (self.snapshot and self.snapshot.is_crafter):
            return False
        return action not in _OF_LIVE_SCREEN or self.screen is self._live

    def get_system_commands(self, screen: Screen) -> Iterable[SystemCommand]:
        """The palette has every key's action."""
        yield from (command for command in super().get_system_commands(screen) if command.title in _OF_TEXTUAL)
        yield SystemCommand("Help", "What the keys do", self.action_help)
        if not isinstance(screen, LiveScreen):
            return
        yield SystemCommand("Pause", "Pause the trainer", self.action_pause)
        yield SystemCommand("Resume", "Let a paused trainer go on", self.action_resume)
        yield SystemCommand("Checkpoint", "Write a checkpoint now", lambda: self.action_order("checkpoint"))
        yield SystemCommand("Evaluate", "Evaluate now", lambda: self.action_order("evaluate"))
        yield SystemCommand("Stop", "Stop the run cleanly", self.action_stop)
        yield SystemCommand("Episodes", "Look at stored episodes step by step", self.action_episodes)
        yield SystemCommand("Metrics", "Choose what the charts show", self.action_metrics)
        yield SystemCommand("Tree", "Goals or technology tree", self.action_tree)
        yield SystemCommand("Runs", "Look at another run", self.action_runs)

    def action_pause(self) -> None:
        """Pause the run."""
        self.action_order("pause")

    def action_resume(self) -> None:
        """Let a paused run go on."""
        self.action_order("resume")

    def action_order(self, order: str) -> None:
        """Give an order to the trainer, or say why it makes no sense."""
        if self._paths is None:
            return
        problem = objection(order, self._state, self._paths.name)
        if problem:
            self.notify(problem, severity="warning")
            return
        try:
            give_order(self._paths, order)
        except StorageError as error:
            self.notify(str(error), severity="error")
        else:
            self._stopping = self._paths if order == "stop" else self._stopping
            self.notify(told(order))

    def action_stop(self) -> None:
        """Stop the run, after a question."""
        if self._paths is None:
            return
        problem = objection("stop", self._state, self._paths.name)
        if problem:
            self.notify(problem, severity="warning")
            return
        question = f"Stop run {self._paths.name}? It writes a checkpoint and can be resumed."
        self.push_screen(Ask(question, {"y": "stop it", "n": "let it train"}), self._stop_if_told)

    def _stop_if_told(self, answer: str | None) -> None:
        if answer == "y":
            self.action_order("stop")

    async def action_quit(self) -> None:
        """Leave; asks what becomes of a trainer that this command started."""
        if isinstance(self.screen, Ask):
            self._leave()
        elif self._own is not None and self._own == self._paths and self._state in ACTIVE:
            question = f"Run {self._own.name} is training."
            answers = {"d": "detach: it trains on, `amago watch` comes back", "s": "stop it: it writes a checkpoint"}
            self.push_screen(Ask(question, answers), self._leave_as_told)
        else:
            self._leave()

    def _leave_as_told(self, answer: str | None) -> None:
        if answer == "s":
            self.action_order("stop")
        if answer:
            self._leave()

    def action_episodes(self) -> None:
        """Browse what is stored."""
        if self.snapshot is None or not len(self.snapshot.rollouts.index or ()):
            self.notify("no episode stored yet: rollouts are written within half a minute of their end")
        else:
            self.push_screen(EpisodeScreen(self.snapshot))

    def action_metrics(self) -> None:
        """Choose what is plotted."""
        metrics = self.snapshot.metrics if self.snapshot else {}
        if not metrics:
            self.notify("no metrics yet")
        else:
            self.push_screen(MetricPicker(list(metrics), self._live.plot.chosen(metrics)), self._plot)

    def _plot(self, chosen: tuple[str, ...] | None) -> None:
        self._live.plot.choose(chosen or ())

    def action_runs(self) -> None:
        """Look at another run."""
        self.push_screen(RunsScreen(self._runs_dir, must_choose=self._paths is None), self._follow)

    def _follow(self, paths: RunPaths | None) -> None:
        if paths is not None:
            self._paths, self.snapshot = paths, None
            self._feed.follow(paths)

    def action_tree(self) -> None:
        """The technology tree in place of the goals, and back."""
        self._live.turn_page()

    def action_help(self) -> None:
        """Explain the keys."""
        if not isinstance(self.screen, Help):
            self.push_screen(Help())

    def action_next_theme(self) -> None:
        """Other colours."""
        known = THEMES.index(self.theme) if self.theme in THEMES else -1
        self.theme = THEMES[(known + 1) % len(THEMES)]

    @property
    def _state(self) -> str:
        return self.snapshot.state if self.snapshot else "unknown"

    def leave_by_signal(self, number: int) -> None:
        """For a signal handler: leave as soon as the loop runs; SystemExit where there is none."""
        if self._running_in is None or self._running_in.is_closed():
            raise SystemExit(128 + number)
        self._running_in.call_soon_threadsafe(self._leave, number)

    def _leave(self, number: int = 0) -> None:
        is_stopping = self._stopping is not None and self._stopping == self._paths
        self.exit(Leaving(self._paths, self._state, is_stopping, number))

    def _fatal_error(self) -> None:
        """Close without Textual's pages of local variables: the command line reports the failure in its own way."""
        self._close_messages_no_wait()
