import sys
import warnings
from functools import partial

import gym_zoo
import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.envs.base import MAX_SEED, EnvSpec, Task
from agent.envs.gym import GymEnv
from agent.envs.rehearsal import rehearse
from agent.envs.vector import VectorEnv
from store.errors import AmagoError

CLASSICS = {
    "CartPole-v1": None,
    "Taxi": None,
    "FrozenLake-v1": None,
    "Blackjack-v1": 20,
    "Pendulum-v1": None,
    "MountainCarContinuous-v0": 50,
}
GOOD = [name for name in gym_zoo.OBSERVATIONS if name not in ("Text", "Graph", "Sequence", "Nothing", "Twins")]
PLAYABLE = ["Shifted", "Two", "Switches", "Arm", "Levels"]


def see(name: str) -> GymEnv:
    return GymEnv(f"gym_zoo:See{name}-v0")


def play(env: GymEnv, seed: int, attempt: int = 0) -> list:
    """One attempt with random actions: everything observed, and whether and why it ended at each step."""
    env.action_space.seed(seed)
    observation, _ = env.reset(seed=seed, options={"attempt": attempt})
    history = [(observation, 0.0, False, False, "")]
    while not (history[-1][2] or history[-1][3]):
        observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
        history.append((observation, reward, terminated, truncated, info["cause"]))
    return history


def check(env: GymEnv, history: list) -> None:
    """Types, shapes and ends are as our conventions want them."""
    assert len(history) <= env.max_steps + 1
    for observation, reward, terminated, truncated, cause in history:
        assert set(observation) == set(env.observation_space.spaces)
        for name, space in env.observation_space.items():
            value = observation[name]
            assert isinstance(value, np.ndarray) and (value.dtype, value.shape) == (space.dtype, space.shape)
            assert value.ndim and space.contains(value), (name, value)
        assert (type(reward), type(terminated), type(truncated)) == (float, bool, bool)
        assert not (terminated and truncated)
        assert cause == ("ended" if terminated else "time limit" if truncated else "")


@pytest.mark.parametrize("id", CLASSICS)
def test_classics_keep_the_conventions(id):
    env = GymEnv(id, CLASSICS[id])
    spec = EnvSpec.from_env(env)
    assert (spec.name, spec.max_instruction, spec.vocabulary) == (f"gym:{id}", 0, "")
    assert not spec.differences(EnvSpec.from_json(spec.to_json()))
    check(env, play(env, 6))
    env.close()


@pytest.mark.parametrize("name", GOOD)
def test_every_kind_of_observation_becomes_one_of_ours(name):
    env = see(name)
    spec = EnvSpec.from_env(env)
    assert not spec.differences(EnvSpec.from_json(spec.to_json()))
    for seed in range(3):
        history = play(env, seed)
        check(env, history)
        assert len(history) == 7 and history[-1][3]


@pytest.mark.parametrize("name", PLAYABLE)
def test_every_kind_of_action_becomes_one_of_ours(name):
    env = GymEnv(f"gym_zoo:Do{name}-v0")
    space = env.action_space
    assert isinstance(space, (spaces.Discrete, spaces.Box, spaces.MultiBinary)) and len(space.shape or ()) <= 1
    check(env, play(env, 1))


@settings(max_examples=20, deadline=None)
@given(
    id=st.sampled_from(["CartPole-v1", "Taxi", "Blackjack-v1", "gym_zoo:SeeNested-v0"]),
    seed=st.integers(0, MAX_SEED - 1),
    attempt=st.integers(0, 3),
)
def test_the_seed_decides_everything(id, seed, attempt):
    histories = [play(GymEnv(id, 15), seed, k) for k in (0, attempt)]
    assert repr(histories[0]) == repr(histories[1])


def test_integers_start_at_zero_and_stay_categories():
    space = see("MultiDiscrete").observation_space["observation"]
    assert space.nvec.tolist() == [[2, 300], [4, 5]] and not space.start.any()
    assert see("Discrete").observation_space["observation"] == spaces.MultiDiscrete([3], np.uint8)
    assert see("MultiBinary").observation_space["observation"].nvec.tolist() == [[2, 2]] * 3
    assert see("Cells").observation_space["observation"].nvec.tolist() == np.full((4, 4, 2), 8).tolist()
    entry = see("Discrete")._entries["observation"]
    assert [entry.read(value).tolist() for value in (-1, 0, 1, 99)] == [[0], [1], [2], [2]]  # 99: held in the space


