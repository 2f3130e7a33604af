"""The page Replay: any stored episode frame by frame, with everything that was recorded beside it."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dashboard import queries
from dashboard.player import details
from dashboard.player.choosing import clear_filters, describe, episodes, filtered, listed
from dashboard.player.component import Pane, Place, player, reported
from dashboard.player.downloads import downloads
from dashboard.player.episode import Episode, episode
from dashboard.player.link import followed, nearest, one_of, write
from dashboard.player.sprites import sheet_of
from dashboard.player.tracks import Span, by_step, spans
from dashboard.selection import chosen_run, no_runs, show_problems
from dashboard.wording import plain
from store.layout import SPLITS, Split

_PAGE = "replay"
_PLAYER = "replay player"
_EPISODE, _FRAME, _ORDER = "replay episode", "replay frame", "replay order"  # keys of the session's memory


def render() -> None:
    """Draw the page."""
    st.title("Replay")
    name = None if no_runs() else chosen_run()
    if name is None:
        return
    show_problems(name)
    asked = followed(_PAGE)
    split = _split(name, asked)
    if split is None:
        st.info(f"Run {plain(name)} has no finished episode yet; the first ones take about half a minute.")
        return
    table = queries.rollout_table(name, split)
    if asked:
        clear_filters()
    buttons = st.container()  # above the filters, which decide what they lead to
    with st.expander("Find an episode", icon=":material/search:"):
        matching = filtered(table)
        choose = partial(_choose, name, split)
        listed(matching, choose)
    if matching.empty:
        st.info("No episode passes these filters.", icon=":material/filter_alt_off:")
        return
    number = _number(name, split, table["number"].tolist(), matching["number"].tolist(), asked)
    with buttons:
        episodes(matching, len(table), number, choose)
    row = table.loc[table["number"] == number].iloc[0].to_dict()
    if "t" in asked:
        _go(nearest("frame", asked["t"], range(int(row["length"]) + 1), 0))
    st.markdown(describe(row))
    _watch(name, split, number)


def _split(name: str, asked: dict[str, str]) -> Split | None:
    """Which rollouts to look at: those of evaluations where there are some, else those of training."""
    there: list[Split] = [split for split in SPLITS if len(queries.rollout_table(name, split))]
    if not there:
        return None
    default = there[-1]
    key = f"replay split {name}"
    if asked:
        st.session_state[key] = one_of("split", asked.get("split"), there, default)
    elif st.session_state.get(key) not in there:
        st.session_state[key] = default
    return st.segmented_control("Episodes of", there, key=key, required=True)


def _number(name: str, split: Split, there: list[int], matching: list[int], asked: dict[str, str]) -> int:
    """The episode to show: the link's, else the one chosen before if it passes the filters, else the first one."""
    chosen = st.session_state.get(_EPISODE, {})
    known = chosen.get("number") if (chosen.get("run"), chosen.get("split")) == (name, split) else None
    if "ep" in asked:
        number = nearest("episode", asked["ep"], there, matching[0])
    else:
        number = known if known in matching else matching[0]
    if asked or number != known:
        _choose(name, split, number)
    return number


def _choose(name: str, split: Split, number: int) -> None:
    """Show another episode from its first frame."""
    st.session_state[_EPISODE] = {"run": name, "split": split, "number": number}
    _go(0)


def _go(frame: int) -> None:
    """Move the cursor from the server's side."""
    st.session_state[_FRAME] = frame
    st.session_state[_ORDER] = st.session_state.get(_ORDER, 0) + 1


@st.fragment
def _watch(name: str, split: Split, number: int) -> None:
    """The player and all that follows its cursor; only this part runs again when the cursor moves."""
    shown = episode(name, split, number, queries.trajectory(name, split, number), queries.spec(name, split, number))
    span = Span(0, shown.trajectory.length)
    pane = Pane(shown, span)
    t = min(st.session_state[_FRAME], span.last)
    write(_PAGE, split, number, t)
    left, right = st.columns([3, 2], gap="large")
    with left:
        player(
            [pane],
            by_step([span]),
            Place(t, (t,)),
            order=st.session_state[_ORDER],
            locked=True,
            key=_PLAYER,
            on_move=partial(_moved, pane),
        )
        st.caption(
            "Space plays, ← → step (Shift: ten), Home and End jump, digits type a frame, p and n: other episodes."
        )
    with right:
        _attempts(shown, t)
        st.subheader("Instruction")
        details.goals(shown, t)
        st.subheader("Choice of the policy")
        details.policy(shown, t)
        if sheet_of(shown.trajectory):
            downloads(shown, t)
    _curves(name, shown, t)


def _moved(pane: Pane) -> None:
    """The player has come to rest somewhere else."""
    place = reported(_PLAYER, [pane])
    if place is not None:
        st.session_state[_FRAME] = place.frames[0]


def _attempts(shown: Episode, t: int) -> None:
    """Which attempt of a rollout the cursor is in, and a way into the others."""
    found = spans(shown.trajectory)
    if len(found) < 2:
        return
    key = "replay attempt"
    st.session_state[key] = next(i for i, span in enumerate(found) if span.first <= t <= span.last)
    st.selectbox(
        f"Attempt (of {len(found)} in this rollout)",
        range(len(found)),
        format_func=lambda i: f"{i + 1}, frames {found[i].first:,} to {found[i].last:,}",
        key=key,
        on_change=lambda: _go(found[st.session_state[key]].first),
    )


def _curves(name: str, shown: Episode, t: int) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader("Value")
        details.values(shown, t, _discounts(name))
        st.subheader("Reward")
        details.rewards(shown, t)
    with right:
        st.subheader("Way")
        details.way(shown, t)
    st.subheader("Body and belongings" if shown.trajectory.info.environment == "crafter" else "Observation")
    details.body(shown, t)
    with st.expander("What the agent saw, in numbers", expanded=sheet_of(shown.trajectory) is None):
        details.observation(shown, t)


def _discounts(name: str) -> list[float]:
    """The discounts of the run's critics, [] where its configuration does not tell."""
    loss = queries.config(name).get("loss")
    found = loss.get("discounts") if isinstance(loss, dict) else None
    numbers = found if isinstance(found, list) else []
    return [float(each) for each in numbers if isinstance(each, int | float)]
