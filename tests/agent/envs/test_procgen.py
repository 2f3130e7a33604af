"""Procgen's games as one environment, played with the real package."""

import pickle
import sys
from types import ModuleType

import numpy as np
import pytest

from agent.catalog import make_env
from agent.config import Config, override
from agent.envs import procgen_package
from agent.envs.base import EnvSpec, games_of
from agent.envs.picture import picture
from agent.envs.procgen import ProcgenEnv
from agent.envs.procgen_games import NAMES
from agent.envs.trial import Trial
from store.errors import AmagoError

RIGHT_AND_UP, NOTHING, SHOOT = 8, 4, 9


@pytest.fixture(autouse=True)
def installed():
    try:
        procgen_package.load()
    except AmagoError as error:
        pytest.skip(str(error))


def make(*names, mode="easy", levels=2000, max_steps=None, scales=None):
    return ProcgenEnv(names, mode, levels, max_steps, scales or {})


def random_actions(count, seed=0):
    return np.random.default_rng(seed).integers(15, size=count).tolist()


def play(env, actions):
    """Pictures, rewards and causes of steps until the end of the rollout or of the actions."""
    history = []
    for action in actions:
        observation, reward, terminated, truncated, info = env.step(action)
        history.append((observation["rgb"].tobytes(), reward, terminated, truncated, info["cause"]))
        if terminated or truncated:
            break
    return history


def first(env, seed, game="", attempt=0):
    return env.reset(seed=seed, options={"game": game, "attempt": attempt})[0]["rgb"]


def test_what_it_says_of_itself():
    env = make("CoinRun", "fruitbot", scales={"CoinRun": 100.0})
    spec = EnvSpec.from_env(env)
    assert EnvSpec.from_json(spec.to_json()) == spec
    assert [(game.name, game.low, game.high, game.scale) for game in spec.games] == [
        ("coinrun", 5, 10, 100), ("fruitbot", -1.5, 32.4, 1)
    ]  # fmt: skip
    assert (spec.max_steps, spec.success_return, spec.goals) == (1000, None, False)
    assert make("maze", "leaper").success_return == 10 and make("maze", "leaper").max_steps == 500
    assert [game.name for game in make().games] == list(NAMES)


@pytest.mark.parametrize("mode", ["easy", "hard", "memory"])
def test_every_game_can_be_played_in_every_mode_and_a_level_starts_the_same(mode):
    """A mode that a game does not have would end the process."""
    one, other = make(mode=mode), make(mode=mode)
    for name in NAMES:
        picture_of_it = first(one, 4, name)
        assert picture_of_it.shape == (64, 64, 3) and picture_of_it.dtype == np.uint8 and picture_of_it.std() > 5
        first(other, 6, name)
        assert np.array_equal(first(other, 4, name), picture_of_it)
        assert play(one, random_actions(30)) == play(other, random_actions(30))
    one.close(), other.close()


def test_the_seed_decides_level_and_game():
    env = make("coinrun", "fruitbot", "maze")
    pictures = {seed: first(env, seed).tobytes() for seed in range(20)}
    assert len(set(pictures.values())) == 20
    again = make("coinrun", "fruitbot", "maze")
    assert all(first(again, seed).tobytes() == pictures[seed] for seed in reversed(range(20)))
    assert len({again._name for seed in range(20) if first(again, seed) is not None}) == 3


def test_few_training_levels_come_again_and_held_out_ones_are_others():
    env = make("maze", levels=3)
    trained = {first(env, seed).tobytes() for seed in range(0, 40, 2)}
    held_out = {first(env, seed).tobytes() for seed in range(1, 41, 2)}
    assert len(trained) == 3 and len(held_out) == 20 and not trained & held_out


def test_a_level_that_the_game_has_begun_anew_is_like_one_made_anew():
    env, fresh = make("starpilot"), make("starpilot")
    actions = random_actions(2000)
    first(env, 8)
    once = play(env, actions)
    assert once[-1][2] and once[-1][4] == "game over"
    started = first(env, 8)
    assert np.array_equal(started, first(fresh, 8))
    assert play(env, actions) == play(fresh, actions) == once


