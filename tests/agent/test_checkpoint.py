"""Checkpoints that are damaged, foreign, half written or replaced, and a process that dies at every file operation."""

import json
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from gymnasium import spaces
from safetensors.torch import load_file, save_file
from tiny_agent import tiny_config
from walk_env import WalkEnv

from agent import checkpoint as checkpoints
from agent.checkpoint import META, OPTIMIZER, STATE, WEIGHTS, Checkpoint
from agent.config import Config
from agent.envs.base import EnvSpec
from agent.forward import build_model
from agent.interface import interface_of
from agent.nets.model import AgentModel
from store.errors import CheckpointError
from store.layout import RunPaths
from store.runs import create_run

SPEC = EnvSpec.from_env(WalkEnv())
CONFIG = tiny_config()


def model_of(config: Config = CONFIG, seed: int = 0) -> AgentModel:
    torch.manual_seed(seed)
    return build_model(interface_of(SPEC), config)


def checkpoint_at(step: int, seed: int = 0) -> Checkpoint:
    weights = {name: tensor.contiguous() for name, tensor in model_of(seed=seed).state_dict().items()}
    meta = {
        "step": step,
        "update": 7,
        "elapsed": 1.5,
        "saved": 0.0,
        "config": CONFIG.model_dump(mode="json"),
        "environment": SPEC.to_json(),
        "versions": {},
    }
    return Checkpoint(weights, {"actor.out.bias.step": torch.tensor(3.0)}, {"seed": seed}, meta)


@pytest.fixture
def paths(tmp_path: Path) -> RunPaths:
    return create_run(tmp_path / "runs", "r", CONFIG.model_dump(mode="json"))


def assert_holds(path: Path, expected: Checkpoint) -> None:
    found = checkpoints.load(path)
    assert found.state == expected.state
    assert found.meta["step"] == expected.meta["step"]
    for mine, theirs in ((found.weights, expected.weights), (found.optimizer, expected.optimizer)):
        assert mine.keys() == theirs.keys()
        assert all(torch.equal(mine[name], theirs[name]) for name in mine)


def test_what_is_saved_is_loaded(paths):
    saved = checkpoint_at(100)
    path = checkpoints.save(paths, saved)
    assert path == paths.checkpoint(100)
    assert_holds(path, saved)
    assert sorted(file.name for file in path.iterdir()) == sorted([WEIGHTS, OPTIMIZER, STATE, META])
    assert checkpoints.newest(paths) == (path, [])
    assert paths.pointer("latest").read_text() == "100\n"


def test_saving_again_at_the_same_step_replaces(paths):
    checkpoints.save(paths, checkpoint_at(100, seed=1))
    again = checkpoint_at(100, seed=2)
    assert_holds(checkpoints.save(paths, again), again)
    assert [path.name for path in paths.checkpoints.iterdir() if path.is_dir()] == ["100"]