def test_numbers_without_useful_bounds_become_reals():
    for name in ("ManyDiscrete", "Wide", "Float64"):
        assert see(name).observation_space["observation"].dtype == np.float32
    assert see("Scalar").observation_space["observation"].shape == (1,)
    small = see("Small").observation_space["observation"]
    assert small == spaces.Box(-100, 100, (2,), np.int32)


@pytest.mark.parametrize("name, shape", [("Grey", (20, 30, 1)), ("Image", (20, 30, 3)), ("ChannelsFirst", (20, 30, 3))])
def test_images_have_their_channels_last(name, shape):
    env = see(name)
    assert env.observation_space["observation"] == spaces.Box(0, 255, shape, np.uint8)
    original = np.random.default_rng(0).integers(256, size=gym_zoo.OBSERVATIONS[name].shape, dtype=np.uint8)
    image = env._entries["observation"].read(original)
    last = original.transpose(1, 2, 0) if name == "ChannelsFirst" else original.reshape(shape)
    assert (image == last).all()


def test_a_small_array_of_bytes_is_no_image():
    assert see("Bytes").observation_space["observation"].dtype == np.int32


def test_nested_observations_have_readable_names():
    env = see("Nested")
    assert set(env.observation_space.spaces) == {"hand.0", "hand.1.card_kind", "speed"}
    value = {"hand": (1, {"card/kind": np.array([0, 1], np.int8)}), "speed": np.array([0.25, 0.5])}
    read = {name: entry.read(value).tolist() for name, entry in env._entries.items()}
    assert read == {"hand.0": [1], "hand.1.card_kind": [0, 1], "speed": [0.25, 0.5]}
    assert set(GymEnv("Blackjack-v1", 9).observation_space.spaces) == {"0", "1", "2"}


def test_taxi_tells_which_actions_are_legal():
    env = GymEnv("Taxi")
    assert env.observation_space["action_mask"] == spaces.MultiBinary(6)
    inner = env.original.unwrapped
    observation, _ = env.reset(seed=2)
    for _ in range(30):
        mask = observation["action_mask"]
        assert mask.dtype == np.int8 and mask.tolist() == inner.action_mask(inner.s).tolist()
        observation, *_ = env.step(np.flatnonzero(mask)[-1])


def test_a_mask_in_the_observation_stays_where_it_is():
    env = see("Masked")
    assert env.observation_space["action_mask"] == spaces.MultiBinary(4)
    read = env._entries["action_mask"].read
    assert read({"action_mask": np.array([0, 1, 0, 1], np.int8)}).tolist() == [0, 1, 0, 1]
    assert read({"action_mask": np.zeros(4, np.int8)}).tolist() == [1, 1, 1, 1]
    assert set(see("OtherMask").observation_space.spaces) == {"observation.action_mask"}


@pytest.mark.parametrize(
    "name, action, original",
    [
        ("Shifted", np.int64(2), 7),
        ("Two", np.int64(3), [1, 8]),
        ("Switches", np.array([1, 0, 0, 1], np.int8), [[1, 0], [0, 1]]),
        ("Arm", np.array([-1, 0.1, 0.1, 3], np.float32), [[-1, 0.1], [0.1, 3]]),
        ("Levels", np.array([-1.6, 2.4], np.float32), [-2, 2]),
    ],
)
def test_actions_arrive_as_the_environment_wants_them(name, action, original):
    env = GymEnv(f"gym_zoo:Do{name}-v0")
    env.reset(seed=0)
    env.step(action)
    arrived = env.original.unwrapped.action
    assert np.allclose(arrived, original, atol=1e-6) and np.shape(arrived) == np.shape(original)
    assert arrived is not action and not np.shares_memory(arrived, action)


def test_the_bounds_of_actions_hold_also_after_rounding():
    env = GymEnv("gym_zoo:DoArm-v0")
    env.reset(seed=0)
    for bound in (env.action_space.low, env.action_space.high):
        env.step(bound)  # the environment itself checks them


def test_an_end_at_the_time_limit_is_an_end():
    env = GymEnv("gym_zoo:Ending-v0")
    assert env.success_return == 5.0
    assert play(env, 0)[-1][2:] == (True, False, "ended")
    assert play(GymEnv("gym_zoo:Ending-v0", 5), 0)[-1][2:] == (False, True, "time limit")


