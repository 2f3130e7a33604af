"""Queries about places: where in the world rollouts came to goals and to their end. A part of `dashboard.queries`."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import streamlit as st

from dashboard.rollout_queries import look, stored, vocabulary_of, words
from dashboard.run_queries import open_named
from dashboard.stamps import Stamp, stamp
from store.layout import Split
from store.trajectory import Trajectory

PLACES_FROM = 200  # rollouts, the newest, of which places are shown


def place_table(name: str, split: Split) -> pd.DataFrame:
    """Where the newest rollouts of Crafter came to goals and to their end: number, t (step of the rollout), x, y in
    metres, event ("goal" or "end") and what. Empty where observations have no position."""
    directory = open_named(name).rollouts(split)
    return _place_table(directory, stamp(directory))


@st.cache_resource(max_entries=8, show_spinner="reading places")
def _place_table(directory: Path, seen: Stamp) -> pd.DataFrame:
    index, _ = look(directory, seen)
    known = vocabulary_of(index)
    rows: list[tuple[int, int, int, int, str, str]] = []
    for each in stored(index, range(max(len(index) - PLACES_FROM, 0), len(index))):
        rows += _places(each, known)
    return pd.DataFrame(rows, columns=["number", "t", "x", "y", "event", "what"])


def _places(trajectory: Trajectory, known: str) -> list[tuple[int, int, int, int, str, str]]:
    """The rows of one trajectory: a goal is reached where the player stands after the step."""
    position = trajectory.observations.get("position")
    if position is None or position.ndim != 2 or position.shape[1] != 2:
        return []
    number = trajectory.info.number
    ends = [(trajectory.length, "end", trajectory.info.cause)]
    goals = [(t + 1, "goal", words(known, (goal,))) for t, goal in trajectory.events.tolist()]
    return [(number, t, int(position[t, 0]), int(position[t, 1]), event, what) for t, event, what in goals + ends]
