"""What to say above the live view where a run needs words: before its first data and after its end. Pure."""

from __future__ import annotations

from textual.content import Content

from agent.progress import REASONS
from amago_cli.options import elsewhere
from amago_cli.tui.snapshot import Snapshot

_MOST_WORDS = 8  # lines of the trainer's log


def notice(snapshot: Snapshot) -> Content | None:
    """None while the run speaks for itself."""
    name, where = snapshot.paths.name, elsewhere(snapshot.paths.root.parent)
    message = snapshot.status.message if snapshot.status else ""
    resume = f"amago train --resume {name}{where}"
    if snapshot.state == "crashed":
        return _told(f"The trainer is gone. {message}".strip(), snapshot, f"go on from the last checkpoint: {resume}")
    if snapshot.state == "diverged":
        smaller = "--set optimizer.learning_rate=..."
        return _told(f"Training diverged. {message}".strip(), snapshot, f"take smaller steps: {resume} {smaller}")
    if snapshot.state in ("finished", "stopped"):
        why = REASONS.get(message, message)
        told = f"{why or snapshot.state}; next: amago eval --checkpoint {name}{where}"
        return Content(told)
    if snapshot.is_empty:
        return Content("no data yet: it comes with the first rollouts that end")
    return None


def _told(what: str, snapshot: Snapshot, advice: str) -> Content:
    words = "\n".join(f"  {line}" for line in snapshot.last_words[-_MOST_WORDS:])
    return Content.assemble((what, "bold $error"), "\n" if words else "", words, f"\n{advice}")