def test_the_configured_time_limit_comes_before_the_environments_own():
    assert GymEnv("CartPole-v1").max_steps == 500
    for limit in (7, 900):
        assert GymEnv("MountainCarContinuous-v0", limit).max_steps == limit
    assert len(play(GymEnv("MountainCarContinuous-v0", 7), 0)) == 8


@pytest.mark.parametrize(
    "id, words",
    [
        ("", "--id CartPole-v1"),
        ("cartpole-v1", "CartPole-v1"),
        ("CartPole-v99", "CartPole-v1"),
        ("Nonsense", "--id module:Name-v0"),
        ("Nowhere/Nonsense-v0", "install their package"),
        ("no such id!", "Malformed"),
        ("a:b:C-v0", "two colons"),
        ("no_such_module:Env-v0", "No module named 'no_such_module'"),
        ("gym_zoo:Endless-v1", "env.max_steps"),
        ("gym_zoo:SeeText-v0", r"Text\(.* at 'mission'"),
        ("gym_zoo:SeeGraph-v0", "Graph"),
        ("gym_zoo:SeeSequence-v0", "Sequence"),
        ("gym_zoo:SeeNothing-v0", "nothing to observe"),
        ("gym_zoo:SeeTwins-v0", "both called 'a_b'"),
        ("gym_zoo:DoTooMany-v0", r"MultiDiscrete\(\[40 40\]\)"),
        ("gym_zoo:DoUnbounded-v0", "finite bounds"),
        ("gym_zoo:DoHuge-v0", "finite bounds"),
        ("gym_zoo:DoTalk-v0", "Text"),
        ("gym_zoo:DoBoth-v0", "Tuple"),
    ],
)
def test_what_cannot_be_played_is_said_in_one_line(id, words):
    with pytest.raises(AmagoError, match=words) as raised:
        GymEnv(id)
    assert "\n" not in str(raised.value) and len(str(raised.value)) < 400


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("make", "cannot be made: RuntimeError: two lines"),
        ("spaces", "fails in its spaces: AttributeError"),
        ("reset", "fails in its reset: RuntimeError: two lines"),
        ("step", "fails in its step: RuntimeError: two lines"),
        ("none", "fails in its step: TypeError"),
        ("shape", "fails in its step: ValueError: cannot reshape"),
        ("reward", "fails in its step: ValueError: the reward is nan"),
        ("state", "fails in its step: ValueError: 'observation' of the observation is not finite"),
    ],
)
def test_what_an_environment_does_wrong_is_said_in_one_line(fault, words):
    with pytest.raises(AmagoError, match=words) as raised:
        rehearse(GymEnv(f"gym_zoo:Faulty-{fault}-v0"))
    assert f"gym_zoo:Faulty-{fault}-v0" in str(raised.value) and "\n" not in str(raised.value)


def test_a_missing_package_is_named(monkeypatch):
    gymnasium.register("Needy-v0", "package_nobody_has.envs:Env")
    with pytest.raises(AmagoError, match="package_nobody_has"):
        GymEnv("Needy-v0")
    del gymnasium.registry["Needy-v0"]


def test_a_module_beside_the_caller_is_found(tmp_path, monkeypatch):
    (tmp_path / "beside_me.py").write_text(
        "import gymnasium\ngymnasium.register('Mine-v0', 'gym_zoo:ZooEnv', max_episode_steps=3)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert GymEnv("beside_me:Mine-v0").max_steps == 3


def test_nothing_is_printed(capfd):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for id in ("gym_zoo:Endless-v0", "CartPole-v0", "Taxi"):
            play(GymEnv(id, 9), 0)
    assert capfd.readouterr() == ("", "")


def test_a_worker_plays_the_same_as_this_process():
    histories = []
    for num_workers in (0, 1):
        with VectorEnv(partial(GymEnv, "gym_zoo:SeeNested-v0"), 2, num_workers) as vector:
            vector.reset([0, 1], [Task(4), Task(6)])
            history = []
            for _ in range(6):
                vector.step([0, 2])
                history.append({key: value.tolist() for key, value in vector.observations.items()})
            assert vector.cause == ["time limit"] * 2 and vector.truncated.all() and not vector.incidents
            histories.append(history)
    assert histories[0] == histories[1]
