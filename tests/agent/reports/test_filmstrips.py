"""Which episodes are shown, which of their states, and that the pictures are real."""

from __future__ import annotations

import struct
import zlib
from dataclasses import replace
from io import BytesIO

import numpy as np
import pytest
from PIL import Image
from report_data import CRAFTER, LAKE, SAPLING, STONE_IRON, played, trial

from agent.reports import filmstrips as module
from agent.reports.filmstrips import MAX_FRAMES, encode_png, filmstrips
from store.trajectory import Trajectory


def seen(trajectory: Trajectory, seed: int) -> Trajectory:
    """The same episode observed as images, one grey level per step."""
    steps = len(trajectory.is_first)
    grey = np.arange(steps).astype(np.uint8)[:, None, None, None]
    image = np.broadcast_to(grey, (steps, 8, 8, 3))
    info = replace(trajectory.info, seed=seed, number=seed)
    return replace(trajectory, observations={"image": image}, info=info)


def test_a_png_is_what_others_read() -> None:
    image = np.random.default_rng(0).integers(0, 256, (5, 7, 3), dtype=np.uint8)
    data = encode_png(image)
    assert np.array_equal(np.asarray(Image.open(BytesIO(data))), image)
    length, kind = struct.unpack(">I4s", data[8:16])
    assert (length, kind) == (13, b"IHDR")
    assert struct.unpack(">I", data[29:33])[0] == zlib.crc32(data[12:29])


def test_the_best_and_the_worst_of_different_instructions() -> None:
    episodes = [
        seen(played(SAPLING, 1, 9, "completed"), 1),
        seen(played(SAPLING, 1, 5, "completed"), 3),
        seen(played(STONE_IRON, 2, 50, "completed"), 5),
        seen(played(STONE_IRON, 1, 50, "death by zombie"), 7),
        seen(played(STONE_IRON, 0, 40, "time limit"), 9),
        seen(played(SAPLING, 0, 20, "death by lava"), 11),
    ]
    strips = filmstrips(episodes, CRAFTER)
    assert [(strip.kind, strip.seed) for strip in strips] == [("best", 3), ("best", 5), ("worst", 9), ("worst", 11)]
    assert [strip.outcome for strip in strips] == ["success", "success", "time limit", "death by lava"]
    assert strips[1].task == "make stone pickaxe, collect iron" and strips[1].number == 5


def test_one_episode_is_shown_once() -> None:
    (strip,) = filmstrips([seen(played(SAPLING, 1, 9, "completed"), 1)], CRAFTER)
    assert strip.kind == "best"


def test_frames_are_few_and_hold_what_happened() -> None:
    episode = seen(played(STONE_IRON, 2, 200, "completed"), 1)
    progress = np.zeros(201, np.uint8)
    progress[37:], progress[200] = 1, 2
    (strip,) = filmstrips([replace(episode, progress=progress)], CRAFTER)
    times = [frame.t for frame in strip.frames]
    assert times == sorted(set(times)) and times[0] == 0 and times[-1] == 200 and len(times) == MAX_FRAMES
    notes = {frame.t: frame.note for frame in strip.frames if frame.note}
    assert notes == {37: "make stone pickaxe", 200: "collect iron"}
    assert max(np.diff(times)) <= 40
    pixels = np.asarray(Image.open(BytesIO(strip.frames[times.index(37)].png)))
    assert (pixels == 37).all()


def test_a_short_episode_has_a_frame_per_state_and_attempts_are_marked() -> None:
    episode = seen(trial([0.0, 0.0], [0.0, 1.0]), 1)
    (strip,) = filmstrips([episode], LAKE)
    assert [(frame.t, frame.note) for frame in strip.frames] == [(0, ""), (1, ""), (2, "new attempt"), (3, ""), (4, "")]


def test_what_cannot_be_drawn_is_left_out() -> None:
    assert filmstrips([played(SAPLING, 1, 9, "completed")], CRAFTER) == []
    assert filmstrips([], CRAFTER) == []


def test_pictures_stay_within_their_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    episodes = [seen(played(SAPLING, k % 2, 9, "completed"), k) for k in range(4)]
    size = sum(len(frame.png) for frame in filmstrips(episodes, CRAFTER)[0].frames)
    monkeypatch.setattr(module, "MAX_BYTES", int(2.5 * size))
    assert len(filmstrips(episodes, CRAFTER)) == 2
