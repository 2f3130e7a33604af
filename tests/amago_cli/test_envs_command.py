from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent.catalog import ENVIRONMENTS, Needs

Amago = Callable[..., Any]

CORRIDOR = """
import gymnasium
import numpy as np
from gymnasium import spaces


class Corridor(gymnasium.Env):
    max_steps = 9
    success_return = 1.0
    observation_space = spaces.Discrete(6)
    action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = int(self.np_random.integers(4))
        return self.place, {}

    def step(self, action):
        self.place = max(self.place + 2 * int(action) - 1, 0)
        return self.place, float(self.place == 5), self.place == 5, False, {}


class Leaky(Corridor):
    def step(self, action):
        print("noise")
        return (9, *super().step(action)[1:])
"""


@pytest.fixture
def corridor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module in the working directory."""
    (tmp_path / "corridor.py").write_text(CORRIDOR)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "corridor", raising=False)


def test_check_says_one_line_per_check(amago: Amago, corridor: None) -> None:
    result = amago("envs", "check", "corridor:Corridor")
    assert result.code == 0
    lines = result.out.splitlines()
    assert lines[0].split() == ["ok", "made", "own:corridor:Corridor"]
    assert all(line.startswith("ok ") for line in lines[:-2])
    assert any(line.startswith("ok       memory") and "17 B a step" in line for line in lines)
    assert lines[-1] == "no problem; next: amago train corridor:Corridor"


def test_check_fails_where_something_is_wrong(amago: Amago, corridor: None) -> None:
    result = amago("envs", "check", "corridor:Leaky", "--json")
    told = json.loads(result.out)  # what the environment prints is not on stdout
    assert result.code == 2
    assert told["environment"] == "corridor:Leaky"
    wrong = [each for each in told["checks"] if not each["ok"]]
    assert told["problems"] == len(wrong) == 1
    assert wrong[0]["check"] == "inside its space" and "is 9" in wrong[0]["text"]
    assert amago("envs", "check", "corridor:Leaky").out.splitlines()[-1] == "1 problem"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("tmaz",), "unknown environment 'tmaz'; did you mean tmaze"),
        (("tmaze", "--id", "CartPole-v1"), "'env.id' (tmaze has no such field; gym has)"),
    ],
)
def test_check_knows_what_it_cannot_check(amago: Amago, arguments: tuple[str, ...], message: str) -> None:
    result = amago("envs", "check", *arguments)
    assert result.code == 2 and message in result.err and len(result.err.splitlines()) == 1


def test_what_cannot_be_made_is_a_problem(amago: Amago) -> None:
    result = amago("envs", "check", "gym", "--id", "CartPloe-v1")
    assert result.code == 2
    assert result.out.splitlines()[0].startswith("PROBLEM  made  there is no Gymnasium environment 'CartPloe-v1'")
    assert "no module 'no_such_module'" in amago("envs", "check", "no_such_module:make").out


def test_the_list_says_which_packages_are_missing(amago: Amago, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = ENVIRONMENTS["tmaze"]._replace(needs=Needs(("no_such_module",), "pip install nothing"))
    there = ENVIRONMENTS["maze"]._replace(needs=Needs(("numpy",), "pip install numpy"))
    monkeypatch.setitem(ENVIRONMENTS, "tmaze", missing)
    monkeypatch.setitem(ENVIRONMENTS, "maze", there)
    lines = {line.split("  ")[0]: line for line in amago("envs").out.splitlines()}
    assert lines["tmaze"].endswith("pip install nothing")
    assert lines["maze"].endswith("installed") and lines["crafter"].endswith("come with amago")
    entries = {entry["name"]: entry for entry in json.loads(amago("envs", "--json").out)}
    assert (entries["tmaze"]["install"], entries["tmaze"]["installed"]) == ("pip install nothing", False)
    assert (entries["crafter"]["install"], entries["crafter"]["installed"]) == (None, True)


def test_an_environment_of_ones_own_is_trained_evaluated_and_resumed(amago: Amago, corridor: None) -> None:
    inline = ("--preset", "tiny", "--device", "cpu", "--deterministic", "--workers", "0")
    result = amago("train", "corridor:Corridor", *inline, "--run", "a", "--steps", "300")
    assert result.code == 0, result.err
    assert "own (attempts 1, target corridor:Corridor)" in result.out
    assert "corridor:Corridor" in amago("runs").out
    report = json.loads(amago("eval", "--checkpoint", "a", "--episodes", "5", "--json").out)
    assert report["agent"]["success"]["trials"] == 5
    assert amago("train", "--resume", "a", "--steps", "900").code == 0
    Path("corridor.py").unlink()
    del sys.modules["corridor"]
    lost = amago("eval", "--checkpoint", "a")
    assert lost.code == 2 and lost.err.splitlines()[-1].startswith("amago: there is no module 'corridor'")
