"""Datasets that Minari itself wrote, as trajectories of ours; and datasets that lie."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from agent.envs.foreign_spaces import read_actions, space_of
from agent.envs.gym_spaces import flat_action
from agent.minari_import import Imported, import_dataset
from store.errors import AmagoError, StorageError
from store.minari import find_dataset
from store.minari_reader import open_dataset
from store.trajectory import Trajectory

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning:minari.utils")  # it misses authors, permalinks, ...


@pytest.fixture(autouse=True)
def datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    return tmp_path


class Odd(gymnasium.Env):
    """Every kind of space at once; an episode has 6 steps."""

    observation_space = spaces.Dict(
        {
            "image": spaces.Box(0, 255, (40, 36, 3), np.uint8),
            "pair": spaces.Tuple([spaces.Text(4), spaces.Discrete(4, start=-1)]),
            "speed": spaces.Box(-1, 1, (2,), np.float64),
        }
    )
    action_space = spaces.MultiDiscrete([3, 2], start=[1, 0])

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.steps = 0
        return self.observe(), {}

    def step(self, action: Any) -> Any:
        self.steps += 1
        return self.observe(), 0.5, False, self.steps == 6, {}

    def observe(self) -> dict[str, Any]:
        image = np.full((40, 36, 3), 40 * self.steps, np.uint8)  # of one colour: JPEG keeps it but for rounding
        pair = ("ab", int(self.np_random.integers(4)) - 1)
        return {"image": image, "pair": pair, "speed": self.np_random.uniform(-1, 1, 2)}


def rows(items: list[Any]) -> Any:
    """Items that are nested alike, as arrays that are nested like them."""
    if isinstance(items[0], dict):
        return {key: rows([item[key] for item in items]) for key in items[0]}
    if isinstance(items[0], tuple):
        return tuple(rows([item[i] for item in items]) for i in range(len(items[0])))
    return items if isinstance(items[0], str) else np.array(items)


def written_by_minari(env: gymnasium.Env, name: str, episodes: int = 2, **options: Any) -> list[dict[str, Any]]:
    """Plays at random and has Minari write the dataset `name`; the episodes as they were played."""
    minari = pytest.importorskip("minari")
    from minari.data_collector import EpisodeBuffer

    played = []
    for seed in range(episodes):
        env.action_space.seed(seed)
        seen, actions, rewards, ends = [env.reset(seed=seed)[0]], [], [], []
        while not ends or not any(ends[-1]):
            actions.append(env.action_space.sample())
            observation, reward, *end = env.step(actions[-1])[:4]
            seen.append(observation)
            rewards.append(reward)
            ends.append(end)
        ends = np.array(ends)
        played.append({"observations": rows(seen), "actions": rows(actions), "rewards": rewards, "ends": ends})
    buffers = [
        EpisodeBuffer(
            seed=seed,
            observations=p["observations"],
            actions=p["actions"],
            rewards=p["rewards"],
            terminations=p["ends"][:, 0],
            truncations=p["ends"][:, 1],
        )
        for seed, p in enumerate(played)
    ]
    if env.spec is None:
        options |= {"observation_space": env.observation_space, "action_space": env.action_space}
    else:
        options |= {"env": env}
    minari.create_dataset_from_buffers(name, buffers, **options)
    return played


def imported(name: str, env_id: str | None = None) -> Imported:
    folder = find_dataset(name)
    assert folder is not None
    return import_dataset(open_dataset(folder), env_id)


def change_metadata(datasets: Path, name: str, **changes: Any) -> None:
    path = datasets / name / "data" / "metadata.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_a_known_environment_is_taken_for_what_it_is() -> None:
    played = written_by_minari(gymnasium.make("CartPole-v1"), "cartpole/random-v0")
    found = imported("cartpole/random-v0")
    assert found.unplayable == "" and found.spec.name == "gym:CartPole-v1"
    assert found.env == {"env.name": "gym", "env.id": "CartPole-v1", "env.max_steps": 500}
    for seed, (trajectory, episode) in enumerate(zip(found.trajectories, played, strict=True)):
        assert np.array_equal(trajectory.observations["observation"], episode["observations"])
        assert np.array_equal(trajectory.actions, episode["actions"])
        assert trajectory.rewards.tolist() == episode["rewards"]
        assert trajectory.terminated.tolist() == episode["ends"][:, 0].tolist()
        assert (trajectory.info.seed, trajectory.info.cause) == (seed, "ended")


@pytest.mark.parametrize("jpeg", [False, True])
def test_every_kind_of_space_becomes_one_of_ours(jpeg: bool) -> None:
    played = written_by_minari(Odd(), "odd-v3", jpeg_encoding=jpeg)
    found = imported("odd-v3")
    assert "does not say which environment" in found.unplayable and found.env["env.name"] == "stored"
    assert found.spec.max_steps == 6 and found.spec.action_space == spaces.Discrete(6)
    trajectories: list[Trajectory] = list(found.trajectories)
    for trajectory, episode in zip(trajectories, played, strict=True):
        seen = trajectory.observations
        assert seen.keys() == {"image", "pair.0", "speed"}  # the text is left out
        difference = seen["image"].astype(int) - episode["observations"]["image"]
        assert np.abs(difference).max() <= (2 if jpeg else 0)
        assert seen["pair.0"][:, 0].tolist() == [value + 1 for value in episode["observations"]["pair"][1]]
        assert np.array_equal(seen["speed"], episode["observations"]["speed"].astype(np.float32))
        expected = (episode["actions"][:, 0] - 1) * 2 + episode["actions"][:, 1]
        assert trajectory.actions.tolist() == expected.tolist()
        assert trajectory.truncated.tolist() == [False] * 5 + [True] and trajectory.info.cause == "time limit"


@pytest.mark.parametrize(
    ("env_spec", "reason"),
    [
        ({"id": "my_module:Mine-v0"}, "not registered here"),
        ({"id": "NoSuchWorld-v0"}, "not registered here"),
        ({"id": "CartPole-v1", "kwargs": {"sutton_barto_reward": True}}, "options or wrappers of its own"),
        ({"id": "FrozenLake-v1", "kwargs": {"is_slippery": False}}, "options or wrappers of its own"),
        ({"id": "CartPole-v1", "additional_wrappers": [{"name": "W"}]}, "options or wrappers of its own"),
        ({"id": "MountainCar-v0"}, "not what the dataset holds"),
        ({"id": 3}, "does not say which environment"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_cannot_be_played_is_said_and_can_be_learned_from(
    env_spec: dict[str, Any], reason: str, datasets: Path
) -> None:
    written_by_minari(gymnasium.make("CartPole-v1"), "cart-v0")
    change_metadata(datasets, "cart-v0", env_spec=json.dumps(env_spec))
    found = imported("cart-v0")
    assert reason in found.unplayable
    assert found.env == {"env.name": "stored", "env.dataset": "cart-v0"}
    assert len(list(found.trajectories)) == 2


def test_no_module_that_a_dataset_names_is_imported(datasets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written_by_minari(gymnasium.make("CartPole-v1"), "cart-v0")
    (datasets / "evil_module.py").write_text("raise SystemExit('imported')")
    monkeypatch.chdir(datasets)
    monkeypatch.syspath_prepend(str(datasets))
    evil = {"id": "evil_module:Evil-v0", "entry_point": "evil_module:Evil", "kwargs": {}}
    change_metadata(datasets, "cart-v0", env_spec=json.dumps(evil))
    list(imported("cart-v0").trajectories)
    assert "evil_module" not in sys.modules


def test_what_calls_itself_ours_gets_no_module_imported_either(datasets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written_by_minari(gymnasium.make("CartPole-v1"), "cart-v0")
    (datasets / "evil_module.py").write_text("raise SystemExit('imported')")
    monkeypatch.chdir(datasets)
    spec = imported("cart-v0").spec.to_json()
    named = (
        ({"name": "gym", "id": "evil_module:CartPole-v1"}, "not registered here"),
        ({"name": "own", "target": "evil_module:make_env"}, "an environment of somebody's own"),
    )
    for env, reason in named:
        change_metadata(datasets, "cart-v0", amago={"environment": spec, "env": env})
        found = imported("cart-v0")
        assert reason in found.unplayable and found.env["env.name"] == "stored"
        assert "evil_module" not in sys.modules
    with pytest.raises(StorageError, match="episode_0"):
        list(found.trajectories)  # nor are its episodes what amago writes


def test_the_environment_can_be_named_where_the_dataset_does_not(datasets: Path) -> None:
    written_by_minari(gymnasium.make("CartPole-v1"), "cart-v0")
    change_metadata(datasets, "cart-v0", env_spec=None)
    assert imported("cart-v0", "CartPole-v1").spec.name == "gym:CartPole-v1"
    with pytest.raises(AmagoError, match="is not from MountainCar-v0"):
        imported("cart-v0", "MountainCar-v0")


def test_actions_beyond_their_space_are_refused(datasets: Path) -> None:
    written_by_minari(gymnasium.make("CartPole-v1"), "cart-v0")
    one = json.dumps({"type": "Discrete", "dtype": "int64", "start": 0, "n": 1})
    change_metadata(datasets, "cart-v0", action_space=one)
    with pytest.raises(StorageError, match=r"episode 0 .* outside its space"):
        list(imported("cart-v0").trajectories)


@pytest.mark.parametrize(
    "record",
    [
        {"type": "Graph"},
        {"type": "Box", "dtype": "object", "shape": [1], "low": [0], "high": [1]},
        {"type": "Box", "dtype": "float32", "shape": [2**20, 2**20], "low": 0, "high": 1},
        {"type": "Box", "dtype": "float32", "shape": [3], "low": [0, 0], "high": [1, 1]},
        {"type": "Discrete", "n": -3, "start": 0},
        {"type": "Discrete"},
        {"type": "MultiBinary", "n": 10**12},
        {"type": "Dict", "subspaces": [1]},
        {},
    ],
    ids=str,
)
def test_a_space_described_wrongly_is_one_line(record: dict[str, Any]) -> None:
    with pytest.raises(AmagoError, match="describes a space wrongly") as caught:
        space_of(record)
    assert "\n" not in str(caught.value)


def test_a_space_nested_without_end_is_refused() -> None:
    record: dict[str, Any] = {"type": "Discrete", "n": 2, "start": 0}
    for _ in range(50):
        record = {"type": "Dict", "subspaces": {"inner": record}}
    with pytest.raises(AmagoError, match="nested too deeply"):
        space_of(record)


@pytest.mark.parametrize(
    "space",
    [
        spaces.Discrete(5, start=-2),
        spaces.MultiDiscrete([2, 3, 4], start=[0, 5, -1]),
        spaces.MultiDiscrete([[2, 3], [4, 5]]),
        spaces.MultiBinary(4),
        spaces.MultiBinary([2, 3]),
        spaces.Box(-2, 3, (2, 2), np.float64),
    ],
    ids=str,
)
def test_reading_actions_is_the_reverse_of_playing_them(space: gymnasium.Space) -> None:
    space.seed(0)
    originals = [space.sample() for _ in range(20)]
    ours, play = flat_action(space)
    same, read = read_actions(space)
    assert same == ours
    for original, action in zip(originals, read(np.array(originals)), strict=True):
        assert ours.contains(action if ours.shape else int(action))
        assert np.allclose(play(action), original, atol=1e-6)
