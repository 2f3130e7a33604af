"""What the page Replay shows beside and below the player, for the frame at the cursor."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from agent.envs.crafter.engine import ITEMS
from agent.envs.mission import mission
from dashboard.player.curves import choices, curves, path_map
from dashboard.player.episode import NOT_RECORDED, Episode, observation_rows
from dashboard.theme import show_chart
from dashboard.wording import plain
from store.trajectory import Trajectory

_VITALS = 4  # the first entries of Crafter's inventory: health, food, drink, energy
_MAX_CURVES = 8  # of numbers that have no names
_GOAL_LINES = {
    "finished": ":material/check_circle: :green[{}]",
    "active": ":material/arrow_right_alt: **{}**",
    "future": ":material/radio_button_unchecked: :gray[{}]",
}


def goals(shown: Episode, t: int) -> None:
    """The instruction with what is finished, active and still to come."""
    states = shown.goals(t)
    if told := mission(shown.trajectory.info.environment, shown.trajectory.observations, t):
        st.markdown(f"**{plain(told)}**")
    elif not states:
        st.caption("This episode has no instruction.")
    st.markdown("\n\n".join(_GOAL_LINES[state].format(plain(name)) for name, state in states))


def policy(shown: Episode, t: int) -> None:
    """How likely the policy found its actions."""
    trajectory = shown.trajectory
    probabilities = trajectory.diagnostics.get("probabilities")
    if t == trajectory.length:
        st.caption(f"The last frame: {plain(trajectory.info.cause or 'the end')}. No action follows.")
    elif probabilities is None or trajectory.actions.ndim != 1:
        st.caption(f"Action: {plain(shown.action_name(trajectory.actions[t]))}. Its probabilities: {NOT_RECORDED}.")
    else:
        names = [shown.action_name(np.array(a)) for a in range(probabilities.shape[1])]
        taken = min(max(int(trajectory.actions[t]), 0), len(names) - 1)
        show_chart(choices(names, probabilities[t].astype(np.float64), taken))


def values(shown: Episode, t: int, discounts: Sequence[float]) -> None:
    """The expected return by discount over the episode; the discounts may be fewer than the values, or none."""
    recorded = shown.trajectory.diagnostics.get("values")
    if recorded is None:
        st.caption(f"Values: {NOT_RECORDED}.")
        return
    names = [f"{d:g}" for d in discounts] if len(discounts) == recorded.shape[1] else []
    labels = names or [f"discount {i + 1}" for i in range(recorded.shape[1])]
    series = {label: recorded[:, i].astype(np.float64) for i, label in enumerate(labels)}
    show_chart(curves(series, t, shown.trajectory.length, unit="expected return"))
    st.caption("One curve for each discount; the policy acts by the last one.")


def rewards(shown: Episode, t: int) -> None:
    """Return so far and finished subgoals."""
    trajectory = shown.trajectory
    series = {"return so far": np.concatenate([[0.0], np.cumsum(trajectory.rewards, dtype=np.float64)])}
    if len(trajectory.instruction):
        series["finished subgoals"] = trajectory.progress
    show_chart(curves(series, t, trajectory.length, unit="return, subgoals", stepped=True))


def body(shown: Episode, t: int) -> None:
    """Vitals and inventory over the episode, or the numbers of other worlds' small observations."""
    trajectory = shown.trajectory
    inventory = _crafter_inventory(trajectory)
    if inventory is None:
        series = _plain_numbers(trajectory)
        if series:
            show_chart(curves(series, t, trajectory.length, unit="observation"))
        return
    named = {name.replace("_", " "): inventory[:, i] for i, name in enumerate(ITEMS)}
    vitals = dict(list(named.items())[:_VITALS])
    carried = {name: counts for name, counts in list(named.items())[_VITALS:] if counts.any()}
    left, right = st.columns(2)
    with left:
        st.caption("Vitals")
        show_chart(curves(vitals, t, trajectory.length, unit="of 9", stepped=True))
    with right:
        st.caption("Inventory")
        if carried:
            show_chart(curves(carried, t, trajectory.length, unit="pieces", stepped=True))
        else:
            st.caption("Nothing was ever carried.")


def way(shown: Episode, t: int) -> None:
    """The way from above, where the observation tells the place."""
    places = shown.trajectory.observations.get("position")
    if places is None or places.shape[1:] != (2,) or not np.isfinite(places).all():
        st.caption("The observation does not tell the place.")
        return
    attempts = np.cumsum(np.maximum(shown.trajectory.is_first, np.arange(len(places)) == 0))
    show_chart(path_map(places.astype(np.float64), attempts, t))
    st.caption(f"Here: ({places[t, 0]:g}, {places[t, 1]:g}). The square is where the attempt began.")


def observation(shown: Episode, t: int) -> None:
    """Everything the agent saw, as numbers."""
    table = pd.DataFrame(observation_rows(shown.trajectory, t), columns=["observation", "content"])
    st.dataframe(table, hide_index=True, width="stretch")


def _crafter_inventory(trajectory: Trajectory) -> np.ndarray | None:
    inventory = trajectory.observations.get("inventory")
    fits = trajectory.info.environment == "crafter" and inventory is not None and inventory.shape[1:] == (len(ITEMS),)
    return inventory if fits else None


def _plain_numbers(trajectory: Trajectory) -> dict[str, np.ndarray]:
    """The first few single numbers of the observations by name, over the episode."""
    columns = {
        f"{name} {i}" if array[0].size > 1 else name: array.reshape(len(array), -1)[:, i]
        for name, array in trajectory.observations.items()
        if array[0].size <= 2 * _MAX_CURVES
        for i in range(array[0].size)
    }
    return dict(list(columns.items())[:_MAX_CURVES])
