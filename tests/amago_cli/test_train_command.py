"""`amago train` without the training: what is checked, created, locked, printed and returned."""

from __future__ import annotations

import json
import os
import signal
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent.config import environment_names
from agent.presets import PRESETS
from store.atomic import read_json
from store.errors import AmagoError, DivergedError, StorageError
from store.layout import RunPaths
from store.lock import RunLock
from store.runs import read_config

Amago = Callable[..., Any]
GOALS = ("--goals", "stone pickaxe,collect iron x2")


def test_goals_are_echoed_as_understood_before_training(amago: Amago, training: Any) -> None:
    result = amago("train", "crafter", *GOALS, "--run", "a", "--preset", "tiny")
    assert result.code == 0
    lines = result.out.splitlines()
    assert lines[0] == "setting up crafter ..."
    assert "1. make stone pickaxe, 2. collect iron, 3. collect iron (in 50% of the rollouts)" in lines[1]
    assert "\x1b" not in result.out + result.err
    assert training.calls[0]["config"].task.goals == "stone pickaxe,collect iron x2"
    assert training.calls[0]["resume"] is False


def test_the_last_lines_are_the_next_commands(amago: Amago, training: Any) -> None:
    result = amago("train", "crafter", "--run", "a", "--steps", "1000")
    assert result.out.splitlines()[-3:] == [
        "next:",
        "  amago eval --checkpoint a",
        "  amago train --resume a --steps 2000",
    ]
    assert "instructions are drawn from all goals" in result.out


def test_the_run_records_its_configuration_and_command(amago: Amago, training: Any) -> None:
    amago("train", "crafter", *GOALS, "--run", "a", "--preset", "tiny", "--seed", "5", "--actor", "dep")
    record = read_config(RunPaths(Path("runs/a")))
    assert record["config"]["run"]["seed"] == 5
    assert record["config"]["loss"]["actor"] == "dep"
    assert record["preset"] == "tiny"
    assert record["command"].startswith("amago train crafter --goals 'stone pickaxe,collect iron x2'")


def test_json_is_all_that_stdout_has(amago: Amago, training: Any) -> None:
    result = amago("train", "crafter", "--run", "a", "--json", "--steps", "10")
    records = [json.loads(line) for line in result.out.splitlines()]
    assert [record["type"] for record in records] == ["start", "progress", "event", "end"]
    assert records[0]["run"] == "a"
    assert records[-1]["reason"] == "steps"
    assert "setting up crafter" in result.err


def test_dry_run_prints_a_configuration_file_and_creates_nothing(amago: Amago, training: Any) -> None:
    result = amago("train", "crafter", *GOALS, "--dry-run", "--steps", "5000", "--set", "optimizer.batch_size=3")
    settings = tomllib.loads(result.out)
    assert settings["optimizer"]["batch_size"] == 3
    assert settings["run"]["steps"] == 5000
    comments = [line for line in result.out.splitlines() if line.startswith("#")]
    assert "make stone pickaxe" in comments[0]
    assert "parameters" in comments[1]
    assert "of memory when full" in comments[2]
    assert not Path("runs").exists()
    Path("again.toml").write_text(result.out)
    again = amago("train", "--config", "again.toml", "--dry-run")
    assert tomllib.loads(again.out) == settings


def test_a_dry_run_for_programs_is_json_alone(amago: Amago, training: Any) -> None:
    checked = json.loads(amago("train", "crafter", *GOALS, "--dry-run", "--json", "--steps", "5000").out)
    assert checked["config"]["run"]["steps"] == 5000
    assert "make stone pickaxe" in checked["task"] and len(checked["needs"]) == 2
    shown = json.loads(amago("train", "tmaze", "--show-config", "--json").out)
    assert shown["env"]["name"] == "tmaze"


@pytest.mark.parametrize("name", environment_names())
def test_every_environment_explains_its_fields(amago: Amago, name: str) -> None:
    result = amago("train", name, "--show-config", "--preset", "tiny")
    assert result.code == 0
    settings = tomllib.loads(result.out)
    assert settings["env"]["name"] == name
    described = [line for line in result.out.splitlines() if " = " in line]
    assert all("  # " in line for line in described)


