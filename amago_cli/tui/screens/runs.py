"""The list of runs: choose one, or wait for the first."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from textual.app import ComposeResult
from textual.binding import Binding
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Footer, OptionList, Static
from textual.widgets.option_list import Option

from amago_cli.tui.feed import about_config
from amago_cli.tui.reader import Loader
from amago_cli.tui.text import STATE_MARKS, clean
from store.errors import AmagoError
from store.layout import RunPaths
from store.runs import RunSummary, list_runs

_EVERY = 2.0  # seconds


class RunsScreen(Screen[RunPaths | None]):
    """Reads the folder again and again; closes with the run chosen, or with None."""

    BINDINGS = [Binding("escape,r", "back", "Back")]  # noqa: RUF012

    class Listed(Message):
        """The folder was read."""

        def __init__(self, summaries: list[RunSummary], problem: str) -> None:
            super().__init__()
            self.summaries, self.problem = summaries, problem

    def __init__(self, runs_dir: Path, *, must_choose: bool) -> None:
        super().__init__()
        self._runs_dir, self._must_choose = runs_dir, must_choose
        self._loader = Loader()
        self._hint, self._options = Static(f"reading {runs_dir} ...", id="hint", markup=False), OptionList(markup=False)
        self._paths: dict[str, RunPaths] = {}

    def compose(self) -> ComposeResult:
        yield self._hint
        yield self._options
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        """Read now and again."""
        self._read()
        self.set_interval(_EVERY, self._read)

    def on_runs_screen_listed(self, message: Listed) -> None:
        """Show the runs, the highlighted one staying so."""
        message.stop()
        self._paths = {summary.name: summary.paths for summary in message.summaries}
        self._hint.update(self._words(message))
        options = self._options
        lines = {summary.name: _line(summary) for summary in message.summaries}
        if [option.id for option in options.options] == list(lines):
            for name, line in lines.items():
                options.replace_option_prompt(name, line)
            return
        highlighted = options.highlighted_option.id if options.highlighted_option else None
        options.set_options(Option(line, id=name) for name, line in lines.items())
        if lines:
            options.highlighted = list(lines).index(highlighted) if highlighted in lines else 0

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """This run."""
        self.dismiss(self._paths[str(event.option.id)])

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """There is a way back only to a run looked at before."""
        return action != "back" or not self._must_choose

    def action_back(self) -> None:
        """To the run looked at before."""
        self.dismiss(None)

    def _read(self) -> None:
        self._loader.ask(lambda: _listed(self._runs_dir), self.post_message)

    def _words(self, message: Listed) -> str:
        if message.problem:
            return message.problem
        if not message.summaries:
            return f"no run in {self._runs_dir} yet: start one in another terminal, it appears here\n" + (
                '  amago train crafter --goals "collect sapling, place plant" --detach'
            )
        return f"runs in {self._runs_dir}, newest first: enter looks at one"


def _listed(runs_dir: Path) -> RunsScreen.Listed:
    try:
        return RunsScreen.Listed(list_runs(runs_dir), "")
    except AmagoError as error:
        return RunsScreen.Listed([], clean(str(error)))


def _line(summary: RunSummary) -> str:
    state = f"{STATE_MARKS.get(summary.state, '!')} {summary.state}"
    steps = f"{summary.status.step:,} steps" if summary.status else "no data"
    about = about_config(summary.record.get("config"))
    words = clean(summary.problem) or " · ".join(filter(None, (about.environment, about.instruction)))
    return f"{clean(summary.name):<18} {state:<11} {steps:>17}  {_moment(summary.created)}  {words}"


def _moment(created: str) -> str:
    """A run's birth in the time of this machine: '12-04 22:13'."""
    try:
        return datetime.fromisoformat(created).astimezone().strftime("%m-%d %H:%M")
    except (ValueError, OverflowError):
        return " " * 11
