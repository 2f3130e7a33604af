"""The player's pure parts: clocks, words, marks, sprite sheets; and the encoders of videos."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import imageio_ffmpeg
import numpy as np
import pandas as pd
import pytest
from PIL import Image

from agent.envs.picture import picture
from agent.video import gif_bytes, mp4_bytes
from dashboard.player import pairs
from dashboard.player.curves import thinned
from dashboard.player.episode import Episode, episode, facts, marks
from dashboard.player.sprites import frame_png, sheet_of, sheet_png
from dashboard.player.tracks import (
    Segment,
    Span,
    by_step,
    by_subgoal,
    clock_at,
    first_divergence,
    frame_at,
    spans,
    whole_spans,
)
from store.trajectory import Trajectory, TrajectoryInfo

WOOD, TABLE = 6, 20  # ids of "collect wood" and "place table"

INFO = TrajectoryInfo(
    environment="crafter",
    seed=1,
    actor=0,
    split="eval",
    cause="time limit",
    wanted=True,
    policy_update=0,
    step=10,
    epsilon=0.0,
    number=1,
)


def rollout(length: int, *, gains: tuple[int, ...] = (), starts: tuple[int, ...] = (), **changes: object) -> Trajectory:
    """Steps to the right in a bare world; subgoals are finished by the actions `gains`, attempts begin at `starts`."""
    is_first, progress = np.zeros(length + 1, bool), np.zeros(length + 1, np.uint8)
    is_first[[0, *starts]] = True
    for gain in gains:
        progress[gain + 1 :] += 1
    for start in starts:
        progress[start:] = 0
    rewards = np.zeros(length, np.float32)
    rewards[list(gains)] = 1
    made = Trajectory(
        observations={"position": np.stack([np.arange(length + 1), np.zeros(length + 1)], 1).astype(np.uint8)},
        actions=np.full(length, 2),
        rewards=rewards,
        terminated=np.zeros(length, bool),
        truncated=np.zeros(length, bool),
        is_first=is_first,
        progress=progress,
        instruction=np.array([WOOD, TABLE], np.int16),
        events=np.array([(gain, (WOOD, TABLE)[i % 2]) for i, gain in enumerate(gains)], np.int32).reshape(-1, 2),
        info=INFO,
    )
    return replace(made, **changes)


def named(trajectory: Trajectory) -> Episode:
    return episode("a run", "eval", 1, trajectory, {"vocabulary": "crafter"})


def images(length: int, size: int = 64) -> dict[str, np.ndarray]:
    return {"image": np.random.default_rng(0).integers(0, 255, (length + 1, size, size, 3), np.uint8)}


def test_spans_of_attempts() -> None:
    assert spans(rollout(10, starts=(4, 8))) == [Span(0, 3), Span(4, 7), Span(8, 10)]
    assert spans(rollout(1)) == [Span(0, 1)]
    cut = rollout(10, starts=(4, 8))
    assert whole_spans(replace(cut, info=replace(cut.info, cause="horizon"))) == [Span(0, 3), Span(4, 7)]


def test_by_step_the_shorter_attempt_waits() -> None:
    clock = by_step([Span(0, 3), Span(4, 10)])
    assert clock.length == 6
    assert [frame_at(clock.tracks[0], s) for s in range(7)] == [0, 1, 2, 3, 3, 3, 3]
    assert frame_at(clock.tracks[1], 6) == 10
    assert clock_at(clock.tracks[1], 7) == 3


def test_by_subgoal_both_begin_a_subgoal_together() -> None:
    quick, slow = rollout(6, gains=(1,)), rollout(10, gains=(4,))
    clock = by_subgoal([quick, slow], [Span(0, 6), Span(0, 10)])
    assert clock.tracks[0] == [Segment(0, 0, 2), Segment(5, 2, 4)]
    assert clock.tracks[1] == [Segment(0, 0, 5), Segment(5, 5, 5)]
    assert clock.length == 10
    assert [frame_at(clock.tracks[0], s) for s in (0, 2, 4, 5, 9, 10)] == [0, 2, 2, 2, 6, 6]


def test_by_subgoal_an_attempt_that_gets_less_far_waits_at_its_end() -> None:
    failing, succeeding = rollout(3), rollout(8, gains=(5,))
    clock = by_subgoal([failing, succeeding], [Span(0, 3), Span(0, 8)])
    assert clock.length == 8
    assert [frame_at(clock.tracks[0], s) for s in (2, 3, 6, 8)] == [2, 3, 3, 3]


@pytest.mark.parametrize(("changed", "expected"), [(None, None), (3, 3), (0, 0)])
def test_first_divergence_in_actions(changed: int | None, expected: int | None) -> None:
    a = rollout(6)
    b = replace(a, actions=a.actions.copy())
    if changed is not None:
        b.actions[changed] = 5
    assert first_divergence([a, b], [Span(0, 6), Span(0, 6)]) == expected


def test_first_divergence_in_position_and_in_length() -> None:
    a, b = rollout(6), rollout(6)
    b.observations["position"][4:, 1] = 9
    assert first_divergence([a, b], [Span(0, 6), Span(0, 6)]) == 4
    assert first_divergence([rollout(6), rollout(4)], [Span(0, 6), Span(0, 4)]) == 4


def test_words_of_goals_actions_and_rewards() -> None:
    shown = named(rollout(4, gains=(1,)))
    assert shown.goals(0) == [("collect wood", "active"), ("place table", "future")]
    assert shown.goals(2) == [("collect wood", "finished"), ("place table", "active")]
    words = facts(shown, 0, 5, pictured=True)
    assert words["goal"][1:3] == ["collect wood (1 of 2)", "place table (2 of 2)"]
    assert words["action"][1] == "move right"
    assert words["action"][4] == "none: time limit"
    assert words["reward"][1:3] == ["+1, 0 before", "+0, 1 before"]
    assert "observation" not in words


def test_probability_of_the_action_is_told_where_it_was_recorded() -> None:
    probabilities = np.full((4, 17), 0.03, np.float16)
    probabilities[:, 2] = 0.52
    shown = named(replace(rollout(4), diagnostics={"probabilities": probabilities}))
    assert facts(shown, 0, 1, pictured=True)["action"] == ["move right (52\u00a0%)"]


def test_names_of_strangers_do_not_hurt() -> None:
    odd = replace(rollout(2), instruction=np.array([999, -5], np.int16), actions=np.array([99, -1]))
    shown = episode("r", "eval", 1, odd, {"vocabulary": "no such thing"})
    assert [name for name, _ in shown.goals(0)] == ["goal 999", "goal -5"]
    assert facts(shown, 0, 2, pictured=True)["action"] == ["99", "-1"]


def test_marks_tell_what_was_due_and_what_was_not() -> None:
    trajectory = rollout(10, gains=(2, 7), starts=(9,))
    extra = np.array([[1, TABLE], [2, WOOD], [3, WOOD], [7, TABLE]], np.int32)
    found = marks(named(replace(trajectory, events=extra)), Span(0, 10))
    assert [(mark["t"], mark["kind"]) for mark in found] == [
        *((2, "plus"), (7, "plus")),
        *((1, "event"), (2, "goal"), (7, "goal")),  # wood a second time in the same attempt says nothing new
        (9, "attempt"),
    ]
    assert found[2]["label"] == "frame 1: place table"


def test_marks_are_bounded() -> None:
    noisy = replace(rollout(5000), rewards=np.linspace(0.1, 1, 5000, dtype=np.float32))
    found = marks(named(noisy), Span(0, 5000))
    assert len(found) == 400
    assert min(mark["t"] for mark in found) == 4600  # the largest ones stay


@pytest.mark.parametrize("length", [1, 499, 500, 1203])
def test_every_frame_lies_where_the_sheet_says(length: int) -> None:
    trajectory = rollout(length, observations=images(length, 8))
    sheet = sheet_of(trajectory)
    assert sheet is not None and sheet.frames == 500
    for t in {0, 1, min(501, length), length}:
        number, i = divmod(t, sheet.frames)
        whole = np.array(Image.open(BytesIO(sheet_png(trajectory, sheet, number))))
        row, column = divmod(i, sheet.columns)
        top, left = row * sheet.height, column * sheet.width
        expected = picture("crafter", trajectory.observations, t, sheet.unit)
        np.testing.assert_array_equal(whole[top : top + sheet.height, left : left + sheet.width], expected)


def test_large_frames_make_small_sheets() -> None:
    sheet = sheet_of(rollout(2, observations=images(2, 1024)))
    assert sheet is not None
    assert (sheet.frames, sheet.columns, sheet.width) == (2, 2, 1024)


def test_what_cannot_be_drawn_has_no_sheet() -> None:
    assert sheet_of(rollout(3)) is None


def test_frame_png_has_the_size_asked_for() -> None:
    trajectory = rollout(2, observations=images(2))
    assert Image.open(BytesIO(frame_png(trajectory, 1, 32))).size == (256, 256)  # the whole factor nearest to 288


def test_thinned_curves_keep_spikes_and_ends() -> None:
    values = np.zeros(10_000)
    values[[1234, 8765]] = (5, -5)
    kept = thinned(values)
    assert len(kept) <= 801
    assert {0, 1234, 8765, 9999} <= set(kept.tolist())


def test_pairs_within_rollouts_leave_out_attempts_that_were_cut_short() -> None:
    whole = rollout(10, gains=(2, 6, 8), starts=(4,))
    cut = replace(whole, info=replace(whole.info, cause="horizon"))
    table = pairs.attempts_table([(7, whole), (8, cut)])
    found = pairs.within(table, {7: "seven", 8: "eight"}, 0, 1, "ret")
    assert found[["task", "a", "b", "difference"]].values.tolist() == [["seven", 1.0, 2.0, 1.0]]
    assert pairs.within(table, {7: "seven", 8: "eight"}, 0, 5, "ret").empty


def test_pairs_across_episodes_need_the_same_world_instruction_and_game() -> None:
    rows = [
        (1, 5, (6,), "", 0.0),
        (2, 5, (6,), "", 1.0),
        (3, 5, (7,), "", 9.0),
        (4, 6, (6,), "", 9.0),
        (5, 5, (6,), "go", 9.0),
        (6, 5, (6,), "", 4.0),
    ]
    table = pd.DataFrame(rows, columns=["number", "seed", "goals", "game", "ret"]).assign(instruction="collect wood")
    assert pairs.most_repeats(table) == 3
    found = pairs.across(table, 0, 2, "ret")
    assert found[["number_a", "number_b", "difference"]].values.tolist() == [[1, 6, 4.0]]


def frames(count: int, height: int = 33, width: int = 50) -> list[np.ndarray]:
    return [np.full((height, width, 3), 20 * i, np.uint8) for i in range(count)]


def test_gif_keeps_frames_and_pace() -> None:
    with Image.open(BytesIO(gif_bytes(iter(frames(5)), 10))) as gif:
        assert (gif.n_frames, gif.size, gif.info["duration"], gif.info["loop"]) == (5, (50, 33), 100, 0)


def test_mp4_plays_in_browsers(tmp_path: Path) -> None:
    data = mp4_bytes(iter(frames(7)), 10)
    assert data.index(b"moov") < data.index(b"mdat")  # playable while it loads
    path = tmp_path / "video.mp4"
    path.write_bytes(data)
    reader = imageio_ffmpeg.read_frames(path)
    meta = next(reader)
    assert meta["codec"] == "h264" and meta["pix_fmt"].startswith("yuv420p")
    assert meta["size"] == (50, 34)
    assert sum(1 for _ in reader) == 7


@pytest.mark.parametrize("encode", [gif_bytes, mp4_bytes])
def test_videos_need_frames_and_a_pace(encode: object) -> None:
    with pytest.raises(ValueError, match="at least one frame"):
        encode([], 10)
    with pytest.raises(ValueError, match="positive"):
        encode(frames(1), 0)


def test_video_of_one_frame() -> None:
    assert mp4_bytes(frames(1, 16, 16), 10)[4:8] == b"ftyp"


def test_video_needs_no_torch() -> None:
    code = "import sys, agent.video; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