def test_a_level_that_was_left_in_the_middle_begins_again():
    env = make("coinrun")
    started = first(env, 2)
    play(env, random_actions(20))
    assert np.array_equal(first(env, 2), started)


def test_a_finished_level_pays_its_prize_times_the_scale():
    env = make("coinrun", scales={"coinrun": 100.0})
    first(env, 1)
    history = play(env, [RIGHT_AND_UP] * 400)
    assert [reward for _, reward, *_ in history if reward] == [1000]
    assert history[-1][2:] == (True, False, "completed")
    assert history[-1][0] == history[-2][0]  # the end is not shown


def test_time_limits_of_the_game_and_of_the_configuration_are_told_apart_from_other_ends():
    env = make("leaper")
    first(env, 0)
    history = play(env, [NOTHING] * 600)
    assert len(history) == 500 and history[-1][2:] == (False, True, "time limit")
    env = make("leaper", max_steps=5)
    first(env, 0)
    history = play(env, [NOTHING] * 600)
    assert len(history) == 5 and history[-1][2:] == (False, True, "time limit")


def test_later_attempts_play_the_same_level_with_a_mark():
    trial = Trial(make("coinrun", max_steps=5), attempts=2, horizon=None)
    before = trial.reset(seed=2)[0]["rgb"].copy()
    for _ in range(5):
        observation, *_, info = trial.step(RIGHT_AND_UP)
    after = observation["rgb"]
    assert info["is_first"] and not after[:4, :4].any() and before[:4, :4].any()
    after[:4, :4] = before[:4, :4]
    assert np.array_equal(before, after)
    assert not trial.step(NOTHING)[0]["rgb"][:4, :4].any()


def test_what_was_seen_stays_as_it_was():
    env = make("starpilot")
    seen = first(env, 0)
    kept = seen.copy()
    play(env, [SHOOT] * 5)
    assert np.array_equal(seen, kept)


def test_the_configuration_makes_it_in_any_process():
    changes = {"env.name": "procgen", "env.games": "coinrun, maze", "env.reward_scales": "maze=10", "env.horizon": 40}
    trial = pickle.loads(pickle.dumps(make_env(override(Config(), changes).env)))()
    assert [(game.name, game.scale) for game in games_of(trial)] == [("coinrun", 1), ("maze", 10)]
    trial.reset(seed=2, options={"game": "maze"})
    history = play(trial, [NOTHING] * 50)
    assert len(history) == 40 and history[-1][2:] == (False, True, "horizon")


def test_the_screen_and_the_dashboard_can_draw_it():
    seen = first(make("bigfish"), 0)
    drawn = picture("procgen", {"rgb": np.stack([seen, seen])}, 1)
    assert drawn is not None and np.array_equal(drawn[::2, ::2], seen)


@pytest.mark.parametrize(
    ("names", "scales", "line"),
    [
        (["coinrum"], {}, "procgen has no game 'coinrum'; is it coinrun?"),
        (["coinrun"], {"maze": 2.0}, "env.reward_scales: the choice of games has no game 'maze'; there are coinrun"),
    ],
)
def test_names_that_are_none_are_refused_before_the_package_sees_them(names, scales, line):
    with pytest.raises(AmagoError) as error:
        make(*names, scales=scales)
    assert str(error.value) == line


class TestPackage:
    def test_a_missing_one_is_one_line_that_says_what_to_install(self, monkeypatch):
        procgen_package.load.cache_clear()
        monkeypatch.setitem(sys.modules, "procgen", None)
        with pytest.raises(AmagoError, match=r"^Procgen cannot be loaded .*: pip install --no-deps procgen-mirror=="):
            make("coinrun")

    def test_nothing_stays_in_the_place_of_gym(self, monkeypatch):
        path = list(sys.path)
        real = ModuleType("gym")
        monkeypatch.setitem(sys.modules, "gym", real)
        monkeypatch.delitem(sys.modules, "procgen", raising=False)
        procgen_package.load.cache_clear()
        procgen_package.load()
        assert sys.modules["gym"] is real and "gym.envs.registration" not in sys.modules and sys.path == path

    def test_nothing_is_printed(self, capfd):
        first(make("coinrun"), 0)
        assert capfd.readouterr() == ("", "")
