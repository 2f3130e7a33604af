"""The best and the worst episodes of an evaluation as rows of small pictures.

Pure: trajectories in, PNG files in memory out, a bounded number of bytes. Knows neither pages nor files.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agent.envs.base import EnvSpec
from agent.envs.picture import picture
from agent.goals.vocabularies import vocabulary
from agent.tallies import succeeded
from store.trajectory import Trajectory

MAX_FRAMES = 12
MAX_BYTES = 1_500_000  # of all pictures together
_EACH = 2  # episodes of either kind
_UNIT = 8  # pixels along the side of a cell


@dataclass(frozen=True)
class Frame:
    """What the player saw at state `t`."""

    t: int
    note: str  # what had just happened, "" for a state like any other
    png: bytes


@dataclass(frozen=True)
class Filmstrip:
    """One episode."""

    kind: str  # "best" or "worst"
    task: str  # its instruction, or the game
    outcome: str
    seed: int
    steps: int
    ret: float
    number: int  # of the stored episode, -1 where it is not stored
    frames: tuple[Frame, ...]


def filmstrips(trajectories: Sequence[Trajectory], spec: EnvSpec) -> list[Filmstrip]:
    """The best and the worst of `trajectories`, each of another instruction or game while there are enough.

    Empty where observations cannot be drawn. Strips that would exceed MAX_BYTES are left out.
    """
    ranked = sorted(trajectories, key=lambda each: _merit(each, spec), reverse=True)
    best = _of_different_tasks(ranked, _EACH)
    rest = [each for each in reversed(ranked) if not any(each is chosen for chosen in best)]
    worst = _of_different_tasks(rest, _EACH)
    strips, left = [], MAX_BYTES
    for kind, chosen in (("best", best), ("worst", worst)):
        for trajectory in chosen:
            strip = _strip(kind, trajectory, spec)
            size = sum(len(frame.png) for frame in strip.frames)
            if 0 < size <= left:
                strips.append(strip)
                left -= size
    return strips


def encode_png(image: np.ndarray) -> bytes:
    """An image (H, W, 3) uint8 as a PNG file."""
    height, width, _ = image.shape
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)  # 8 bits per channel, RGB
    rows = np.concatenate([np.zeros((height, 1), np.uint8), image.reshape(height, -1)], axis=1)  # filter 0: none
    parts = (b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _merit(trajectory: Trajectory, spec: EnvSpec) -> tuple[bool, float, float, int]:
    """What makes an episode better than another: success, then subgoals, then return, then being quick.

    The return counts on the scale of the game that was played, where there is one.
    """
    last, wanted = trajectory.attempts[-1], len(trajectory.instruction)
    success = bool(succeeded(spec, last, wanted))
    scaled = next((game.normalised(last.ret) for game in spec.games if game.name == trajectory.info.game), None)
    worth = trajectory.ret if scaled is None else scaled
    return success, last.progress / wanted if wanted else 0.0, worth, -trajectory.length


def _of_different_tasks(ranked: Sequence[Trajectory], count: int) -> list[Trajectory]:
    first: dict[tuple[int | str, ...], Trajectory] = {}
    for trajectory in ranked:
        first.setdefault((trajectory.info.game, *trajectory.instruction.tolist()), trajectory)
    chosen = list(first.values())[:count]
    others = (each for each in ranked if not any(each is one for one in chosen))
    return [*chosen, *others][:count]


def _strip(kind: str, trajectory: Trajectory, spec: EnvSpec) -> Filmstrip:
    success = succeeded(spec, trajectory.attempts[-1], len(trajectory.instruction))
    outcome = "success" if success else trajectory.info.cause
    return Filmstrip(
        kind=kind,
        task=vocabulary(spec.vocabulary).describe(trajectory.instruction.tolist()) or trajectory.info.game,
        outcome=outcome,
        seed=trajectory.info.seed,
        steps=trajectory.length,
        ret=trajectory.ret,
        number=trajectory.info.number,
        frames=_frames(trajectory, spec),
    )


def _frames(trajectory: Trajectory, spec: EnvSpec) -> tuple[Frame, ...]:
    notes = _notes(trajectory, spec)
    frames = []
    for t in _times(trajectory.length, list(notes)):
        image = picture(spec.name, trajectory.observations, t, _UNIT)
        if image is None:
            return ()
        frames.append(Frame(t, notes.get(t, ""), encode_png(image)))
    return tuple(frames)


def _notes(trajectory: Trajectory, spec: EnvSpec) -> dict[int, str]:
    """State -> what had just happened: a subgoal reached, or a new attempt begun."""
    describe = vocabulary(spec.vocabulary).describe
    gained = np.flatnonzero(np.diff(trajectory.progress.astype(int)) == 1)
    reached = {int(t) + 1: describe((int(trajectory.instruction[trajectory.progress[t]]),)) for t in gained}
    begun = {int(t): "new attempt" for t in np.flatnonzero(trajectory.is_first) if t > 0}
    return dict(sorted({**reached, **begun}.items()))


def _times(length: int, marked: list[int]) -> list[int]:
    """At most MAX_FRAMES states in order: the first, the last, marked ones, the rest evenly spread."""
    chosen = {0, length, *marked[: MAX_FRAMES - 4]}
    spread = np.linspace(0, length, MAX_FRAMES).round().astype(int).tolist()
    by_distance = sorted(set(spread) - chosen, key=lambda t: -min(abs(t - other) for other in chosen))
    return sorted([*chosen, *by_distance[: MAX_FRAMES - len(chosen)]])
