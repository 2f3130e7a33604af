"""A list of stored trajectories of any length: only the lines that are seen are made."""

from __future__ import annotations

import numpy as np
from rich.segment import Segment
from textual.events import Click
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from amago_cli.tui.text import clean, compact, fitted
from store.rollout_index import Index

_SIGNS = {1: "✓", 0: "✗", -1: " "}
_GAME = 12  # characters of a game's name


def columns(index: Index | None) -> str:
    """What the lines of `index` say, from left to right."""
    if index is None or not len(index):
        return ""
    if index.game[-1]:
        return "game, return, steps, end"
    return "goals, steps, return, end" if index.num_subgoals[-1] else "steps, return, end"


class EpisodeList(ScrollView, can_focus=False):
    """The newest on top. Posts `Chosen` when another one is marked."""

    class Chosen(Message):
        """A trajectory was marked."""

        def __init__(self, position: int) -> None:
            super().__init__()
            self.position = position  # in the index

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._index: Index | None = None
        self._success = np.empty(0, np.int64)
        self._positions = np.empty(0, np.int64)  # newest first
        self._marked = 0

    def fill(self, index: Index | None, success: np.ndarray, wanted: int | None) -> None:
        """Show the trajectories of `index` whose entry in `success` (N,) is `wanted`, or all; the marked one stays."""
        kept = self.position
        self._index, self._success = index, success
        positions = np.arange(len(success))[::-1]
        self._positions = positions if wanted is None else positions[success[positions] == wanted]
        same = np.flatnonzero(self._positions == kept)
        self._marked = int(same[0]) if len(same) else 0
        self.virtual_size = Size(self.size.width, len(self._positions))
        self.refresh()
        if not len(same) and len(self._positions):
            self.mark(0)

    @property
    def position(self) -> int | None:
        """The marked trajectory's place in the index."""
        return int(self._positions[self._marked]) if self._marked < len(self._positions) else None

    def __len__(self) -> int:
        return len(self._positions)

    def move(self, by: int) -> None:
        """Mark the one so many lines below."""
        if len(self):
            self.mark(min(max(self._marked + by, 0), len(self) - 1))

    def mark(self, line: int) -> None:
        """Mark this line, scroll to it, and say so."""
        self._marked = line
        self.scroll_to_region(Region(0, line, 1, 1), animate=False)
        self.refresh()
        self.post_message(self.Chosen(int(self._positions[line])))

    def on_click(self, event: Click) -> None:
        """Mark the line that was clicked."""
        line = event.y - self.gutter.top + int(self.scroll_y)
        if 0 <= line < len(self):
            self.mark(line)

    def render_line(self, y: int) -> Strip:
        line, width = y + int(self.scroll_y), self.size.width
        if line >= len(self):
            empty = "no such episode" if y == 0 and not len(self) else ""
            return Strip([Segment(fitted(empty, width), self.rich_style)])
        style = self.rich_style + self.rich_style.__class__(reverse=True) if line == self._marked else self.rich_style
        return Strip([Segment(fitted(self._text(int(self._positions[line]), line == self._marked), width), style)])

    def _text(self, i: int, marked: bool) -> str:
        assert self._index is not None
        index = self._index
        sign = _SIGNS[int(self._success[i])]
        goals = f"{index.progress[i]}/{index.num_subgoals[i]} " if index.num_subgoals[i] else ""
        end = clean(str(index.cause[i]))
        begin = f"{'>' if marked else ' '}{sign}{index.number[i]:>6} "
        ret = compact(float(index.ret[i]))
        if index.game[i]:
            return f"{begin}{fitted(clean(str(index.game[i])), _GAME)} {ret:>7} {index.length[i]:>5}  {end}"
        return f"{begin}{goals}{index.length[i]:>5} {ret:>7}  {end}"
