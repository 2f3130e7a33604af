"""Attempts that amago exported to a Minari dataset, put together again to the rollouts they were.

Knows the attributes that `store.minari_episode` writes. What it reads may be forged: trajectories are validated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

import numpy as np

from store.errors import StorageError
from store.minari_episode import NOTHING
from store.minari_reader import MinariEpisode
from store.shard_reader import info_of
from store.trajectory import Trajectory, validate


def join_attempts(episodes: Iterable[MinariEpisode], split: str) -> Iterator[Trajectory]:
    """The rollouts whose attempts follow each other in `episodes`. Raises StorageError for what amago never wrote."""
    for trial, attempts in groupby(episodes, key=lambda episode: episode.attributes["trial"]):
        try:
            trajectory = _join(list(attempts), split)
            validate(trajectory)
        except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
            raise StorageError(f"rollout {trial} of the dataset is not what amago writes: {error}") from None
        yield trajectory


def _join(attempts: list[MinariEpisode], split: str) -> Trajectory:
    numbers = [attempt.attributes["attempt"] for attempt in attempts]
    if numbers != list(range(1, attempts[0].attributes["attempts"] + 1)):
        raise ValueError("an attempt is missing")
    return Trajectory(
        observations={
            name: _states([attempt.observations[name] for attempt in attempts]) for name in attempts[0].observations
        },
        actions=np.concatenate([attempt.actions for attempt in attempts]),
        rewards=np.concatenate([attempt.rewards for attempt in attempts]).astype(np.float32),
        terminated=_ends([attempt.terminations for attempt in attempts]),
        truncated=_ends([attempt.truncations for attempt in attempts]),
        is_first=_states([_first(attempt) for attempt in attempts]),
        progress=_states([_progress(attempt) for attempt in attempts]),
        instruction=attempts[0].attributes["goals"],
        events=_events(attempts),
        info=info_of(attempts[0].attributes["row"], split),
        diagnostics={
            name: np.concatenate([attempt.diagnostics[name][1:] for attempt in attempts])
            for name in attempts[0].diagnostics
        },
    )


def _states(parts: list[np.ndarray]) -> np.ndarray:
    """The first state of an attempt takes the place of the last one of the attempt before."""
    return np.concatenate([part[:-1] for part in parts[:-1]] + parts[-1:])


def _ends(parts: list[np.ndarray]) -> np.ndarray:
    """(T,) bool: only a rollout's own end is one, not those of the attempts within it."""
    ends = np.concatenate(parts)
    ends[:-1] = False
    return ends


def _first(attempt: MinariEpisode) -> np.ndarray:
    """(T+1,) bool: the first state of an attempt, and its last where another one began there."""
    first = np.zeros(attempt.length + 1, bool)
    first[0], first[-1] = True, not attempt.attributes["final"]
    return first


def _progress(attempt: MinariEpisode) -> np.ndarray:
    return attempt.infos.get("progress", np.zeros(attempt.length + 1, np.uint8))


def _events(attempts: list[MinariEpisode]) -> np.ndarray:
    """(E, 2) int32: step of the rollout, goal."""
    events, offset = [np.zeros((0, 2), np.int32)], 0
    for attempt in attempts:
        achieved = attempt.infos.get("achieved", np.zeros((attempt.length + 1, 0), np.int32))
        states, places = np.nonzero(achieved != NOTHING)
        events.append(np.stack([states - 1 + offset, achieved[states, places]], axis=1).astype(np.int32))
        offset += attempt.length
    return np.concatenate(events)
