import sys

import numpy as np
import pytest

pytest.importorskip("metaworld")

from metaworld import policies

from agent.envs.base import EnvSpec
from agent.envs.metaworld import MetaWorldEnv, tasks_of
from agent.goals.vocabularies import SUCCESS, vocabulary
from store.errors import AmagoError


@pytest.fixture(scope="module")
def env():
    return MetaWorldEnv("ML10", ("reach", "Drawer-Open"), 50, 30)


def play(env, seed: int, game: str, steps: int = 10) -> np.ndarray:
    """States and rewards of the beginning of an attempt by the same random actions."""
    rng = np.random.default_rng(0)
    observation, _ = env.reset(seed=seed, options={"game": game})
    rows = [np.append(observation["state"], 0.0)]
    for _ in range(steps):
        observation, reward, *_ = env.step(rng.uniform(-1, 1, 4).astype(np.float32))
        rows.append(np.append(observation["state"], reward))
    return np.stack(rows)


def test_the_benchmarks():
    ml45, ml10 = tasks_of("ML45"), tasks_of("ML10")
    assert (len(ml45), sum(ml45.values()), len(ml10), sum(ml10.values())) == (50, 5, 15, 5)
    assert ml45["bin-picking"] and not ml45["reach"] and ml10["lever-pull"]
    assert tasks_of("ML1-Push-Back") == {"push-back": False}


@pytest.mark.parametrize(
    ("benchmark", "games", "words"),
    [
        ("MT10", (), "metaworld has no benchmark 'MT10'; there are ML45"),
        ("ML1-reech", (), "metaworld has no game 'reech'; is it reach"),
        ("ML10", ("assembly",), "metaworld's ML10 has no game 'assembly'"),
    ],
)
def test_what_does_not_exist_is_said(benchmark, games, words):
    with pytest.raises(AmagoError, match=words):
        MetaWorldEnv(benchmark, games, 50, 500)


def test_what_it_says_of_itself(env):
    spec = EnvSpec.from_env(env)
    assert [(game.name, game.held_out) for game in spec.games] == [("reach", False), ("drawer-open", True)]
    assert spec.vocabulary == SUCCESS and vocabulary(spec.vocabulary).names == ("success",)
    assert spec.max_steps == 30 and not spec.goals


def test_a_seed_is_one_world_whatever_was_played_before(env):
    first = play(env, 2, "reach")
    play(env, 5, "drawer-open")
    assert (first == play(env, 2, "reach")).all()
    assert (first == play(MetaWorldEnv("ML1-reach", (), 50, 500), 2, "reach")).all()


def test_goals_for_training_and_others(env):
    def rewards(seed: int) -> list[float]:
        return play(env, seed, "reach", 3)[:, -1].tolist()

    assert rewards(2) == rewards(102) != rewards(4)
    assert rewards(3) == rewards(103) != rewards(2)
    assert not play(env, 2, "reach", 0)[0, 36:39].any()  # where the goal would be seen


@pytest.mark.filterwarnings("ignore:Constant")
def test_success_is_told_once_an_attempt_and_does_not_end_it():
    env = MetaWorldEnv("ML1-drawer-close", (), 50, 120)
    policy = policies.ENV_POLICY_MAP["drawer-close-v3"]()
    observation, _ = env.reset(seed=2)
    told, over = [], False
    while not over:
        action = np.clip(policy.get_action(observation["state"].astype(float)), -1, 1).astype(np.float32)
        observation, _, terminated, over, info = env.step(action)
        assert not terminated
        told.append(info["achieved"])
    assert told.count((0,)) == 1 and len(told) == 120 and info["cause"] == "time limit"


def test_only_some_tasks_are_kept(monkeypatch):
    monkeypatch.setattr("agent.envs.metaworld._KEPT", 2)
    env = MetaWorldEnv("ML10", ("reach", "push", "door-open"), 50, 500)
    for game in ("reach", "push", "reach", "door-open"):
        env.reset(seed=2, options={"game": game})
    assert list(env._made) == ["reach", "door-open"]
    env.close()


def test_a_missing_package_is_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "metaworld", None)
    with pytest.raises(AmagoError, match=r'pip install "amago\[metaworld\]"'):
        MetaWorldEnv("ML45", (), 50, 500)
