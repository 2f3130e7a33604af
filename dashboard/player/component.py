"""The player as a Streamlit component: mounts it, serves the sheets it asks for, and says where it came to rest.

The browser plays on its own; the server hears of a place only when playing stops or somebody jumps. Whoever moves the
cursor from the server's side gives a new `order`. Knows no pages.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.components.v2 import component
from streamlit.runtime import get_instance

from dashboard.player.episode import Episode, facts, marks
from dashboard.player.sprites import Sheet, frame_png, sheet_of, sheet_png
from dashboard.player.tracks import Clock, Span

_HERE = Path(__file__).parent
_SCRIPTS = ("tiles.js", "pane.js", "player.js")
_UNDRAWN = Sheet(frames=200, columns=1, width=1, height=1, unit=1)  # frames that are words only
SERVED = 4  # sheets offered at a time: those in view, and those that come next


@dataclass(frozen=True, eq=False)
class Pane:
    """One picture of the player: a span of an episode."""

    episode: Episode
    span: Span
    title: str = ""


@dataclass(frozen=True)
class Place:
    """Where the player is: a position of the clock, and the frame of every pane."""

    clock: int
    frames: tuple[int, ...]


def player(
    panes: Sequence[Pane],
    clock: Clock,
    place: Place,
    *,
    order: object,
    locked: bool,
    key: str,
    on_move: Callable[[], None],
) -> None:
    """Show the panes. The browser goes to `place` when `order` is new; `on_move` runs when it has moved by itself."""
    episodes = {pane.episode.content: pane.episode for pane in panes}
    sources = {content: i for i, content in enumerate(episodes)}
    shown = list(episodes.values())
    content = " ".join(episodes)
    here = [(sources[pane.episode.content], frame) for pane, frame in zip(panes, place.frames, strict=True)]
    _component()(
        key=key,
        data={
            "content": content,
            "order": f"{content} {order}",
            "clock": place.clock,
            "frames": list(place.frames),
            "locked": locked,
            "length": clock.length,
            "sources": [_source(each) for each in shown],
            "panes": [
                {
                    "title": pane.title,
                    "source": sources[pane.episode.content],
                    "first": pane.span.first,
                    "last": pane.span.last,
                    "segments": [list(segment) for segment in track],
                    "marks": _marks(pane.episode.content, pane.span, pane.episode),
                }
                for pane, track in zip(panes, clock.tracks, strict=True)
            ],
            "tiles": [_tile(shown[source], source, tile, key) for source, tile in _wanted(key, content, shown)],
            "stills": [_still(shown[source], source, frame) for source, frame in here],
        },
        on_place_change=on_move,
        on_want_change=lambda: None,
    )


def reported(key: str, panes: Sequence[Pane]) -> Place | None:
    """The place where the player says it is; None before it says so, or when it speaks of another episode."""
    place = (st.session_state.get(key) or {}).get("place") or {}
    content = " ".join(dict.fromkeys(pane.episode.content for pane in panes))
    frames = place.get("frames")
    if place.get("content") != content or not isinstance(frames, list) or len(frames) != len(panes):
        return None
    inside = [min(max(int(f), pane.span.first), pane.span.last) for f, pane in zip(frames, panes, strict=True)]
    return Place(int(place.get("clock", 0)), tuple(inside))


def _component() -> Callable[..., Any]:
    """The mounting command. Registered anew for every script run, since a registry lives as long as its server only."""
    html, css, js = _assets()
    return component("amago_player", html=html, css=css, js=js)


@lru_cache(maxsize=1)
def _assets() -> tuple[str, str, str]:
    script = "\n".join((_HERE / name).read_text("utf-8") for name in _SCRIPTS)
    return (_HERE / "player.html").read_text("utf-8"), (_HERE / "player.css").read_text("utf-8"), script


def _wanted(key: str, content: str, shown: Sequence[Episode]) -> list[tuple[int, int]]:
    """The sheets to offer: the last ones asked for, as (source, sheet)."""
    served = st.session_state.setdefault(f"{key} sheets", {"content": content, "sheets": []})
    if served["content"] != content:
        served.update(content=content, sheets=[])
    asked = (st.session_state.get(key) or {}).get("want") or []
    for source, tile in ((int(source), int(tile)) for source, tile in asked):
        if 0 <= source < len(shown) and 0 <= tile <= shown[source].trajectory.length // _layout(shown[source]).frames:
            served["sheets"] = [each for each in served["sheets"] if each != (source, tile)] + [(source, tile)]
    served["sheets"] = served["sheets"][-SERVED:]
    return served["sheets"]


def _source(shown: Episode) -> dict[str, Any]:
    sheet = _layout(shown)
    size = {"frames": sheet.frames, "columns": sheet.columns, "width": sheet.width, "height": sheet.height}
    return {**size, "pictured": sheet is not _UNDRAWN}


def _layout(shown: Episode) -> Sheet:
    return _sheet(shown.content, shown) or _UNDRAWN


@st.cache_resource(max_entries=64, show_spinner=False)
def _sheet(content: str, _shown: Episode) -> Sheet | None:
    return sheet_of(_shown.trajectory)


@st.cache_resource(max_entries=24, show_spinner=False)
def _sheet_png(content: str, number: int, _shown: Episode) -> bytes:
    return sheet_png(_shown.trajectory, _layout(_shown), number)


@st.cache_resource(max_entries=24, show_spinner=False)
def _words(content: str, number: int, _shown: Episode) -> dict[str, list[Any]]:
    sheet = _layout(_shown)
    start = number * sheet.frames
    stop = min(start + sheet.frames, _shown.trajectory.length + 1)
    return facts(_shown, start, stop, pictured=sheet is not _UNDRAWN)


@st.cache_resource(max_entries=64, show_spinner=False)
def _marks(content: str, span: Span, _shown: Episode) -> list[dict[str, Any]]:
    return marks(_shown, span)


def _tile(shown: Episode, source: int, number: int, key: str) -> dict[str, Any]:
    """A sheet with its words. Its place among the media is used again, so a session never holds more than a few."""
    sheet = _layout(shown)
    pictured = sheet is not _UNDRAWN
    url = ""
    if pictured:
        place = f"{key} {source} {number % SERVED}"
        url = get_instance().media_file_mgr.add(_sheet_png(shown.content, number, shown), "image/png", place)
    return {"source": source, "tile": number, "url": url, "facts": _words(shown.content, number, shown)}


def _still(shown: Episode, source: int, frame: int) -> dict[str, Any]:
    """The one frame the cursor is on, small enough to travel within the message: it is there before its sheet is."""
    sheet = _layout(shown)
    pictured = sheet is not _UNDRAWN
    url = ""
    if pictured:
        picture = base64.b64encode(frame_png(shown.trajectory, frame, sheet.unit)).decode()
        url = f"data:image/png;base64,{picture}"
    return {"source": source, "frame": frame, "url": url, "facts": facts(shown, frame, frame + 1, pictured=pictured)}
