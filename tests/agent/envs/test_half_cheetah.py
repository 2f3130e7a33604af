import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.envs.base import MAX_SEED, EnvSpec
from agent.envs.half_cheetah import HalfCheetahVelocityEnv
from store.errors import AmagoError


@pytest.fixture(scope="module")
def cheetah():
    env = HalfCheetahVelocityEnv(5)
    yield env
    env.close()


def start(env: HalfCheetahVelocityEnv, seed: int, attempt: int) -> np.ndarray:
    return env.reset(seed=seed, options={"attempt": attempt})[0]["state"]


def test_an_attempt_is_five_steps_in_space_and_ends_by_time(cheetah):
    spec = EnvSpec.from_env(cheetah)
    assert (spec.name, spec.max_steps, spec.success_return) == ("half-cheetah", 5, None)
    assert spec.action_space.shape == (6,)
    observation, info = cheetah.reset(seed=2)
    assert info["cause"] == ""
    for step in range(1, 6):
        assert cheetah.observation_space.contains(observation)
        observation, reward, terminated, truncated, info = cheetah.step(np.full(6, 0.5, np.float32))
        assert not terminated and truncated == (step == 5)
        assert info["cause"] == ("time limit" if step == 5 else "")
        assert type(reward) is float and reward < 0


def test_the_reward_is_the_distance_to_the_target_and_the_effort(cheetah):
    cheetah.reset(seed=8)
    before = cheetah._cheetah.data.qpos[0]
    action = np.array([1, -1, 0.5, 0, 0, 0], np.float32)
    _, reward, *_ = cheetah.step(action)
    velocity = (cheetah._cheetah.data.qpos[0] - before) / 0.05  # five frames of 0.01 s
    assert reward == pytest.approx(-abs(velocity - cheetah.target) - 0.05 * 2.25)


def test_the_target_belongs_to_the_seed_and_the_noise_to_the_attempt(cheetah):
    first = start(cheetah, 4, 0)
    target = cheetah.target
    second = start(cheetah, 4, 1)
    assert cheetah.target == target and not np.array_equal(first, second)
    assert np.array_equal(first, start(cheetah, 4, 0))
    assert np.array_equal(first, cheetah.reset(seed=4)[0]["state"])
    start(cheetah, 6, 0)
    assert cheetah.target != target


def test_targets_fill_their_range(cheetah):
    targets = []
    for seed in range(200):
        cheetah.reset(seed=seed)
        targets.append(cheetah.target)
    assert 0 <= min(targets) < 0.2 and 2.8 < max(targets) <= 3
    assert np.mean(targets) == pytest.approx(1.5, abs=0.2)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, MAX_SEED - 1), attempt=st.integers(0, 100))
def test_seed_attempt_and_actions_decide_everything(seed, attempt):
    histories = []
    for _ in range(2):
        env = HalfCheetahVelocityEnv(3)
        start(env, seed, attempt)
        actions = np.random.default_rng(seed).uniform(-1, 1, (3, 6)).astype(np.float32)
        histories.append([(state["state"].tolist(), reward) for state, reward, *_ in map(env.step, actions)])
        env.close()
    assert histories[0] == histories[1]


def test_without_mujoco_one_line_says_what_to_install(monkeypatch):
    for name in [name for name in sys.modules if name.startswith(("gymnasium.envs.mujoco", "mujoco"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(AmagoError, match=r'pip install "amago\[mujoco\]"$'):
        HalfCheetahVelocityEnv(5)


def test_nothing_is_printed_or_written(capfd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    HalfCheetahVelocityEnv(5).reset(seed=0)
    assert capfd.readouterr() == ("", "") and not list(tmp_path.iterdir())
