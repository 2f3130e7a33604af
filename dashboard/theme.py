"""One look for every page: colours of runs and of outcomes, and how charts are dressed. Knows no data.

Colours work on the light and on the dark page. The colours of the page itself are in theme.toml.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

import altair as alt
import numpy as np
import streamlit as st

ICON_FILE = Path(__file__).with_name("icon.svg")  # an icon by name would be fetched from elsewhere

RUN_COLOURS = ("#3b7dd8", "#e0793a", "#2a9d78", "#c2549b", "#8668d6", "#c39a1f", "#4f9aa8", "#d1495b")
REACHED = "#2a9d78"
MISSED = "#d1495b"
REFERENCE = "#8a919c"  # figures of others, and of the random policy
NO_DATA_COLOUR = "#9aa1ab"
RATE_SCHEME = "viridis"  # from never to always; readable by the colour-blind and in print

AnyChart = alt.Chart | alt.LayerChart | alt.FacetChart

_CHOSEN = "colours of runs"  # key of the session's memory
_STEADY = """<style>
[data-stale] { opacity: 1 !important; transition: none !important; }
[data-testid="stStatusWidget"] { visibility: hidden; }
</style>"""


def run_colours(names: Sequence[str]) -> dict[str, str]:
    """A colour for each run, the same on every page of a session, different ones while there are enough."""
    known = st.session_state.setdefault(_CHOSEN, {})
    known.update(assign_colours(names, known))
    return {name: known[name] for name in names}


def assign_colours(names: Sequence[str], known: dict[str, str]) -> dict[str, str]:
    """Colours of `names`: those of `known`, else the first free one from a place that the name alone decides."""
    chosen = {name: known[name] for name in names if name in known}
    for name in names:
        if name in chosen:
            continue
        start = crc32(name.encode()) % len(RUN_COLOURS)
        around = (*RUN_COLOURS[start:], *RUN_COLOURS[:start])
        taken = set(chosen.values())
        chosen[name] = next((colour for colour in around if colour not in taken), around[0])
    return chosen


def run_scale(colours: dict[str, str]) -> alt.Scale:
    """The colour scale of a chart in which every run has its colour."""
    return alt.Scale(domain=list(colours), range=list(colours.values()))


def top_title(title: str, **axis: Any) -> alt.Axis:
    """A vertical axis whose title stands above it, where it can be read without turning the head."""
    return alt.Axis(title=title, titleAngle=0, titleAlign="left", titleAnchor="end", titleX=-36, titleY=-14, **axis)


def value_scale(values: np.ndarray, *, log: bool = False) -> alt.Scale:
    """The vertical scale of curves with these finite values; equal ones get room around them, where Vega would write
    the one value at every tick."""
    kind = "log" if log else "linear"
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    if low < high:
        return alt.Scale(type=kind, zero=False)
    return alt.Scale(type=kind, domain=[low / 2, 2 * low] if log else [low - (abs(low) or 1), low + (abs(low) or 1)])


def run_legend(runs: int) -> alt.Legend | None:
    """The names of the runs above a chart, or nothing where there is one run."""
    return alt.Legend(title=None, orient="bottom", labelLimit=300, symbolOpacity=1) if runs > 1 else None


def show_chart(chart: AnyChart | alt.HConcatChart, key: str | None = None) -> None:
    """Put a chart on the page over its full width."""
    st.altair_chart(chart, width="stretch", theme="streamlit", key=key)


def steady() -> None:
    """For pages that draw parts of themselves again every few seconds: what is drawn must not fade meanwhile, nor
    Streamlit's sign of work blink."""
    st.html(_STEADY)
