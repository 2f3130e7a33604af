"""The place in the URL, ?run=&split=&ep=&t=: reading what a link asks for, and keeping the address right.

A link is followed once, when it comes; afterwards the page leads and the URL follows. Values that make no sense are
replaced by near ones, with a notice. Knows no store.
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dashboard.wording import plain

_KEYS = ("split", "ep", "t")


def followed(page: str) -> dict[str, str]:
    """What the URL asks for, if it says something else than the page itself wrote last; {} otherwise."""
    asked = {key: st.query_params[key] for key in _KEYS if key in st.query_params}
    return {} if not asked or asked == st.session_state.get(_memory(page)) else asked


def write(page: str, split: str, ep: int, t: int) -> None:
    """Make the address lead to this frame."""
    place = {"split": split, "ep": str(ep), "t": str(t)}
    st.session_state[_memory(page)] = place
    if any(st.query_params.get(key) != value for key, value in place.items()):
        st.query_params.update(place)


def one_of(name: str, text: str | None, options: Sequence[str], default: str) -> str:
    """`text` if it is one of the options, else the default."""
    if text is None or text in options:
        return text or default
    st.warning(f"The link asks for {name} {plain(text)}, which is not there; this is {plain(default)}.")
    return default


def nearest(name: str, text: str | None, options: Sequence[int], default: int) -> int:
    """The option nearest to the number `text`; there is at least one."""
    if text is None:
        return default
    try:
        wanted = int(text)
    except ValueError:
        st.warning(f"The link asks for {name} {plain(text)}, which is no number; this is {default:,}.")
        return default
    found = wanted if wanted in options else min(options, key=lambda option: abs(option - wanted))
    if found != wanted:
        st.warning(f"The link asks for {name} {wanted:,}, which is not there; this is the nearest, {found:,}.")
    return found


def _memory(page: str) -> str:
    return f"{page} link"
