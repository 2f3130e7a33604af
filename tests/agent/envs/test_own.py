import math
import sys
from functools import partial

import bad_envs
import numpy as np
import pytest
from gymnasium import spaces

from agent.envs.base import EnvSpec, Game, Task
from agent.envs.own import OwnEnv
from agent.envs.vector import VectorEnv
from store.errors import AmagoError

MODULE = """
import gymnasium
from gymnasium import spaces
from agent.envs.base import Game

class Plain(gymnasium.Env):
    max_steps = 5
    observation_space = spaces.Discrete(3)
    action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.options = options
        return ["", "left", "right"].index((options or {}).get("game", "")), {}

    def step(self, action):
        return 0, 0.0, bool(action), False, {"cause": "chosen " + 70 * "x", "is_first": not action}

class Told(Plain):
    games = ("left", Game("right", held_out=True, low=0.0, high=2.0))

class Box:
    make = staticmethod(lambda: gymnasium.make("CartPole-v1"))
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module in the working directory, which no search path knows."""
    (tmp_path / "told_envs.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "told_envs", raising=False)


def test_what_the_environment_says_of_itself_is_taken_over():
    env = OwnEnv("bad_envs:GoodEnv")
    spec = EnvSpec.from_env(env)
    assert (spec.name, spec.max_steps, spec.success_return, spec.games) == ("own:bad_envs:GoodEnv", 12, 1.0, ())
    assert set(env.observation_space.spaces) == {"place", "speed"} and env.action_space == spaces.Discrete(2)
    env.reset(seed=4)
    ends = [env.step(0)[2:] for _ in range(12)]
    assert [end[:2] for end in ends[:-1]] == [(False, False)] * 11
    assert ends[-1] == (False, True, {"cause": "time limit", "is_first": False})


def test_its_own_words_for_an_end():
    env = OwnEnv("bad_envs:GoodEnv", max_steps=8)
    env.reset(seed=4)
    while not (step := env.step(1))[2]:
        assert step[4]["cause"] == ""
    assert step[4]["cause"] == "arrived"


def test_the_shortest_limit_counts():
    assert [OwnEnv("bad_envs:GoodEnv", limit).max_steps for limit in (3, 30)] == [3, 12]


def test_games_and_options(module):
    env = OwnEnv("told_envs:Told")
    assert env.games == (Game("left"), Game("right", held_out=True, low=0.0, high=2.0))
    observation, _ = env.reset(seed=2, options={"game": "right", "attempt": 3})
    assert observation["observation"].tolist() == [2]
    assert env.original.unwrapped.options == {"game": "right", "attempt": 3}
    info = env.step(0)[4]
    assert info == {"cause": "", "is_first": True}
    assert env.step(1)[4]["cause"] == "chosen " + 57 * "x"


def test_an_environment_without_games_is_told_no_options(module):
    env = OwnEnv("told_envs:Plain")
    env.reset(seed=2, options={"game": "", "attempt": 3})
    assert env.original.unwrapped.options is None and env.games == ()


def test_a_registered_environment_brings_its_limits(module):
    env = OwnEnv("told_envs:Box.make")
    assert (env.max_steps, env.success_return) == (500, 475.0)


def test_workers_find_the_module(module):
    with VectorEnv(partial(OwnEnv, "told_envs:Told"), 2, 1) as envs:
        envs.reset([0, 1], [Task(2, game="left"), Task(4, game="right")])
        assert envs.observations["observation"].tolist() == [[1], [2]] and not envs.incidents


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("", "amago train my_package:make_env"),
        ("bad_envs:", "amago train my_package:make_env"),
        ("no_such_module:make", "there is no module 'no_such_module': run amago in the folder where it lies"),
        ("bad_envs.deeper:make", "no module 'bad_envs.deeper'"),
        ("os:abort", "'os' is a module of Python's own; give yours another name"),
        ("bad_envs:GodEnv", "has no 'GodEnv'; is it 'GoodEnv'?"),
        ("bad_envs:not_callable", "is of type int; it has to be a function or a class"),
        ("bad_envs:raises", "bad_envs:raises fails: RuntimeError: no luck"),
        ("bad_envs:returns_none", "returns an object of type NoneType; it has to be a gymnasium.Env"),
        ("bad_envs:NoLimit", "has no time limit: give the environment an attribute max_steps"),
        ("bad_envs:StrangeLimit", "max_steps is 2.5; it has to be a number of steps"),
        ("bad_envs:StrangeSuccess", "success_return is 'yes'"),
        ("bad_envs:Strange", "games has to be a tuple of names"),
        ("bad_envs:Twice", "needs a name of its own"),
        ("bad_envs:Exits", "bad_envs:Exits fails: SystemExit: 4"),
        ("bad_envs:Coloured", "bad_envs:Coloured fails: RuntimeError: [31mred"),
        ("bad_envs:AllHeldOut", "none to train on"),
        ("bad_envs:" + 55 * "a", "too long a name"),
        ("bad_envs:Texts", "'mission' cannot be encoded"),
    ],
)
def test_what_is_wrong_is_one_line(target, words):
    with pytest.raises(AmagoError) as raised:
        OwnEnv(target)
    assert words in str(raised.value) and "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("game", "words"),
    [
        (Game("x" * 65), "a name is text of 1 to 64 bytes"),
        (Game("a\0b"), "a name is text of 1 to 64 bytes"),
        (Game(3), "a name is text"),  # type: ignore[arg-type]
        (Game("a,b"), "--games could not tell it"),
        (Game(" a"), "--games could not tell it"),
        (Game("all"), "--games could not tell it"),
        (Game("a", "no"), "held_out is 'no'"),  # type: ignore[arg-type]
        (Game("a", scale=0.0), "scale is 0.0; it has to be a number above 0"),
        (Game("a", scale=math.nan), "scale is nan"),
        (Game("a", low=3.0, high=3.0), "low is 3.0 and high 3.0; they are two numbers, the lower one first"),
        (Game("a", low=math.nan, high=3.0), "low is nan and high 3.0"),
        (Game("a", low=1.0), "low is 1.0 and high None"),
        (Game("a", low="x", high=5.0), "low is 'x'"),  # type: ignore[arg-type]
    ],
)
def test_what_a_game_says_of_itself_is_checked(monkeypatch, game, words):
    monkeypatch.setattr(bad_envs.GoodEnv, "games", (game,), raising=False)
    with pytest.raises(AmagoError) as raised:
        OwnEnv("bad_envs:GoodEnv")
    assert "bad_envs:GoodEnv: game " in str(raised.value) and words in str(raised.value)


