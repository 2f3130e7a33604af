"""Names a person may have meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def check_name(kind: str, text: str, known: Iterable[str], see: str) -> str:
    """`text` when it is known, else an AmagoError with the nearest names; the command `see` lists them."""
    from store.errors import AmagoError

    known = list(known)
    if text in known:
        return text
    near = difflib.get_close_matches(text.lower(), known, n=2, cutoff=0.5)
    meant = f"; did you mean {' or '.join(near)}?" if near else f"; there is {', '.join(known)}"
    raise AmagoError(f"unknown {kind} '{text}'{meant} (see `{see}`)")
