"""An exported run: what Minari loads is what was stored, and comes back as the rollouts it was."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from minari_rollouts import NAMES, SPEC, describe, make_run, rollout

from store.errors import AmagoError, StorageError
from store.layout import RunPaths, numbered_files
from store.minari import check_dataset_id, dataset_id_of, find_dataset, minari_space
from store.minari_export import export_minari
from store.minari_join import join_attempts
from store.minari_reader import open_dataset, read_episodes
from store.rollouts import RolloutReader

ID = "amago/two-rooms/rooms-1-v0"


@pytest.fixture
def run(tmp_path: Path) -> RunPaths:
    return make_run(tmp_path / "runs", [rollout(0), rollout(1, diagnosed=True), rollout(2)])


@pytest.fixture
def datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "datasets"))
    return tmp_path / "datasets"


def test_minari_loads_every_field_bit_by_bit(run: RunPaths, datasets: Path) -> None:
    minari = pytest.importorskip("minari")
    folder, episodes = export_minari(run, "train", datasets, ID, describe)
    assert episodes == 6 and folder == datasets / ID
    assert list(minari.list_local_datasets()) == [ID]
    dataset = minari.load_dataset(ID)
    assert (dataset.total_episodes, dataset.total_steps) == (6, 27)
    attributes = list(dataset.storage.get_episode_metadata(range(6)))
    for trial, stored in enumerate(RolloutReader(run.rollouts("train"))):
        for attempt, (start, stop) in enumerate([(0, 4), (4, 9)], 1):
            number = 2 * trial + attempt - 1
            episode, told = dataset[number], attributes[number]["amago"]
            known = stop + 1 if attempt == 2 else stop  # the first attempt's last state was not stored
            for name, array in stored.observations.items():
                assert np.array_equal(episode.observations[name][: known - start], array[start:known])
                assert episode.observations[name].dtype == array.dtype
            assert np.array_equal(episode.actions, stored.actions[start:stop])
            assert episode.rewards.dtype == np.float64
            assert np.array_equal(episode.rewards, stored.rewards[start:stop].astype(np.float64))
            assert np.array_equal(episode.terminations, stored.terminated[start:stop])
            assert episode.infos["progress"].tolist() == [[0, 0, 1, 1, 2], [0, 0, 0, 1, 1, 1]][attempt - 1]
            assert attributes[number]["seed"] == stored.info.seed
            assert (told["run"], told["trial"], told["attempt"]) == ("rooms.1", trial + 1, attempt)
            assert (told["split"], told["step"]) == ("train", stored.info.step)
            assert told["instruction"] == "goal_3, goal_7"
            if stored.diagnostics:
                values = episode.infos["diagnostics"]["values"]
                assert np.isnan(values[0]).all() and np.array_equal(
                    values[1:], stored.diagnostics["values"][start:stop]
                )


def test_an_attempt_is_an_episode_with_its_own_end(run: RunPaths, datasets: Path) -> None:
    minari = pytest.importorskip("minari")
    export_minari(run, "train", datasets, ID, describe)
    dataset = minari.load_dataset(ID)
    first, second = dataset[0], dataset[1]
    assert first.infos["success"].tolist() == [False, False, False, False, True]
    assert not second.infos["success"].any()
    assert first.truncations.tolist() == [False, False, False, True]
    assert np.array_equal(first.observations["image"][4], first.observations["image"][3])
    assert first.observations["goal"] == ["goal_3", "goal_3", "goal_7", "goal_7", ""]
    assert set(second.observations["instruction"]) == {"goal_3, goal_7"}
    assert second.infos["achieved"].tolist() == [[-1, -1], [-1, -1], [-1, -1], [5, 3], [-1, -1], [-1, -1]]
    finals = [told["amago"]["final"] for told in dataset.storage.get_episode_metadata([0, 1])]
    assert finals == [False, True]


def test_everything_lies_in_the_spaces_that_the_dataset_declares(run: RunPaths, datasets: Path) -> None:
    minari = pytest.importorskip("minari")
    export_minari(run, "train", datasets, ID, describe)
    dataset = minari.load_dataset(ID)
    for episode in dataset.iterate_episodes():
        for t in range(len(episode) + 1):
            state = {name: rows[t] for name, rows in episode.observations.items()}
            assert dataset.observation_space.contains(state)
        assert all(dataset.action_space.contains(action) for action in episode.actions)


def test_attempts_come_back_as_the_rollouts_they_were(run: RunPaths, datasets: Path, same) -> None:
    folder, _ = export_minari(run, "train", datasets, ID, describe)
    joined = list(join_attempts(read_episodes(open_dataset(folder / "data")), "train"))
    for mine, stored in zip(joined, RolloutReader(run.rollouts("train")), strict=True):
        same(mine, stored)


def test_without_instructions_there_are_no_words_and_success_is_a_return(tmp_path: Path, datasets: Path) -> None:
    from store.minari_episode import episodes_of

    spec = {**SPEC, "max_instruction": 0, "success_return": 1.1}
    first, second = episodes_of(rollout(0), "run", spec, describe)
    assert not {"observations/goal", "observations/instruction", "infos/achieved"} & first.arrays.keys()
    assert first.arrays["infos/success"][-1] and second.arrays["infos/success"][-1]
    harder = episodes_of(rollout(0), "run", {**spec, "success_return": 1.2}, describe)
    assert [bool(episode.arrays["infos/success"][-1]) for episode in harder] == [True, False]


def test_a_dataset_that_exists_is_left_alone(run: RunPaths, datasets: Path) -> None:
    (datasets / ID).mkdir(parents=True)
    with pytest.raises(AmagoError, match="exists already"):
        export_minari(run, "train", datasets, ID, describe)
    assert not any((datasets / ID).iterdir())


def test_a_damaged_shard_leaves_nothing_behind(run: RunPaths, datasets: Path) -> None:
    _, path = numbered_files(run.rollouts("train"))[1]
    data = bytearray(path.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 4000] = bytes(4000)
    path.write_bytes(data)
    with pytest.raises(StorageError):
        export_minari(run, "train", datasets, ID, describe)
    assert [p.name for p in (datasets / "amago" / "two-rooms").iterdir()] == ["namespace_metadata.json"]


def test_a_full_disk_is_said_before_hdf5_sees_it(
    run: RunPaths, datasets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=16 * 1024**2))
    with pytest.raises(StorageError, match="disk full while writing"):
        export_minari(run, "train", datasets, ID, describe)
    assert [p.name for p in (datasets / "amago" / "two-rooms").iterdir()] == ["namespace_metadata.json"]


def test_what_a_killed_export_left_does_not_disturb_the_next(run: RunPaths, datasets: Path) -> None:
    leftover = datasets / "amago" / "two-rooms" / ".rooms-1-v0.partial"
    leftover.mkdir(parents=True)
    (leftover / "rubbish").touch()
    export_minari(run, "train", datasets, ID, describe)
    assert not leftover.exists() and not (datasets / ID / "rubbish").exists()


def test_a_split_without_rollouts_is_refused(run: RunPaths, datasets: Path) -> None:
    with pytest.raises(AmagoError, match="no stored rollouts of the split 'eval'"):
        export_minari(run, "eval", datasets, ID, describe)
    assert not datasets.exists()


def test_ids_follow_from_environment_and_run() -> None:
    assert dataset_id_of("gym:CartPole-v1", "calm.otter_7") == "amago/gym-CartPole-v1/calm-otter_7-v0"
    assert check_dataset_id("mine/cart-pole/expert-v12") == "mine/cart-pole/expert-v12"
    for bad in ("expert", "../expert-v0", "/tmp/x-v0", "a//b-v0", "ex pert-v0", ""):
        with pytest.raises(AmagoError, match="id of a Minari dataset"):
            check_dataset_id(bad)


def test_a_dataset_is_found_by_folder_and_by_id(run: RunPaths, datasets: Path) -> None:
    folder, _ = export_minari(run, "train", datasets, ID, describe)
    for text in (ID, str(folder), str(folder / "data")):
        assert find_dataset(text) == folder / "data"
    assert find_dataset("amago/two-rooms/another-v0") is None


def test_infinite_bounds_are_written_as_minari_writes_them(run: RunPaths, datasets: Path) -> None:
    folder, _ = export_minari(run, "train", datasets, ID, describe)
    record = json.loads((folder / "data" / "metadata.json").read_text())
    assert json.loads(record["observation_space"])["subspaces"]["daylight"]["high"] == [float("inf")]
    assert record["jpeg_encoding"] is False
    assert minari_space({"type": "MultiBinary", "shape": [4]}) == {"type": "MultiBinary", "n": 4}
    assert set("goal_37, ") <= set(json.loads(record["observation_space"])["subspaces"]["goal"]["charset"])
    assert NAMES[3] == "goal_3"
