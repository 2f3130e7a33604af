"""The standard streams as every command can count on them: all three there, every character writable."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

_MODES = {"stdin": "r", "stdout": "w", "stderr": "w"}  # in the order of their file descriptors


def prepare_streams() -> None:
    """Replace closed streams by the null device; escape what a stream's encoding lacks instead of failing."""
    for name, mode in _MODES.items():
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115  # open as long as we run
        elif mode == "w" and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
