"""Crafter's technology tree, filling in: the share of recent rollouts that reached each achievement."""

from __future__ import annotations

from typing import Any

import numpy as np
from textual.content import Content

from amago_cli.tui.snapshot import Snapshot
from amago_cli.tui.tech_tree import TREE, UNLOCKED, Branch
from amago_cli.tui.text import bar, fitted, percent
from amago_cli.tui.widgets.panel import Panel
from store.metrics import Series

RECENT = 20  # newest values that count, each a mean over the rollouts of a cycle
_BESIDE = 7  # characters of the percentage
_LABEL = 32  # the deepest one, "make iron pickaxe"


class TechTree(Panel):
    """A line per achievement, indented below what opens it."""

    TITLE = "technology tree, share of recent rollouts"

    def pick(self, snapshot: Snapshot) -> Any:
        return snapshot.metrics, snapshot.is_crafter

    def render(self) -> Content:
        metrics, is_crafter = self.shown or ({}, True)
        if not is_crafter:
            return Content("only Crafter has one")
        lines = [self._line(branch, metrics.get(UNLOCKED + branch.achievement)) for branch in TREE]
        return Content("\n").join(lines[: self.size.height])

    def _line(self, branch: Branch, series: Series | None) -> Content:
        share, ever = recent_share(series)
        mark = "●" if ever else "○"
        indent = "  " * branch.depth
        label = fitted(f"{indent}{mark} {branch.achievement.replace('_', ' ')}", min(_LABEL, self.size.width - _BESIDE))
        style = "bold" if ever else "$text-muted"
        if share is None:
            return Content.assemble((label, style), " no data"[: max(self.size.width - len(label), 0)])
        room = self.size.width - len(label) - _BESIDE - 1
        filled = (bar(share, room, plain=self.plain), "$success on $surface-lighten-2") if room > 2 else ""
        return Content.assemble((label, style), " ", filled, f" {percent(share)}"[: self.size.width - len(label) - 1])


def recent_share(series: Series | None) -> tuple[float | None, bool]:
    """Mean of the newest values, None without a finite one; and whether the achievement was ever reached."""
    if series is None:
        return None, False
    finite = series.value[np.isfinite(series.value)]
    return (float(finite[-RECENT:].mean()) if len(finite) else None), bool((finite > 0).any())
