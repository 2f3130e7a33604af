"""Two attempts in one player: on one clock or each with its own cursor, aligned by step or by subgoal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st

from dashboard import queries
from dashboard.player.component import Pane, Place, player, reported
from dashboard.player.episode import episode
from dashboard.player.tracks import Clock, by_step, by_subgoal, clock_at, first_divergence, frame_at, whole_spans
from dashboard.wording import count
from store.layout import Split

BY_STEP, BY_SUBGOAL = "step by step", "subgoal by subgoal"
_PLAYER = "attempts player"
_SEEN, _ORDER = "attempts seen", "attempts order"  # keys of the session's memory


@dataclass(frozen=True)
class _Seen:
    """What is looked at, and where."""

    view: tuple[object, ...]  # attempts and alignment: another one begins at its beginning
    place: Place


@st.fragment
def beside(name: str, split: Split, which: Sequence[tuple[int, int]]) -> None:
    """The attempts `which` (episode number, attempt from 0) of a run; only this part runs again when a cursor moves."""
    panes = [_pane(name, split, number, attempt) for number, attempt in which]
    spans = [pane.span for pane in panes]
    trajectories = [pane.episode.trajectory for pane in panes]
    row = st.container(horizontal=True, vertical_alignment="bottom")
    how = row.segmented_control(
        "Aligned", (BY_STEP, BY_SUBGOAL), default=BY_STEP, required=True, key="attempts aligned"
    )
    locked = row.toggle("One cursor for both", value=True, key="attempts locked")
    clock = by_subgoal(trajectories, spans) if how == BY_SUBGOAL else by_step(spans)
    seen = _seen(panes, (*(pane.episode.content for pane in panes), *spans, how, locked))
    with row:
        _divergence(panes, clock, first_divergence(trajectories, spans), locked=locked)
    order = st.session_state[_ORDER]
    player(panes, clock, seen.place, order=order, locked=locked, key=_PLAYER, on_move=partial(_moved, panes))
    if locked:
        st.caption("An attempt that is over, or through with a subgoal, waits for the other one.")
    else:
        st.caption("Click a picture to choose the cursor that keys, slider and play move.")


def _pane(name: str, split: Split, number: int, attempt: int) -> Pane:
    shown = episode(name, split, number, queries.trajectory(name, split, number), queries.spec(name, split, number))
    span = whole_spans(shown.trajectory)[attempt]
    return Pane(
        shown,
        span,
        f"Episode {number:,}, attempt {attempt + 1}: {count(shown.trajectory.attempts[attempt].length, 'step')}",
    )


def _seen(panes: Sequence[Pane], view: tuple[object, ...]) -> _Seen:
    """Where the player is; at the beginning, by a new order, when something else is to be looked at."""
    seen = st.session_state.get(_SEEN)
    if seen is None or seen.view != view:
        seen = _Seen(view, Place(0, tuple(pane.span.first for pane in panes)))
        _show(seen)
    return seen


def _show(seen: _Seen) -> None:
    """Move the cursors from the server's side."""
    st.session_state[_SEEN] = seen
    st.session_state[_ORDER] = st.session_state.get(_ORDER, 0) + 1


def _moved(panes: Sequence[Pane]) -> None:
    """The player has come to rest somewhere else."""
    place = reported(_PLAYER, panes)
    if place is not None:
        st.session_state[_SEEN] = _Seen(st.session_state[_SEEN].view, place)


def _divergence(panes: Sequence[Pane], clock: Clock, steps: int | None, *, locked: bool) -> None:
    """A button that leads to where the attempts part."""
    if steps is None:
        st.caption("Both are the same from the first step to the last.")
        return
    frames = tuple(pane.span.first + steps for pane in panes)

    def jump() -> None:
        at = max(clock_at(track, frame) for track, frame in zip(clock.tracks, frames, strict=True))
        shown = tuple(frame_at(track, at) for track in clock.tracks) if locked else frames
        _show(_Seen(st.session_state[_SEEN].view, Place(at, shown)))

    st.button(f"First difference, after {count(steps, 'step')}", icon=":material/call_split:", on_click=jump)
