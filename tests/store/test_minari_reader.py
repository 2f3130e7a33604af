"""A Minari dataset that somebody sent: whatever is wrong with it becomes one line that names the file."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from minari_rollouts import dying, hanging
from PIL import Image

from store import minari_images
from store.errors import StorageError
from store.minari_reader import open_dataset, read_episodes, read_lengths

BOX = {"type": "Box", "dtype": "float32", "shape": [2], "low": [-1, -1], "high": [1, 1]}
DISCRETE = {"type": "Discrete", "dtype": "int64", "start": 0, "n": 3}
FRAME = (32, 36, 3)
IMAGE = {
    "type": "Box",
    "dtype": "uint8",
    "shape": list(FRAME),
    "low": np.zeros(FRAME, int).tolist(),
    "high": np.full(FRAME, 255).tolist(),
}
STEPS = 4


def write_dataset(folder: Path, *, observed: dict[str, Any] = BOX, observations: Any = None, **metadata: Any) -> Path:
    """Two episodes of 4 steps; `observations` are what each of them observed."""
    record = {
        "total_episodes": 2,
        "data_format": "hdf5",
        "observation_space": json.dumps(observed),
        "action_space": json.dumps(DISCRETE),
        "dataset_id": "test/rooms-v0",
        **metadata,
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "metadata.json").write_text(json.dumps(record))
    with h5py.File(folder / "main_data.hdf5", "w") as file:
        for number in range(2):
            group = file.create_group(f"episode_{number}")
            _write(
                group, "observations", np.zeros((STEPS + 1, 2), np.float32) if observations is None else observations
            )
            group["actions"] = np.arange(STEPS) % 3
            group["rewards"] = np.arange(STEPS) + 0.5
            group["terminations"] = np.arange(STEPS) == STEPS - 1
            group["truncations"] = np.zeros(STEPS, bool)
            group.attrs["seed"] = 7 + number
    return folder


def _write(group: h5py.Group, name: str, data: Any) -> None:
    if isinstance(data, dict):
        for key, part in data.items():
            _write(group.require_group(name), key, part)
    else:
        group[name] = data


def test_episodes_come_as_they_were_written(tmp_path: Path) -> None:
    dataset = open_dataset(write_dataset(tmp_path))
    assert (dataset.id, dataset.num_episodes, dataset.ours, dataset.env_spec) == ("test/rooms-v0", 2, {}, {})
    assert read_lengths(dataset) == [STEPS, STEPS]
    first, second = read_episodes(dataset)
    assert first.rewards.tolist() == [0.5, 1.5, 2.5, 3.5] and first.terminations[-1] and not first.truncations.any()
    assert (first.seed, second.seed) == (7, 8)


def test_nested_spaces_are_followed_and_texts_passed_over(tmp_path: Path) -> None:
    text = {"type": "Text", "max_length": 3, "min_length": 0, "charset": "abc"}
    space = {
        "type": "Dict",
        "subspaces": {"pair": {"type": "Tuple", "subspaces": [text, DISCRETE]}, "said": text},
    }
    words = np.array(["ab"] * (STEPS + 1), h5py.string_dtype())
    rows = {"pair": {"_index_0": words, "_index_1": np.arange(STEPS + 1)}, "said": words}
    first, _ = read_episodes(open_dataset(write_dataset(tmp_path, observed=space, observations=rows)))
    assert isinstance(first.observations, dict) and first.observations.keys() == {"pair"}
    assert first.observations["pair"][0].tolist() == [0, 1, 2, 3, 4]


def no_steps(folder: Path) -> None:
    (folder / "main_data.hdf5").unlink()


def cut_off(folder: Path) -> None:
    path = folder / "main_data.hdf5"
    path.write_bytes(path.read_bytes()[:1500])


def more_episodes_claimed(folder: Path) -> None:
    _change_metadata(folder, total_episodes=3)


def edited(change: Callable[[h5py.Group], None]) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        with h5py.File(folder / "main_data.hdf5", "a") as file:
            change(file["episode_1"])

    edit.__name__ = change.__name__
    return edit


def _replace(group: h5py.Group, name: str, data: Any) -> None:
    del group[name]
    group[name] = data


@edited
def too_few_observations(group: h5py.Group) -> None:
    _replace(group, "observations", np.zeros((STEPS, 2), np.float32))


@edited
def rewards_of_words(group: h5py.Group) -> None:
    _replace(group, "rewards", np.array(["a"] * STEPS, h5py.string_dtype()))


@edited
def rewards_not_finite(group: h5py.Group) -> None:
    _replace(group, "rewards", np.full(STEPS, np.nan))


@edited
def no_rewards(group: h5py.Group) -> None:
    _replace(group, "rewards", np.zeros(0))


@edited
def link_to_another_file(group: h5py.Group) -> None:
    _replace(group, "actions", h5py.ExternalLink("/etc/passwd", "/x"))


@edited
def data_in_another_file(group: h5py.Group) -> None:
    del group["actions"]
    group.create_dataset("actions", (STEPS,), "i8", external=[("/etc/passwd", 0, STEPS * 8)])


@edited
def absurd_size(group: h5py.Group) -> None:
    del group["observations"]
    group.create_dataset("observations", (STEPS + 1, 2**40), "f4", chunks=(1, 2**20))


@edited
def group_for_dataset(group: h5py.Group) -> None:
    del group["terminations"]
    group.create_group("terminations")


@pytest.mark.parametrize(
    "damage",
    [
        no_steps,
        cut_off,
        more_episodes_claimed,
        too_few_observations,
        rewards_of_words,
        rewards_not_finite,
        no_rewards,
        link_to_another_file,
        data_in_another_file,
        absurd_size,
        group_for_dataset,
    ],
)
def test_damaged_steps_are_one_line_that_names_the_file(damage: Callable[[Path], None], tmp_path: Path) -> None:
    damage(write_dataset(tmp_path))
    with pytest.raises(StorageError) as caught:
        list(read_episodes(open_dataset(tmp_path)))
    assert "main_data.hdf5" in str(caught.value) and "\n" not in str(caught.value)


def _change_metadata(folder: Path, **changes: Any) -> None:
    path = folder / "metadata.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


@pytest.mark.parametrize(
    "changes",
    [
        {"total_episodes": -1},
        {"total_episodes": "many"},
        {"data_format": "arrow"},
        {"observation_space": None},
        {"observation_space": "[1, 2]"},
        {"action_space": "{" * 100_000},
        {"action_space": "[" * 100_000},
        {"env_spec": "not json"},
        {"amago": 3},
    ],
    ids=repr,
)
def test_damaged_metadata_are_one_line_that_names_the_file(changes: dict[str, Any], tmp_path: Path) -> None:
    write_dataset(tmp_path)
    _change_metadata(tmp_path, **changes)
    with pytest.raises(StorageError, match=r"metadata\.json") as caught:
        open_dataset(tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("space", [{"type": "Dict", "subspaces": 3}, {"type": "Box", "dtype": "uint8", "shape": "ab"}])
def test_a_space_that_cannot_be_followed_is_one_line(space: dict[str, Any], tmp_path: Path) -> None:
    write_dataset(tmp_path, observed=space)
    with pytest.raises(StorageError) as caught:
        list(read_episodes(open_dataset(tmp_path)))
    assert "\n" not in str(caught.value)


def test_an_id_that_a_terminal_would_obey_is_not_repeated(tmp_path: Path) -> None:
    assert open_dataset(write_dataset(tmp_path / "data", dataset_id="\x1b[2J-v0")).id == tmp_path.name


def test_metadata_that_are_no_object_are_refused(tmp_path: Path) -> None:
    write_dataset(tmp_path)
    (tmp_path / "metadata.json").write_text("[]")
    with pytest.raises(StorageError, match="Minari dataset"):
        open_dataset(tmp_path)


def jpegs(frames: list[np.ndarray]) -> np.ndarray:
    """JPEG files of different lengths, as Minari stores them."""
    files = np.empty(len(frames), object)
    for row, frame in enumerate(frames):
        buffer = io.BytesIO()
        Image.fromarray(frame).save(buffer, format="JPEG")
        files[row] = np.frombuffer(buffer.getvalue(), np.uint8)
    return files


def write_images(folder: Path, files: np.ndarray) -> Path:
    """A dataset of images whose episodes both observed `files`."""
    write_dataset(folder, observed=IMAGE)
    with h5py.File(folder / "main_data.hdf5", "a") as file:
        for group in file.values():
            del group["observations"]
            group.create_dataset("observations", data=files, dtype=h5py.vlen_dtype(np.uint8))
    return folder


def flat_frames() -> list[np.ndarray]:
    """Frames of one colour each, which JPEG keeps but for rounding; the first is noisy, so its file is longer."""
    noisy = np.random.default_rng(0).integers(0, 256, FRAME, dtype=np.uint8)
    return [noisy, *(np.full(FRAME, 50 * t, np.uint8) for t in range(STEPS))]


def test_images_are_decoded(tmp_path: Path) -> None:
    first, _ = read_episodes(open_dataset(write_images(tmp_path, jpegs(flat_frames()))))
    assert isinstance(first.observations, np.ndarray)
    assert first.observations.shape == (STEPS + 1, *FRAME) and first.observations.dtype == np.uint8
    for t in range(STEPS):
        assert np.abs(first.observations[t + 1].astype(int) - 50 * t).max() <= 2


def test_images_of_another_size_are_refused_before_they_are_decoded(tmp_path: Path) -> None:
    files = jpegs([*flat_frames()[:-1], np.zeros((3000, 3000, 3), np.uint8)])
    with pytest.raises(StorageError, match="3000 x 3000 pixels, expected 32 x 36"):
        list(read_episodes(open_dataset(write_images(tmp_path, files))))


def test_what_is_no_jpeg_is_not_decoded(tmp_path: Path) -> None:
    files = jpegs(flat_frames())
    buffer = io.BytesIO()
    Image.fromarray(flat_frames()[1]).save(buffer, format="PNG")
    files[2] = np.frombuffer(buffer.getvalue(), np.uint8)
    with pytest.raises(StorageError, match="no JPEG"):
        list(read_episodes(open_dataset(write_images(tmp_path, files))))


def test_a_reader_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minari_images, "_PATIENCE", 20.0)  # enough to start a process on a busy machine
    items = minari_images.read_elsewhere(hanging, open_dataset(write_dataset(tmp_path)))
    assert next(items) == 1
    monkeypatch.setattr(minari_images, "_PATIENCE", 0.2)
    with pytest.raises(StorageError, match="takes over"):
        next(items)


def test_a_reader_that_dies_is_an_error(tmp_path: Path) -> None:
    items = minari_images.read_elsewhere(dying, open_dataset(write_dataset(tmp_path)))
    assert next(items) == 1
    with pytest.raises(StorageError, match="killed the reader"):
        next(items)
