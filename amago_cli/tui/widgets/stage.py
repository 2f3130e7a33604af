"""One state of a trajectory as the agent saw it: half blocks in colour, or characters where colours are poor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from rich.segment import Segment
from textual.events import Resize
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from agent.envs.picture import glyphs, picture
from amago_cli.tui.half_blocks import block_cells, block_segments, fitted
from store.trajectory import Trajectory

_CELLS = 9  # along the side of a picture, see `agent.envs.picture`
_SMALLEST_UNIT, _LARGEST_UNIT = 2, 16  # pixels along a cell's side


@dataclass(frozen=True, eq=False)
class Drawing:
    """What is seen: a number per character cell, equal where the cells look alike."""

    cells: np.ndarray  # (rows, columns) int64: colours of two pixels, or a character
    is_text: bool

    def segments(self, row: int) -> list[Segment]:
        """A row in the terminal's terms."""
        if self.is_text:
            return [Segment("".join(map(chr, self.cells[row].tolist())))]
        return block_segments(self.cells[row])


class Stage(Widget):
    """Draws and sends only the cells that differ from the state shown before."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._scene: tuple[Trajectory, int] | None = None
        self._drawing = _written("")

    def show_state(self, trajectory: Trajectory | None, t: int = 0) -> None:
        """Show state `t`, 0..T; nothing without a trajectory."""
        self._scene = (trajectory, t) if trajectory is not None else None
        self._draw()

    def on_resize(self, _: Resize) -> None:
        """Fit into the new size."""
        self._draw()
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width, style = self.size.width, self.rich_style
        if y >= len(self._drawing.cells):
            return Strip.blank(width, style)
        strip = Strip([Segment(" " * self._left), *self._drawing.segments(y)])
        return strip.apply_style(style).adjust_cell_length(width, style)

    @property
    def _left(self) -> int:
        """Columns before the drawing, which stands in the middle."""
        return max((self.size.width - self._drawing.cells.shape[1]) // 2, 0)

    def _draw(self) -> None:
        before, self._drawing = self._drawing, self._look()
        old, new = before.cells, self._drawing.cells
        if before.is_text != self._drawing.is_text or old.shape != new.shape:
            self.refresh()
            return
        for y, x, width in changed_spans(old, new):
            self.refresh(Region(self._left + x, y, width, 1))

    def _look(self) -> Drawing:
        if self._scene is None or not self.size.area:
            return _written("")
        trajectory, t = self._scene
        environment, observations = trajectory.info.environment, trajectory.observations
        if getattr(self.app, "colourful", True):
            width, height = self.size
            unit = min(max(min(width, 2 * height) // _CELLS, _SMALLEST_UNIT), _LARGEST_UNIT)
            frame = picture(environment, observations, t, unit)
            if frame is not None:
                return Drawing(block_cells(fitted(frame, width, height)), is_text=False)
        rows = glyphs(environment, observations, t)
        return _written(*(" ".join(row) for row in rows)) if rows else _written("nothing to draw")


def changed_spans(before: np.ndarray, after: np.ndarray) -> list[tuple[int, int, int]]:
    """For each row in which two (rows, columns) drawings differ: row, first such column, how many to the last."""
    spans = []
    for y, row in enumerate(before != after):
        columns = np.flatnonzero(row)
        if len(columns):
            spans.append((y, int(columns[0]), int(columns[-1] - columns[0]) + 1))
    return spans


def _written(*rows: str) -> Drawing:
    """Rows of text of one length."""
    return Drawing(np.array([[ord(character) for character in row] for row in rows], np.int64), is_text=True)
