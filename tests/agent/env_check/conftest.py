"""Makes `bad_envs` importable by name, also in the worker processes, which inherit the search path."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "envs"))
