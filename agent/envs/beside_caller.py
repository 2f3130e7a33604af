"""Modules that lie beside the caller are found, as with `python -m`."""

import sys
from pathlib import Path


def find_modules_here() -> None:
    """Let imports look into the working directory too, after everything that is installed."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