@pytest.mark.parametrize("name", ["tmaze", "dark-key-door", "frozen-lake", "delivery", "maze", "gym"])
def test_a_dry_run_of_every_environment_can_be_read_back(amago: Amago, training: Any, name: str) -> None:
    more = ("--id", "CartPole-v1") if name == "gym" else ()
    result = amago("train", name, *more, "--dry-run", "--preset", "tiny", "--steps", "1000")
    assert result.code == 0, result.err
    assert result.out.startswith(f"# {name} (attempts ") or result.out.startswith(f"# {name} (horizon ")
    Path("again.toml").write_text(result.out)
    again = amago("train", "--config", "again.toml", "--dry-run", "--preset", "tiny")
    assert tomllib.loads(again.out) == tomllib.loads(result.out)


def test_attempts_and_horizon_have_options(amago: Amago, training: Any) -> None:
    result = amago("train", "crafter", *GOALS, "--attempts", "2", "--horizon", "900", "--run", "a")
    env = training.calls[0]["config"].env
    assert (env.attempts, env.horizon) == (2, 900)
    assert "crafter, attempts per rollout: 2, at most 900 steps, goals in this order: " in result.out


def test_an_environment_without_a_preset_of_its_own_starts_from_the_small_one(
    amago: Amago, training: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(PRESETS, "tmaze", raising=False)
    amago("train", "tmaze", "--run", "a")
    assert read_config(RunPaths(Path("runs/a")))["preset"] == "small"
    assert training.calls[0]["config"].env.name == "tmaze"


def test_show_config_explains_every_field(amago: Amago, training: Any) -> None:
    result = amago("train", "--show-config", "--preset", "tiny")
    assert "seed of everything random" in result.out
    assert tomllib.loads(result.out)["env"]["name"] == "crafter"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "say what to play"),
        (("crafer",), "unknown environment 'crafer'; did you mean crafter?"),
        (("crafter", "--preset", "smal"), "did you mean small"),
        (("crafter", "--goals", "collect irn"), '"iron"'),
        (("crafter", "--goals", "stone"), "ambiguous"),
        (("crafter", "--set", "run.stepz=3"), "run.steps"),
        (("crafter", "--set", "collect.actors=0"), "collect.actors: Input should be greater than 0, got 0"),
        (("crafter", "--config", "none.toml"), "cannot read the configuration file none.toml"),
        (("crafter", "--run", "../x"), "cannot be the name of a run"),
        (("tmaze", "--goals", "eat cow"), "tmaze takes no instructions in words: --goals is for crafter"),
        (("maze", "--set", "task.goals=eat cow"), "maze takes no instructions in words"),
        (("tmaze", "--obs", "pixels"), "'env.observation' (tmaze has no such field; crafter has)"),
        (("crafter", "--id", "CartPole-v1"), "'env.id' (crafter has no such field; gym has)"),
        (("crafter", "--attempts", "0"), "env.attempts: Input should be greater than 0, got 0"),
        (("gym",), "--id CartPole-v1"),
        (("gym", "--id", "CartPloe-v1"), "CartPole-v1"),
        (("gym", "--id", "CartPloe-v1", "--dry-run"), "CartPole-v1"),
        (("--set", "env.name=nowhere"), "say what to play"),
        (("crafter", "--set", "env.name=tmaz"), "did you mean tmaze or maze?"),
        (("--resume", "nobody"), "there is no run 'nobody'"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    amago: Amago, training: Any, arguments: tuple[str, ...], message: str
) -> None:
    result = amago("train", *arguments)
    assert result.code == 2
    assert len(result.err.splitlines()) == 1
    assert result.err.startswith("amago: ")
    assert message in result.err
    assert not training.calls and not Path("runs").exists()


def test_a_run_is_never_overwritten(amago: Amago, training: Any) -> None:
    amago("train", "crafter", "--run", "a")
    result = amago("train", "crafter", "--run", "a")
    assert result.code == 2
    assert "amago train --resume a" in result.err


def test_resume_keeps_the_configuration_and_remembers_a_new_budget(amago: Amago, training: Any) -> None:
    amago("train", "crafter", *GOALS, "--run", "a", "--seed", "5", "--steps", "10")
    result = amago("train", "--resume", "a", "--steps", "20", "--set", "run.log_every=1")
    assert result.code == 0
    assert "make stone pickaxe" in result.out
    call = training.calls[1]
    assert call["resume"] is True
    assert (call["config"].run.steps, call["config"].run.seed) == (20, 5)
    amago("train", "--resume", "a")
    assert training.calls[2]["config"].run.steps == 20
    assert read_json(Path("runs/a/config.json"))["preset"] == "small"


