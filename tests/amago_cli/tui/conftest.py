"""Makes `screen_run` importable by name, and gives every test a small run."""

import sys
from pathlib import Path

import pytest

from store.layout import RunPaths

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def runs_dir(tmp_path: Path) -> Path:
    directory = tmp_path / "runs"
    directory.mkdir()
    return directory


@pytest.fixture
def run(runs_dir: Path) -> RunPaths:
    """Six rollouts, curves, an event, and a trainer that is alive."""
    from screen_run import full_run

    return full_run(runs_dir, "calm-otter-7")
