"""One state of a trajectory as the agent saw it: half blocks in colour, or characters where colours are poor."""

from __future__ import annotations

from rich.segment import Segment
from textual.events import Resize
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from agent.envs.picture import glyphs, picture
from amago_cli.tui.half_blocks import block_rows, fitted
from store.trajectory import Trajectory

_CELLS = 9  # along the side of a picture, see `agent.envs.picture`
_SMALLEST_UNIT, _LARGEST_UNIT = 2, 16  # pixels along a cell's side


class Stage(Widget):
    """Redraws only the rows that differ from the state shown before."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._scene: tuple[Trajectory, int] | None = None
        self._strips: list[Strip] = []

    def show_state(self, trajectory: Trajectory | None, t: int = 0) -> None:
        """Show state `t`, 0..T; nothing without a trajectory."""
        self._scene = (trajectory, t) if trajectory is not None else None
        self._draw()

    def on_resize(self, _: Resize) -> None:
        """Fit into the new size."""
        self._draw()

    def render_line(self, y: int) -> Strip:
        return self._strips[y] if y < len(self._strips) else Strip.blank(self.size.width, self.rich_style)

    def _draw(self) -> None:
        before, self._strips = self._strips, [self._centred(row) for row in self._rows()[: self.size.height]]
        for y in range(max(len(before), len(self._strips))):
            if before[y : y + 1] != self._strips[y : y + 1]:
                self.refresh(Region(0, y, self.size.width, 1))

    def _rows(self) -> list[list[Segment]]:
        if self._scene is None or not self.size.area:
            return []
        trajectory, t = self._scene
        environment, observations = trajectory.info.environment, trajectory.observations
        if getattr(self.app, "colourful", True):
            width, height = self.size
            unit = min(max(min(width, 2 * height) // _CELLS, _SMALLEST_UNIT), _LARGEST_UNIT)
            frame = picture(environment, observations, t, unit)
            if frame is not None:
                return block_rows(fitted(frame, width, height))
        rows = glyphs(environment, observations, t)
        return [[Segment(" ".join(row))] for row in rows] if rows else [[Segment("nothing to draw")]]

    def _centred(self, row: list[Segment]) -> Strip:
        width = self.size.width
        strip = Strip(row)
        left = max((width - strip.cell_length) // 2, 0)
        padded = Strip([Segment(" " * left), *row]).apply_style(self.rich_style) if left else strip
        return padded.adjust_cell_length(width, self.rich_style)
