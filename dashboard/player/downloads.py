"""What of an episode can be taken along: the frame as PNG, the episode as GIF or MP4. Made when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from agent.video import gif_bytes, mp4_bytes
from dashboard.player.episode import Episode
from dashboard.player.sprites import frame_png, frames_between

SIZES = {"small": 16, "medium": 32, "large": 64}  # pixels along a cell of Crafter
RATES = (5, 10, 20, 30)  # frames per second


def downloads(shown: Episode, t: int) -> None:
    """Buttons behind a popover; the caller has made sure that the episode can be drawn."""
    with st.popover("Download", icon=":material/download:", width="stretch"):
        size = SIZES[st.segmented_control("Size", list(SIZES), default="medium", key="replay size") or "medium"]
        fps = st.segmented_control("Frames per second", RATES, default=10, key="replay rate") or 10
        name = f"{shown.run}-{shown.split}-{shown.number}"
        _button("This frame (PNG)", partial(frame_png, shown.trajectory, t, size), f"{name}-{t}.png", "image/png")
        _button("Episode (GIF)", partial(_video, gif_bytes, shown, size, fps), f"{name}.gif", "image/gif")
        _button("Episode (MP4)", partial(_video, mp4_bytes, shown, size, fps), f"{name}.mp4", "video/mp4")
        st.caption(f"{shown.trajectory.length + 1:,} frames; long episodes take a while.")


def _video(encode: Callable[..., bytes], shown: Episode, unit: int, fps: int) -> bytes:
    return encode(frames_between(shown.trajectory, 0, shown.trajectory.length + 1, unit), fps)


def _button(label: str, make: Callable[[], bytes], name: str, mime: str) -> None:
    """A download whose content is made by the click, in place of one for every frame that goes by."""
    st.download_button(label, make, name, mime, on_click="ignore", width="stretch")
