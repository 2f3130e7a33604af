"""The top of the screen: which run, how it is, how far it is and how fast it goes."""

from __future__ import annotations

import time

from textual.content import Content
from textual.widget import Widget

from amago_cli.output import duration, size
from amago_cli.tui.orders import ACTIVE
from amago_cli.tui.snapshot import Snapshot
from amago_cli.tui.text import STATE_MARKS, bar, fitted, percent
from store.status import Status

STALLED_AFTER = 3.0  # seconds without a new snapshot
SILENT_AFTER = 30.0  # seconds without a heartbeat of a trainer that should be at work

_LEAST_ABOUT = 20  # characters of environment and instruction beside which the device is named

STATE_STYLES = {
    "running": "bold $success",
    "paused": "bold $warning",
    "finished": "bold $success",
    "stopped": "bold $warning",
    "crashed": "bold $error",
    "diverged": "bold $error",
    "unknown": "bold",
}


class RunHeader(Widget):
    """Three lines; `show` and `tick` redraw them only when a character changed."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._snapshot: Snapshot | None = None
        self._written = ""

    def show(self, snapshot: Snapshot) -> None:
        """Take in a snapshot."""
        self._snapshot = snapshot
        self.tick()

    def tick(self) -> None:
        """Time went by: ages may have grown."""
        if self._content().plain != self._written:
            self.refresh()

    def render(self) -> Content:
        content = self._content()
        self._written = content.plain
        return content

    def _content(self) -> Content:
        if self._snapshot is None:
            return Content("reading ...")
        width, plain = self.size.width, bool(getattr(self.app, "plain", False))
        return Content("\n").join(
            [title(self._snapshot, width), figures(self._snapshot, width), progress(self._snapshot, width, plain)]
        )


def title(snapshot: Snapshot, width: int) -> Content:
    """Name, state, environment and instruction; at the right the device, or a warning where what is shown is old."""
    state = snapshot.state
    warning = _staleness(snapshot)
    about = snapshot.about
    wanted = f" · {about.instruction}" if about.instruction else ""
    word = f"{STATE_MARKS[state]} {state}"
    name = fitted(snapshot.paths.name, min(len(snapshot.paths.name), max(width - len(word) - len(warning) - 3, 1)))
    room = max(width - len(name) - len(word) - len(warning) - 5, 0)
    device = "" if warning or snapshot.status is None else f"  {_device(snapshot.status)}"
    device = device if room - len(device) >= _LEAST_ABOUT else ""
    rest = f"  {fitted(about.environment + wanted, room - len(device))}{device}" if room else ""
    return Content.assemble(
        (f" {name} ", "bold reverse"), " ", (word, STATE_STYLES[state]), rest, (warning, "bold $error")
    )


def figures(snapshot: Snapshot, width: int) -> Content:
    """Phase, speeds, age of the checkpoint, counts: as many as fit, the most telling first."""
    status = snapshot.status
    if status is None:
        return Content("no status yet: the trainer writes its first one within seconds of its start")
    parts = [
        status.phase if snapshot.state == "running" else "",
        f"{status.step:,} steps",
        *(_speeds(status) if snapshot.state == "running" and status.phase != "starting" else []),
        _checkpoint(snapshot),
        f"{status.update:,} updates",
        f"{status.rollouts:,} rollouts",
    ]
    line = ""
    for part in filter(None, parts):
        longer = f"{line} · {part}" if line else part
        line = longer if len(longer) <= width else line
    return Content(line)


def progress(snapshot: Snapshot, width: int, plain: bool) -> Content:
    """The bar of the budget with time so far and time left; without a budget the time alone."""
    status = snapshot.status
    if status is None:
        return Content("")
    elapsed = f"{duration(status.elapsed)} elapsed"
    if snapshot.state in ACTIVE and status.phase == "starting":
        return Content("the trainer is starting: half a minute where Crafter has to be compiled first")
    if status.fraction < 0:
        return Content(f"{elapsed}, no budget: it trains until it is stopped" if snapshot.state in ACTIVE else elapsed)
    words = f" {percent(status.fraction)}  {elapsed}"
    if status.remaining >= 0 and snapshot.state in ACTIVE:
        words += f"  {duration(status.remaining)} left"
    room = width - len(words)
    filled = (bar(status.fraction, room, plain=plain), "$primary on $surface-lighten-2") if room > 4 else ""
    return Content.assemble(filled, words)


def _staleness(snapshot: Snapshot) -> str:
    age = time.monotonic() - snapshot.taken
    if age >= STALLED_AFTER:
        return f" data {duration(age)} old"
    status = snapshot.status
    silent = time.time() - status.heartbeat if status and snapshot.state in ACTIVE else 0.0
    return f" no heartbeat for {duration(silent)}" if silent >= SILENT_AFTER else ""


def _speeds(status: Status) -> list[str]:
    return [f"{status.steps_per_second:,.0f} steps/s", f"{status.updates_per_second:.1f} updates/s"]


def _checkpoint(snapshot: Snapshot) -> str:
    if snapshot.checkpointed is None:
        return "no checkpoint yet"
    return f"checkpoint {duration(max(time.time() - snapshot.checkpointed, 0.0))} ago"


def _device(status: Status) -> str:
    gpu = f", GPU {size(status.gpu_bytes)}" if status.gpu_bytes else ""
    memory = f"{size(status.memory_bytes)}{gpu}" if status.memory_bytes else ""
    return " ".join(filter(None, (status.device, memory)))
