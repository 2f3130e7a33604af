"""The stored episodes of a run: a list, and the chosen one step by step."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Footer, Static

from amago_cli.tui.episode_text import step_lines, succeeded
from amago_cli.tui.reader import Loader
from amago_cli.tui.snapshot import Rollouts, Snapshot
from amago_cli.tui.text import clean
from amago_cli.tui.widgets.episode_list import EpisodeList, columns
from amago_cli.tui.widgets.stage import Stage
from store.errors import StorageError
from store.layout import RunPaths
from store.rollouts import RolloutReader
from store.shard_reader import read_trajectories
from store.trajectory import Trajectory

PLAY_SPEED = 8.0  # steps per second
_FILTERS = ((None, "all"), (1, "successes"), (0, "failures"))


class Found(NamedTuple):
    """A trajectory, or why it cannot be shown."""

    trajectory: Trajectory | None
    problem: str


class EpisodeScreen(Screen[None]):
    """Arrows choose and step; reading happens elsewhere, so that a slow disk never stops a key."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (70, "-normal")]  # noqa: RUF012
    BINDINGS = [  # noqa: RUF012
        Binding("escape,b", "dismiss", "Back"),
        Binding("up", "choose(-1)", "Newer", show=False),
        Binding("down", "choose(1)", "Older", show=False),
        Binding("pageup", "choose(-20)", show=False),
        Binding("pagedown", "choose(20)", show=False),
        Binding("left", "step(-1)", "Back a step", show=False),
        Binding("right", "step(1)", "Step"),
        Binding("shift+left", "step(-10)", show=False),
        Binding("shift+right", "step(10)", show=False),
        Binding("home", "begin", "First", show=False),
        Binding("end", "end", "Last", show=False),
        Binding("space", "play", "Play"),
        Binding("f", "filter", "Filter"),
        Binding("v", "split", "Train/eval"),
    ]

    class Loaded(Message):
        """A trajectory was read."""

        def __init__(self, found: Found) -> None:
            super().__init__()
            self.found = found

    class Indexed(Message):
        """The evaluation's trajectories were listed."""

        def __init__(self, rollouts: Rollouts) -> None:
            super().__init__()
            self.rollouts = rollouts

    def __init__(self, snapshot: Snapshot) -> None:
        super().__init__()
        self._paths = snapshot.paths
        self._rollouts = snapshot.rollouts
        self._training = True
        self._filter = 0
        self._loader = Loader()
        self._trajectory: Trajectory | None = None
        self._t = 0
        self._is_playing = False
        self._list, self._player = EpisodeList(id="list"), Vertical(id="player")
        self._stage, self._words = Stage(), Static(id="words", markup=False)

    def compose(self) -> ComposeResult:
        with Horizontal(id="split"):
            yield self._list
            with self._player:
                yield self._stage
                yield self._words
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        """Begin with the newest."""
        self.set_interval(1 / PLAY_SPEED, self._tick)
        self._fill()

    def show(self, snapshot: Snapshot) -> None:
        """New rollouts may have come; the marked one stays."""
        if self._training and snapshot.rollouts is not self._rollouts:
            self._rollouts = snapshot.rollouts
            self._fill()

    def on_episode_list_chosen(self, message: EpisodeList.Chosen) -> None:
        """Read it."""
        index, i = self._rollouts.index, message.position
        assert index is not None
        path, row = index.paths[index.shard[i]], int(index.row[i])
        self._ask(lambda: self.Loaded(_load(path, row)))

    def on_episode_screen_loaded(self, message: Loaded) -> None:
        """Show its first step."""
        self._trajectory, self._t, self._is_playing = message.found.trajectory, 0, False
        if message.found.problem:
            self._words.update(message.found.problem)
            self._stage.show_state(None)
        self._draw()

    def on_episode_screen_indexed(self, message: Indexed) -> None:
        """Show the evaluation's list."""
        if not self._training:
            self._rollouts = message.rollouts
            self._fill()

    def action_choose(self, by: int) -> None:
        """Another episode."""
        self._list.move(by)

    def action_step(self, by: int) -> None:
        """So many steps on; stops playing."""
        self._is_playing = False
        self._go(self._t + by)

    def action_begin(self) -> None:
        """The first state."""
        self._go(0)

    def action_end(self) -> None:
        """The last state."""
        if self._trajectory is not None:
            self._go(self._trajectory.length)

    def action_play(self) -> None:
        """Play on, or hold; from the beginning when it is over."""
        if self._trajectory is None:
            return
        if not self._is_playing and self._t == self._trajectory.length:
            self._t = 0
        self._is_playing = not self._is_playing

    def action_filter(self) -> None:
        """All, successes, failures, all."""
        self._filter = (self._filter + 1) % len(_FILTERS)
        self._fill()

    def action_split(self) -> None:
        """Training's episodes, or those of evaluations."""
        self._training = not self._training
        shown = self.app.snapshot  # type: ignore[attr-defined]
        if self._training and shown is not None:
            self._rollouts = shown.rollouts
            self._fill()
        else:
            paths, names, least = self._paths, self._rollouts.names, self._rollouts.success_return
            self._ask(lambda: self.Indexed(_evaluated(paths, names, least)))

    def _ask(self, work: Callable[[], Message]) -> None:
        self._loader.ask(work, self.post_message)

    def _fill(self) -> None:
        index = self._rollouts.index
        success = np.empty(0, np.int64) if index is None else succeeded(index, self._rollouts.success_return)
        wanted, words = _FILTERS[self._filter]
        self._list.fill(index, success, wanted)
        split = "training" if self._training else "evaluation"
        self._list.border_title = f"{split}, {words}: {len(self._list):,}"
        self._list.border_subtitle = columns(index)
        if not len(self._list):
            self._trajectory = None
            self._stage.show_state(None)
            self._words.update("nothing stored yet" if not len(success) else "none of this kind")

    def _tick(self) -> None:
        if self._is_playing and self._trajectory is not None:
            self._go(self._t + 1)
            self._is_playing = self._t < self._trajectory.length

    def _go(self, t: int) -> None:
        if self._trajectory is not None:
            self._t = min(max(t, 0), self._trajectory.length)
            self._draw()

    def _draw(self) -> None:
        if self._trajectory is None:
            return
        self._stage.show_state(self._trajectory, self._t)
        lines = step_lines(self._trajectory, self._t, self._rollouts.names)
        self._words.update("\n".join(lines), layout=False)
        self._player.border_title = f"episode {self._trajectory.info.number}"


def _load(path: Path, row: int) -> Found:
    try:
        return Found(read_trajectories(path, [row])[0], "")
    except StorageError as error:
        return Found(None, clean(str(error)))


def _evaluated(paths: RunPaths, names: tuple[str, ...], success_return: float | None) -> Rollouts:
    index = RolloutReader(paths.rollouts("eval")).index()
    return Rollouts(index=index, names=names, success_return=success_return)
