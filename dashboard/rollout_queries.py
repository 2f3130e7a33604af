"""Queries about stored rollouts: tables of them, of their goals, and single ones. A part of `dashboard.queries`."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from agent.goals.vocabularies import vocabulary
from dashboard.run_queries import open_named
from dashboard.stamps import Stamp, file_stamp, stamp
from store.errors import AmagoError, StorageError
from store.games import StoredGame, stored_games
from store.goal_outcomes import goal_outcomes
from store.layout import SPLITS, Split
from store.rollout_index import Index
from store.rollouts import RolloutReader
from store.shard_reader import read_spec, read_trajectories
from store.trajectory import Trajectory

_OLDEST_VOCABULARIES = {"crafter": "crafter"}  # by environment, of shards from before they named their vocabulary


@dataclass(frozen=True)
class _Shelf:
    """A reader of one split of one run, which remembers the shards it has seen; one thread at a time."""

    reader: RolloutReader
    lock: threading.Lock = field(default_factory=threading.Lock)

    def look(self) -> tuple[Index, list[str]]:
        """All trajectories by now, and a line for each damaged shard."""
        with self.lock:
            return self.reader.index(), list(self.reader.problems)


@st.cache_resource(max_entries=32, show_spinner=False)
def _shelf(directory: Path) -> _Shelf:
    return _Shelf(RolloutReader(directory))


@st.cache_resource(max_entries=32, show_spinner=False)
def look(directory: Path, seen: Stamp) -> tuple[Index, list[str]]:
    """The index of the shards of `directory`, and a line for each damaged one."""
    return _shelf(directory).look()


def _index(name: str, split: Split) -> tuple[Index, list[str]]:
    directory = open_named(name).rollouts(split)
    return look(directory, stamp(directory))


def rollout_table(name: str, split: Split) -> pd.DataFrame:
    """One row per stored trajectory, in order of number; `instruction` in words, `goals` as a tuple of ids."""
    directory = open_named(name).rollouts(split)
    return _rollout_table(directory, stamp(directory), split)


@st.cache_resource(max_entries=16, show_spinner="reading rollouts")
def _rollout_table(directory: Path, seen: Stamp, split: Split) -> pd.DataFrame:
    index, _ = look(directory, seen)
    goals = [index.instruction(i) for i in range(len(index))]
    known = vocabulary_of(index)
    columns = {
        "position": np.arange(len(index)),
        "number": index.number,
        "split": [split] * len(index),
        "step": index.step,
        "policy_update": index.policy_update,
        "environment": index.environment,
        "game": index.game,
        "instruction": [words(known, each) for each in goals],
        "goals": goals,
        "num_subgoals": index.num_subgoals,
        "progress": index.progress,
        "completed": index.completed,
        "length": index.length,
        "ret": index.ret,
        "cause": index.cause,
        "seed": index.seed,
        "wanted": index.wanted,
        "actor": index.actor,
        "epsilon": index.epsilon,
    }
    return pd.DataFrame(columns)


def goal_table(name: str, split: Split) -> pd.DataFrame:
    """One row per goal whose turn came: position (of its rollout), goal (id), words, reached, rollout_step (where the
    run stood, in environment steps) and num_subgoals of the instruction."""
    directory = open_named(name).rollouts(split)
    return _goal_table(directory, stamp(directory))


@st.cache_resource(max_entries=16, show_spinner="counting goals")
def _goal_table(directory: Path, seen: Stamp) -> pd.DataFrame:
    index, _ = look(directory, seen)
    outcomes = goal_outcomes(index)
    known = vocabulary_of(index)
    columns = {
        "position": outcomes.trajectory,
        "goal": outcomes.goal,
        "words": [words(known, (goal,)) for goal in outcomes.goal.tolist()],
        "reached": outcomes.reached,
        "rollout_step": outcomes.step,
        "num_subgoals": index.num_subgoals[outcomes.trajectory],
    }
    return pd.DataFrame(columns)


def vocabulary_name(name: str, split: Split) -> str:
    """Which goals the rollouts of a run name, see `agent.goals.vocabularies`; "" where there are none."""
    return vocabulary_of(_index(name, split)[0])


def games(name: str) -> tuple[StoredGame, ...]:
    """The games that the environment of a run plays, () where it plays one only or nothing is stored yet."""
    return next((found for split in SPLITS if (found := _games_of(_index(name, split)[0]))), ())


def _games_of(index: Index) -> tuple[StoredGame, ...]:
    """Those that the newest readable shard names."""
    for path in reversed(index.paths):
        try:
            return stored_games(_spec(path, file_stamp(path)))
        except StorageError:
            continue
    return ()


def trajectory(name: str, split: Split, number: int) -> Trajectory:
    """The trajectory of that number. Raises AmagoError when there is none, StorageError when its shard is damaged."""
    path, row = _place(name, split, number)
    return _trajectory(path, file_stamp(path), row)


def trajectories(name: str, split: Split, numbers: Iterable[int]) -> Iterator[Trajectory]:
    """The trajectories of these numbers, without those of damaged shards, which `problems` names."""
    index, _ = _index(name, split)
    return stored(index, np.flatnonzero(np.isin(index.number, list(numbers))).tolist())


def stored(index: Index, positions: Iterable[int]) -> Iterator[Trajectory]:
    """The trajectories at these positions of an index, shard by shard, so that each is opened once."""
    rows: dict[Path, list[int]] = {}
    for i in positions:
        rows.setdefault(index.paths[index.shard[i]], []).append(int(index.row[i]))
    for path, records in rows.items():
        with suppress(StorageError):
            yield from read_trajectories(path, records)


@st.cache_resource(max_entries=8, show_spinner="reading the rollout")
def _trajectory(path: Path, seen: tuple[int, int], row: int) -> Trajectory:
    return read_trajectories(path, [row])[0]


def spec(name: str, split: Split, number: int) -> dict[str, Any]:
    """What the environment of that trajectory says about itself; raises as `trajectory` does."""
    path, _ = _place(name, split, number)
    return _spec(path, file_stamp(path))


@st.cache_resource(max_entries=64, show_spinner=False)
def _spec(path: Path, seen: tuple[int, int]) -> dict[str, Any]:
    return read_spec(path)


def _place(name: str, split: Split, number: int) -> tuple[Path, int]:
    """The shard that holds a trajectory, and the row there."""
    index, _ = _index(name, split)
    found = np.flatnonzero(index.number == number)
    if len(found) == 0:
        raise AmagoError(f"run {name} has no {split} rollout {number}; it has {len(index):,} of them")
    return index.paths[index.shard[found[0]]], int(index.row[found[0]])


def vocabulary_of(index: Index) -> str:
    """The goals that the newest readable shard names; a shard of a stranger may name none of ours."""
    for path in reversed(index.paths):
        try:
            said = _spec(path, file_stamp(path))
            before = _OLDEST_VOCABULARIES.get(str(said.get("name")), "")
            return vocabulary(str(said.get("vocabulary", before))).name
        except (StorageError, ValueError):
            continue
    return ""


@lru_cache(maxsize=16 * 1024)
def words(vocabulary_name: str, goals: tuple[int, ...]) -> str:
    """An instruction in words; goals that the vocabulary does not have appear by number."""
    if not goals:
        return ""
    known = vocabulary(vocabulary_name)
    if min(goals) >= 0 and max(goals) < len(known.names):
        return known.describe(goals)
    return ", ".join(f"goal {goal}" for goal in goals)


def shard_problems(name: str) -> list[str]:
    """One line for each damaged shard of a run."""
    return [line for split in SPLITS for line in _index(name, split)[1]]
