"""Typing `amago --help` must not wait for torch."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {"torch", "h5py", "numpy", "gymnasium", "crafter", "numba", "rich", "pandas", "textual", "streamlit"}

PROBE = """
import sys
sys.argv = {arguments}
from amago_cli.app import main
try:
    main()
except SystemExit as ended:
    assert not ended.code, ended.code
print("LOADED", *{{name.partition(".")[0] for name in sys.modules}})
"""


def loaded_by(*arguments: str, **environment: str) -> set[str]:
    """Top-level modules that a command leaves in memory."""
    script = PROBE.format(arguments=["amago", *arguments])
    answer = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "", **environment},
    )
    return set(answer.stdout.rpartition("LOADED")[2].split())


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_loads_nothing_heavy(option: str) -> None:
    assert not loaded_by(option) & {*HEAVY, "pydantic"}


@pytest.mark.parametrize("arguments", [["train", "--help"], ["eval", "--help"], ["runs"]])
def test_light_verbs_load_nothing_heavy(arguments: list[str]) -> None:
    # pydantic is allowed: Typer itself reads the options of a verb with it.
    assert not loaded_by(*arguments) & HEAVY


def test_completion_loads_nothing_heavy() -> None:
    environment = {"_AMAGO_COMPLETE": "complete_bash", "COMP_WORDS": "amago tr", "COMP_CWORD": "1"}
    assert not loaded_by(**environment) & HEAVY


@pytest.mark.parametrize("arguments", [["goals"], ["envs"], ["train", "--show-config"]])
def test_commands_without_networks_load_no_torch(arguments: list[str]) -> None:
    assert "torch" not in loaded_by(*arguments)