def spoil_bytes(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


DAMAGES: dict[str, tuple[str, Callable[[Path], object]]] = {
    "flipped bit": ("does not match its digest", lambda path: spoil_bytes(path / WEIGHTS)),
    "flipped bit in state": ("does not match its digest", lambda path: spoil_bytes(path / STATE)),
    "cut short": ("does not match its digest", lambda path: os.truncate(path / OPTIMIZER, 10)),
    "missing": ("No such file", lambda path: (path / WEIGHTS).unlink()),
    "no description": ("not a usable checkpoint", lambda path: (path / META).unlink()),
    "description cut short": ("not a usable checkpoint", lambda path: os.truncate(path / META, 20)),
    "empty description": ("lacks what it should say", lambda path: (path / META).write_text("{}")),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_checkpoint_is_named_and_passed_over(paths, damage):
    message, spoil = DAMAGES[damage]
    good = checkpoints.save(paths, checkpoint_at(100))
    bad = checkpoints.save(paths, checkpoint_at(200))
    spoil(bad)
    path, problems = checkpoints.newest(paths)
    assert path == good
    assert len(problems) == 1 and message in problems[0] and str(bad) in problems[0]
    with pytest.raises(CheckpointError, match=rf"{message}.*the newest sound one is r@100"):
        checkpoints.resolve(paths.root.parent, "r")  # whoever asks for the latest must not get another unawares
    assert checkpoints.resolve(paths.root.parent, "r@100") == good
    with pytest.raises(CheckpointError, match=message):
        checkpoints.load(bad)
    with pytest.raises(CheckpointError, match=message):
        checkpoints.load_model(bad, SPEC)


def test_descriptions_that_lie(paths):
    path = checkpoints.save(paths, checkpoint_at(100))
    meta = json.loads((path / META).read_text())
    lies = {
        "has checkpoint format 99": {"format": 99},
        "weights.safetensors does not match its digest": {"sha256": {"../../config.json": "0"}},
        "lacks what it should say": {"sha256": [1, 2]},
    }
    for message, lie in lies.items():
        (path / META).write_text(json.dumps({**meta, **lie}))
        with pytest.raises(CheckpointError, match=message):
            checkpoints.load(path)
    more_lies = {
        "describes itself wrongly": {"config": {"no": 1}},
        "describes its environment wrongly": {"environment": {"name": "walk"}},
        "lacks what it should say": {"environment": []},
    }
    for message, lie in more_lies.items():
        (path / META).write_text(json.dumps({**meta, **lie}))
        with pytest.raises(CheckpointError, match=message):
            checkpoints.load_model(path, SPEC)


def test_without_any_sound_checkpoint(paths):
    assert checkpoints.newest(paths) == (None, [])
    with pytest.raises(CheckpointError, match="run r has no checkpoint yet"):
        checkpoints.resolve(paths.root.parent, "r")
    (checkpoints.save(paths, checkpoint_at(100)) / STATE).unlink()
    with pytest.raises(CheckpointError, match=STATE):
        checkpoints.resolve(paths.root.parent, "r")


def test_partial_folders_are_discarded(paths):
    good = checkpoints.save(paths, checkpoint_at(100))
    partial = paths.checkpoints / "200.partial"
    shutil.copytree(good, partial)
    assert checkpoints.newest(paths) == (good, [])
    checkpoints.discard_partial(paths)
    assert not partial.exists() and good.exists()


def test_resolve_understands_every_way_to_say_it(paths):
    runs = paths.root.parent
    first, second, third = (checkpoints.save(paths, checkpoint_at(step)) for step in (100, 20, 300))
    checkpoints.point(paths, "best", first)
    for text in ("r", "r@latest", "r@300", str(paths.root), str(third), f"{paths.root}@latest"):
        assert checkpoints.resolve(runs, text) == third, text
    assert checkpoints.resolve(runs, "r@best") == first
    assert checkpoints.resolve(runs, "r@20") == second
    with pytest.raises(CheckpointError, match="run r has no checkpoint '7'; it has 20, 100, 300"):
        checkpoints.resolve(runs, "r@7")
    with pytest.raises(CheckpointError, match="no checkpoint 'nonsense'"):
        checkpoints.resolve(runs, "r@nonsense")


@pytest.mark.parametrize(
    ("keep", "left"), [(1, ["10", "50"]), (2, ["10", "40", "50"]), (9, ["10", "20", "30", "40", "50"])]
)
def test_prune_keeps_the_newest_and_the_best(paths, keep, left):
    for step in (10, 20, 30, 40, 50):
        path = checkpoints.save(paths, checkpoint_at(step))
        if step == 10:
            checkpoints.point(paths, "best", path)
    checkpoints.prune(paths, keep)
    assert sorted(path.name for path in paths.checkpoints.iterdir() if path.is_dir()) == left


def test_prune_never_removes_what_was_just_saved(paths):
    """After a resume from before a damaged checkpoint the newest step is not the latest."""
    spoil_bytes(checkpoints.save(paths, checkpoint_at(500)) / WEIGHTS)
    saved = checkpoints.save(paths, checkpoint_at(400))
    checkpoints.prune(paths, keep=1)
    assert checkpoints.newest(paths)[0] == saved


def test_the_model_comes_back_for_its_environment(paths):
    path = checkpoints.save(paths, checkpoint_at(100, seed=5))
    model, config = checkpoints.load_model(path, SPEC)
    assert config == CONFIG
    for name, tensor in model_of(seed=5).state_dict().items():
        assert torch.equal(tensor, model.state_dict()[name])


def test_another_environment_is_refused_with_every_difference(paths):
    path = checkpoints.save(paths, checkpoint_at(100))
    other = replace(SPEC, max_steps=99, action_space=spaces.Discrete(5))
    with pytest.raises(CheckpointError) as caught:
        checkpoints.load_model(path, other)
    assert "max_steps: 14 against 99" in str(caught.value)
    assert "action_space.n: 3 against 5" in str(caught.value)


def test_weights_of_another_shape_are_refused(paths):
    path = checkpoints.save(paths, checkpoint_at(100))
    with pytest.raises(CheckpointError, match="do not fit the configured model: size mismatch"):
        checkpoints.load_weights(model_of(tiny_config(model__d_head=16)), load_file(path / WEIGHTS))
    with pytest.raises(CheckpointError, match="do not fit the configured model"):
        checkpoints.load_weights(model_of(tiny_config(model__num_layers=1)), load_file(path / WEIGHTS))


def test_a_file_that_is_no_safetensors_is_a_checkpoint_error(paths):
    path = checkpoints.save(paths, checkpoint_at(100))
    (path / WEIGHTS).write_bytes(b"\x00" * 64)
    meta = json.loads((path / META).read_text())
    meta["sha256"][WEIGHTS] = checkpoints._digest(path / WEIGHTS)
    (path / META).write_text(json.dumps(meta))
    for load in (lambda: checkpoints.load(path), lambda: checkpoints.load_model(path, SPEC)):
        with pytest.raises(CheckpointError, match="cannot be read"):
            load()


def dies_at(operation: int, action: Callable[[], object]) -> bool:
    """Run `action` in a child process that ends at its `operation`-th change of a file; whether it did."""
    child = os.fork()
    if child == 0:
        try:
            left = operation

            def audit(event: str, arguments: tuple) -> None:
                nonlocal left
                writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
                if writes or event in ("os.rename", "os.remove", "os.rmdir", "os.mkdir"):
                    left -= 1
                    if left == 0:
                        os._exit(9)

            sys.addaudithook(audit)
            action()
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


@pytest.mark.parametrize("step", [100, 200])
def test_a_crash_at_any_moment_leaves_a_sound_checkpoint(paths, step):
    """Before each change of a file in turn, while a first checkpoint is followed or replaced by a second one."""
    old, new = checkpoint_at(100, seed=1), checkpoint_at(step, seed=2)
    operation, seen = 0, set()
    while True:
        operation += 1
        shutil.rmtree(paths.checkpoints, ignore_errors=True)
        checkpoints.save(paths, old)
        died = dies_at(operation, lambda: checkpoints.save(paths, new))
        checkpoints.discard_partial(paths)  # as a resume does
        path, problems = checkpoints.newest(paths)
        assert path is not None and problems == [], f"operation {operation}"
        found = checkpoints.load(path)
        assert_holds(path, old if found.state == old.state else new)
        seen.add(found.state["seed"])
        assert sorted(p.name for p in paths.checkpoints.iterdir() if not p.name.isdecimal()) in (
            ["latest"],
            ["latest", "latest.tmp"],
        )
        assert_holds(checkpoints.save(paths, new), new)  # and the next one can be written
        if not died:
            break
    assert operation > 8 and seen == {1, 2}


def test_a_crash_while_pruning_leaves_the_kept_ones(paths):
    operation, died = 0, True
    while died:
        operation += 1
        shutil.rmtree(paths.checkpoints, ignore_errors=True)
        for step in (100, 200, 300):
            checkpoints.save(paths, checkpoint_at(step))
        died = dies_at(operation, lambda: checkpoints.prune(paths, keep=1))
        assert checkpoints.newest(paths) == (paths.checkpoint(300), [])
    assert operation > 8


def test_weights_hold_no_code(paths):
    """Only safetensors and JSON: nothing in a checkpoint can run."""
    path = checkpoints.save(paths, checkpoint_at(100))
    for file in path.iterdir():
        assert file.suffix in (".safetensors", ".json")
        assert b"pickle" not in file.read_bytes()
    save_file({"x": torch.from_numpy(np.zeros(1))}, path / OPTIMIZER)
    with pytest.raises(CheckpointError, match="digest"):
        checkpoints.load(path)