def test_a_resume_that_is_refused_changes_nothing(amago: Amago, training: Any) -> None:
    amago("train", "crafter", "--run", "a", "--steps", "10")
    record = Path("runs/a/config.json").read_bytes()
    training.error = AmagoError("run a has used up its steps")
    assert amago("train", "--resume", "a", "--steps", "5").code == 2
    assert Path("runs/a/config.json").read_bytes() == record


def test_the_names_of_runs_are_checked_before_anything_is_loaded(amago: Amago, training: Any) -> None:
    amago("train", "crafter", "--run", "a")
    for name, message in (("a", "run a already exists"), ("../x", "cannot be the name of a run")):
        result = amago("train", "crafter", "--run", name, "--dry-run")
        assert (result.code, result.out) == (2, "")
        assert message in result.err


def test_a_missing_device_leaves_no_run_behind(amago: Amago, training: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    result = amago("train", "crafter", "--run", "a", "--device", "cuda")
    assert result.code == 2
    assert "no CUDA device" in result.err
    assert not Path("runs").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--seed", "3"), "seed cannot be given with --resume"),
        (("--actors", "3", "--goals", "eat cow"), "goals and actors cannot be given"),
        (("--run", "b"), "run cannot be given"),
        (("--preset", "small"), "preset cannot be given"),
        (("--seed", "3"), "run.* and optimizer.learning_rate"),
        (("--set", "model.d_model=8"), "keeps its model.d_model"),
        (("--set", "run.stepz=8"), "run.steps"),
    ],
)
def test_resume_refuses_what_it_would_ignore(
    amago: Amago, training: Any, arguments: tuple[str, ...], message: str
) -> None:
    amago("train", "crafter", "--run", "a")
    result = amago("train", "--resume", "a", *arguments)
    assert result.code == 2
    assert message in result.err
    assert len(training.calls) == 1


def test_a_run_in_use_is_refused_with_its_own_exit_code(amago: Amago, training: Any) -> None:
    amago("train", "crafter", "--run", "a")
    with RunLock(RunPaths(Path("runs/a"))):
        result = amago("train", "--resume", "a")
    assert result.code == 3
    assert str(os.getpid()) in result.err
    assert len(training.calls) == 1


@pytest.mark.parametrize(("error", "code"), [(DivergedError("loss is not finite"), 6), (StorageError("disk full"), 5)])
def test_errors_of_training_have_their_exit_codes(amago: Amago, training: Any, error: Exception, code: int) -> None:
    training.error = error
    result = amago("train", "crafter", "--run", "a")
    assert (result.code, result.err) == (code, f"amago: {error}\n")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_stops_cleanly(amago: Amago, training: Any, number: int, code: int) -> None:
    training.during = lambda: os.kill(os.getpid(), number)
    before = signal.getsignal(number)
    result = amago("train", "crafter", "--run", "a", "--runs-dir", "elsewhere")
    assert result.code == code
    assert "stopping: writing a checkpoint; press Ctrl-C again to leave at once" in result.out
    assert "stopped on request: 1,000 steps" in result.out
    assert "amago train --resume a --runs-dir" in result.out
    assert signal.getsignal(number) is before


def test_an_unexpected_error_is_one_line_and_a_file(amago: Amago, training: Any) -> None:
    training.error = RuntimeError("broken\ninvariant")
    result = amago("train", "crafter", "--run", "a")
    assert result.code == 1
    (line,) = result.err.splitlines()
    assert line.startswith("amago: internal error: RuntimeError: broken; traceback in ")
    file = Path(line.rpartition(" ")[2])
    assert "Traceback" in file.read_text()
    file.unlink()


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError("[enforce fail at alloc_cpu.cpp:119] err == 0. DefaultCPUAllocator: can't allocate memory"),
        type("OutOfMemoryError", (RuntimeError,), {})("CUDA: tried to allocate 20.00 GiB"),
    ],
)
def test_too_little_memory_is_said_in_one_line(amago: Amago, training: Any, error: Exception) -> None:
    training.error = error
    result = amago("train", "crafter", "--run", "a")
    assert result.code == 1
    assert result.err.startswith("amago: out of memory; a smaller replay.max_bytes")


def test_debug_shows_the_traceback(amago: Amago, training: Any) -> None:
    training.error = RuntimeError("broken")
    result = amago("--debug", "train", "crafter", "--run", "a")
    assert result.code == 1
    assert "Traceback (most recent call last)" in result.err
