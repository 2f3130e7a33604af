"""The newest stored trajectory played step by step: what the agent saw, was told and did."""

from __future__ import annotations

import os
import time

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from amago_cli.tui.episode_text import first_look, step_lines
from amago_cli.tui.snapshot import Snapshot
from amago_cli.tui.text import fitted
from amago_cli.tui.widgets.stage import Stage
from store.trajectory import Trajectory

STEPS_PER_SECOND = 1.0 if os.environ.get("SSH_CONNECTION") else 2.0
LONGEST_SHOW = 45.0  # seconds after which a newer trajectory takes over
_NOTHING = "no rollout stored yet"
PAUSE_AT_END = 4  # ticks that the last state stays


class World(Vertical):
    """Plays one trajectory to its end, or for a while, then the newest one."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.border_title = "the agent's world"
        self._stage, self._caption = Stage(), Static(_NOTHING, id="caption", markup=False)
        self._trajectory: Trajectory | None = None
        self._newest: Trajectory | None = None
        self._names: tuple[str, ...] = ()
        self._t = 0
        self._since = 0.0  # monotonic seconds when it began to play

    def compose(self) -> ComposeResult:
        yield self._stage
        yield self._caption

    def on_mount(self) -> None:
        """Start the clock of the play."""
        self.set_interval(1 / STEPS_PER_SECOND, self._tick)

    def show(self, snapshot: Snapshot) -> None:
        """Take in a snapshot; a newer trajectory has its turn later."""
        self._newest, self._names = snapshot.rollouts.newest, snapshot.rollouts.names
        if self._trajectory is None or snapshot.rollouts.newest is None:
            self._begin()

    def _tick(self) -> None:
        if self._trajectory is None or not self.display or not self.screen.is_current:
            return
        self._t += 1
        ended = self._t >= self._trajectory.length + PAUSE_AT_END
        long = time.monotonic() - self._since > LONGEST_SHOW and self._newest is not self._trajectory
        if ended or long:
            self._begin()
        else:
            self._draw()

    def _begin(self) -> None:
        self._trajectory, self._since = self._newest, time.monotonic()
        if self._trajectory is None:
            self._stage.show_state(None)
            self._caption.update(_NOTHING)
            return
        self._t = first_look(self._trajectory)
        self.border_subtitle = f"rollout {self._trajectory.info.number}"
        self._draw()

    def _draw(self) -> None:
        assert self._trajectory is not None
        t = min(self._t, self._trajectory.length)
        self._stage.show_state(self._trajectory, t)
        width = max(self._caption.size.width, 1)
        lines = [fitted(line, width) for line in step_lines(self._trajectory, t, self._names, width)]
        self._caption.update(Content("\n".join(lines)), layout=False)
