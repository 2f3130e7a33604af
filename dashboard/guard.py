"""No page ever shows a traceback: what a person can act on becomes an error line, the rest an apology with a log."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from dashboard.wording import plain
from store.errors import AmagoError

_LOG = logging.getLogger("amago.dashboard")


@contextmanager
def guarded(what: str) -> Iterator[None]:
    """Show a failure within the block as one line; `what` names the block in it. Streamlit's own signals pass."""
    try:
        yield
    except AmagoError as error:
        st.error(plain(error), icon=":material/error:")
    except Exception as error:
        _LOG.exception("%s failed", what)
        apology = f"Sorry, {what} could not be shown ({type(error).__name__}: {error})."
        st.error(f"{plain(apology)} The rest still works; the log of `amago dashboard` has the details.")
