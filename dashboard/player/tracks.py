"""Two attempts on one clock: which frame each shows at a position of it, and where they part. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from store.trajectory import CUT_SHORT, Trajectory


class Span(NamedTuple):
    """The frames of one attempt within its trajectory, both ends included."""

    first: int
    last: int


class Segment(NamedTuple):
    """From position `clock` on, the frames from `frame` on, `length` steps of them; then the last one stays."""

    clock: int
    frame: int
    length: int


class Clock(NamedTuple):
    """Positions 0..length, and for every attempt what it shows at them."""

    length: int
    tracks: list[list[Segment]]


def spans(trajectory: Trajectory) -> list[Span]:
    """All attempts of a rollout in order; the last frame of each but the last is the one before the next begins."""
    return [Span(start, stop - (stop < trajectory.length)) for start, stop in trajectory.spans]


def whole_spans(trajectory: Trajectory) -> list[Span]:
    """The attempts that `Trajectory.attempts` counts: without a last one of several that was cut short."""
    found = spans(trajectory)
    return found[:-1] if trajectory.info.cause in CUT_SHORT and len(found) > 1 else found


def by_step(attempts: Sequence[Span]) -> Clock:
    """Every attempt's first frame at 0, then step by step; a shorter one waits at its last frame."""
    return Clock(
        max(span.last - span.first for span in attempts),
        [[Segment(0, span.first, span.last - span.first)] for span in attempts],
    )


def by_subgoal(trajectories: Sequence[Trajectory], attempts: Sequence[Span]) -> Clock:
    """Attempts begin each subgoal together: the one that finishes it first waits for the others."""
    turns = [_turns(trajectory, span) for trajectory, span in zip(trajectories, attempts, strict=True)]
    phases = max(len(each) for each in turns)
    turns = [[*each, *[each[-1]] * (phases - len(each))] for each in turns]
    tracks: list[list[Segment]] = [[] for _ in turns]
    clock = 0
    for phase in range(phases - 1):
        lengths = [each[phase + 1] - each[phase] for each in turns]
        for track, each, length in zip(tracks, turns, lengths, strict=True):
            track.append(Segment(clock, each[phase], length))
        clock += max(lengths)
    return Clock(clock, tracks)


def frame_at(track: Sequence[Segment], clock: int) -> int:
    """The frame that an attempt shows at a position of the clock."""
    segment = [each for each in track if each.clock <= clock][-1]
    return segment.frame + min(clock - segment.clock, segment.length)


def clock_at(track: Sequence[Segment], frame: int) -> int:
    """The first position of the clock at which an attempt shows a frame of its span."""
    segment = next(each for each in track if frame <= each.frame + each.length)
    return segment.clock + frame - segment.frame


def first_divergence(trajectories: Sequence[Trajectory], attempts: Sequence[Span]) -> int | None:
    """Steps after which two attempts first differ: in position, in the action taken, or in that one is over.

    None when they are the same to the end.
    """
    (a, own), (b, other) = zip(trajectories, attempts, strict=True)
    steps = [min(span.last + 1, each.length) - span.first for each, span in ((a, own), (b, other))]
    common, rows = min(steps), min(span.last - span.first for span in attempts) + 1
    differs = np.zeros(common + 1, bool)
    differs[common] = steps[0] != steps[1]
    differs[:common] |= _unlike(_part(a.actions, own, common), _part(b.actions, other, common))
    if "position" in a.observations and "position" in b.observations:
        places = (each.observations["position"] for each in (a, b))
        differs[:rows] |= _unlike(*(_part(place, span, rows) for place, span in zip(places, attempts, strict=True)))
    return int(differs.argmax()) if differs.any() else None


def _turns(trajectory: Trajectory, span: Span) -> list[int]:
    """The frames at which a subgoal's turn begins, and the last frame."""
    progress = trajectory.progress[span.first : span.last + 1].astype(int)
    gained = np.flatnonzero(np.diff(progress) > 0) + span.first + 1
    return [span.first, *(frame for frame in gained.tolist() if frame < span.last), span.last]


def _part(array: np.ndarray, span: Span, rows: int) -> np.ndarray:
    return array[span.first : span.first + rows]


def _unlike(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(rows,) bool: rows that are not equal; all of them when their shapes are not."""
    if a.shape != b.shape:
        return np.ones(len(a), bool)
    return (a != b).reshape(len(a), -1).any(axis=1)