@pytest.mark.parametrize("reward", [math.inf, -1e38])
def test_rewards_are_numbers_that_can_be_added_up(monkeypatch, reward):
    played = bad_envs.GoodEnv.step

    def paying(self, action):
        return (played(self, action)[0], reward, False, False, {})

    monkeypatch.setattr(bad_envs.GoodEnv, "step", paying)
    env = OwnEnv("bad_envs:GoodEnv")
    env.reset(seed=0)
    with pytest.raises(AmagoError) as raised:
        env.step(0)
    assert f"fails in its step: ValueError: the reward is {reward:g}" in str(raised.value)


def test_limits_and_ends_of_other_kinds(monkeypatch):
    monkeypatch.setattr(bad_envs.GoodEnv, "max_steps", np.int64(7))
    monkeypatch.setattr(bad_envs.GoodEnv, "step", lambda self, action: sys.exit(5))
    env = OwnEnv("bad_envs:GoodEnv")
    assert env.max_steps == 7 and type(env.max_steps) is int
    env.reset(seed=0)
    with pytest.raises(AmagoError, match="'bad_envs:GoodEnv' fails in its step: SystemExit: 5"):
        env.step(0)


@pytest.mark.parametrize("text", ["import nothing_of_the_kind", "raise SystemExit(3)", "1 +"])
def test_a_module_that_cannot_be_imported(tmp_path, monkeypatch, text):
    (tmp_path / "unimportable.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    with pytest.raises(AmagoError, match="the module 'unimportable' cannot be imported: "):
        OwnEnv("unimportable:make")


def test_numpy_bounds_are_the_agents(module):
    env = OwnEnv("bad_envs:GoodEnv")
    observation, _ = env.reset(seed=1)
    assert observation["place"].dtype == np.uint8 and observation["speed"].dtype == np.float32
