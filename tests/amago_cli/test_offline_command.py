"""Minari datasets out of runs and runs out of them, and `amago train --offline`, with a stand-in that trains."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from agent.catalog import make_env
from agent.config import Config, override
from agent.envs.base import EnvSpec
from store.layout import RunPaths, numbered_files
from store.minari import find_dataset
from store.rollouts import RolloutReader, RolloutWriter
from store.runs import create_run, read_config
from store.trajectory import Trajectory, TrajectoryInfo

LAKE = override(Config(), {"env.name": "frozen-lake", "env.size": 4})
ID = "amago/frozen-lake/lake-v0"


def rollout(seed: int) -> Trajectory:
    """Two attempts of three steps; nobody gets anywhere."""
    rng = np.random.default_rng(seed)
    return Trajectory(
        observations={"position": rng.integers(4, size=(7, 2)).astype(np.uint8)},
        actions=rng.integers(4, size=6),
        rewards=np.zeros(6, np.float32),
        terminated=np.arange(6) == 5,
        truncated=np.zeros(6, bool),
        is_first=np.isin(np.arange(7), (0, 3)),
        progress=np.zeros(7, np.uint8),
        instruction=np.zeros(0, np.int16),
        events=np.zeros((0, 2), np.int32),
        info=TrajectoryInfo(
            environment="frozen-lake",
            seed=2 * seed,
            actor=0,
            split="train",
            cause="broke in",
            wanted=False,
            policy_update=0,
            step=6 * (seed + 1),
            epsilon=0.1,
        ),
    )


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunPaths:
    """A run of five rollouts on a frozen lake of 4 x 4."""
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "datasets"))
    paths = create_run(tmp_path / "runs", "lake", LAKE.model_dump(mode="json"))
    writer = RolloutWriter(paths, "train", spec=EnvSpec.from_env(make_env(LAKE.env)()).to_json())
    for seed in range(5):
        writer.append(rollout(seed))
    writer.close()
    return paths


def stored(paths: RunPaths) -> list[list[int]]:
    return [trajectory.actions.tolist() for trajectory in RolloutReader(paths.rollouts("train"))]


def run_of(lake: RunPaths, name: str) -> RunPaths:
    return RunPaths(lake.root.parent / name)


def test_export_goes_where_minari_looks(amago: Callable, lake: RunPaths, tmp_path: Path) -> None:
    done = amago("store", "export", "lake", "--format", "minari")
    assert done.code == 0 and done.out == f'next: minari.load_dataset("{ID}")\n' and "10 episodes" in done.err
    assert (tmp_path / "datasets" / ID / "data" / "main_data.hdf5").is_file()
    again = amago("store", "export", "lake", "--format", "minari")
    assert again.code == 2 and "exists already" in again.err and again.err.count("\n") == 1


def test_export_under_another_name_and_into_another_folder(amago: Callable, lake: RunPaths, tmp_path: Path) -> None:
    done = amago("store", "export", "lake", "--format", "minari", "--name", "mine/lake-v7", "--output", "elsewhere")
    assert done.code == 0 and "MINARI_DATASETS_PATH=" in done.out
    assert (tmp_path / "elsewhere" / "mine" / "lake-v7" / "data" / "metadata.json").is_file()
    wrong = amago("store", "export", "lake", "--format", "minari", "--name", "../lake")
    assert wrong.code == 2 and "is not the id of a Minari dataset" in wrong.err


def test_import_makes_a_run_of_what_was_exported(amago: Callable, lake: RunPaths) -> None:
    amago("store", "export", "lake", "--format", "minari")
    done = amago("store", "import", ID, "--run", "back", "--json")
    assert done.code == 0
    told = json.loads(done.out)
    assert (told["run"], told["rollouts"], told["steps"], told["unplayable"]) == ("back", 5, 30, None)
    back = run_of(lake, "back")
    assert stored(back) == stored(lake)
    config = read_config(back)["config"]
    assert config["env"] == LAKE.env.model_dump(mode="json")
    assert config["replay"]["offline"] and config["loss"]["actor"] == "ind"


def test_a_dataset_that_is_damaged_leaves_no_run_behind(amago: Callable, lake: RunPaths) -> None:
    amago("store", "export", "lake", "--format", "minari")
    folder = find_dataset(ID)
    assert folder is not None
    (folder / "main_data.hdf5").write_bytes(b"rubbish")
    done = amago("store", "import", ID, "--run", "back")
    assert done.code == 5 and "main_data.hdf5" in done.err and done.err.count("\n") == 1
    assert not run_of(lake, "back").root.exists()


def test_offline_training_of_a_run_shares_its_rollouts(amago: Callable, lake: RunPaths, training) -> None:
    done = amago("train", "--offline", "lake", "--run", "off", "--updates", "9", "--plain")
    assert done.code == 0 and "learning from run lake, playing nothing" in done.out
    (call,) = training.calls
    config = call["config"]
    assert config.replay.offline and config.loss.actor == "ind" and config.run.updates == 9
    assert config.env == LAKE.env
    ours, theirs = (numbered_files(paths.rollouts("train")) for paths in (run_of(lake, "off"), lake))
    assert [path.samefile(other) for (_, path), (_, other) in zip(ours, theirs, strict=True)] == [True]


def test_what_is_typed_wins_over_what_offline_training_starts_from(amago: Callable, lake: RunPaths, training) -> None:
    amago("train", "--offline", "lake", "--actor", "dep", "--set", "loss.cloning_weight=2", "--plain")
    config = training.calls[0]["config"]
    assert (config.loss.actor, config.loss.cloning_weight) == ("dep", 2.0)


def test_offline_training_of_a_dataset(amago: Callable, lake: RunPaths, training) -> None:
    amago("store", "export", "lake", "--format", "minari")
    assert amago("train", "--offline", ID, "--run", "off", "--plain").code == 0
    assert stored(run_of(lake, "off")) == stored(lake)


def test_a_dry_run_creates_nothing(amago: Callable, lake: RunPaths, training) -> None:
    done = amago("train", "--offline", "lake", "--run", "off", "--dry-run")
    assert done.code == 0 and "offline = true" in done.out
    assert not run_of(lake, "off").root.exists() and not training.calls


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("train", "--offline", "nothing"), "nor a Minari dataset of that folder or id"),
        (("train", "maze", "--offline", "lake"), "environment cannot be given with --offline"),
        (("train", "--offline", "lake", "--actors", "3", "--steps", "9"), "steps and actors cannot be given"),
        (("train", "--resume", "lake", "--offline", "lake"), "offline cannot be given with --resume"),
        (("train", "--offline", "lake", "--id", "CartPole-v1"), "--id is for datasets of others"),
        (("train", "--offline", "lake", "--run", "lake"), "run lake already exists"),
        (("store", "import", "nothing-v0"), "nor a Minari dataset of that folder or id"),
    ],
)
def test_what_cannot_be_is_one_line(
    arguments: tuple[str, ...], message: str, amago: Callable, lake: RunPaths, training
) -> None:
    done = amago(*arguments)
    assert done.code == 2 and message in done.err and "Traceback" not in done.err
    assert [path.name for path in lake.root.parent.iterdir()] == ["lake"]
