"""BabyAI's levels, played with the real package and its own scripted player."""

import sys

import numpy as np
import pytest

pytest.importorskip("minigrid")

from minigrid.envs.babyai.core import roomgrid_level
from minigrid.utils.baby_ai_bot import BabyAIBot

from agent.envs.babyai import BabyAIEnv, mission_numbers
from agent.envs.babyai_levels import HELD_OUT, TRAINING, WORDS
from agent.envs.base import EnvSpec
from agent.envs.trial import Trial
from store.errors import AmagoError

DONE = 6


@pytest.fixture(scope="module")
def all_levels():
    return BabyAIEnv()


def start(env, level, seed=2, attempt=0):
    return env.reset(seed=seed, options={"game": level, "attempt": attempt})[0]


def words(observation):
    return " ".join(WORDS[number - 1] for number in observation["mission"] if number)


def same(one, other):
    return one.keys() == other.keys() and all(np.array_equal(one[key], other[key]) for key in one)


def test_fifty_levels_are_trained_on_and_eighteen_held_out(all_levels):
    assert (len(TRAINING), len(HELD_OUT), len(TRAINING | HELD_OUT)) == (50, 18, 68)
    spec = EnvSpec.from_env(all_levels)
    assert EnvSpec.from_json(spec.to_json()) == spec
    assert {game.name for game in spec.games if game.held_out} == set(HELD_OUT)
    assert {game.name for game in spec.games if not game.held_out} == set(TRAINING)
    assert (spec.max_steps, spec.action_space.n, len(set(WORDS))) == (1080, 7, 29)
    named = BabyAIEnv(["gotolocal", "GoToObjS4"])
    assert [(game.name, game.held_out) for game in named.games] == [("GoToLocal", False), ("GoToObjS4", False)]
    assert named.max_steps == 64


def test_every_level_begins_with_known_words_in_space_and_time(all_levels):
    for level, steps in (TRAINING | HELD_OUT).items():
        observation = start(all_levels, level)
        assert all_levels._level.max_steps == steps, level
        assert all_levels.observation_space.contains(observation), level
        assert words(observation) == all_levels._level.mission.replace(",", " ,")
        assert all_levels.observation_space.contains(all_levels.step(DONE)[0])


def test_a_mission_is_numbers_with_zeros_behind():
    numbers = mission_numbers("open the red door, then open the blue door")
    said = ["open", "the", "red", "door", ",", "then", "open", "the", "blue", "door"]
    assert [WORDS[number - 1] for number in numbers] == said
    assert mission_numbers("go to a box").tolist()[4:] == [0] * 6
    with pytest.raises(KeyError):
        mission_numbers("put the box away")


@pytest.mark.parametrize("level", ["GoToLocal", "PickupLoc", "UnlockPickup"])
def test_a_player_who_carries_the_mission_out_is_paid_by_speed(all_levels, level):
    start(all_levels, level, seed=4)
    bot, steps, action, over = BabyAIBot(all_levels._level), 0, None, False
    while not over:
        action = bot.replan(action)
        observation, reward, over, truncated, info = all_levels.step(action)
        steps += 1
        assert all_levels.observation_space.contains(observation) and not truncated
        assert reward == 0 or over
    assert info["cause"] == "completed"
    assert reward == pytest.approx(1 - 0.9 * steps / TRAINING[level]) and reward >= all_levels.success_return


def test_time_runs_out_and_a_wrong_deed_ends_a_strict_mission(all_levels, monkeypatch):
    start(all_levels, "GoToObjS4")
    ends = [all_levels.step(DONE)[1:] for _ in range(16)]
    assert [(reward, over, late) for reward, over, late, _ in ends] == [(0.0, False, False)] * 15 + [(0.0, False, True)]
    assert ends[-1][3] == {"cause": "time limit"} and ends[0][3] == {"cause": ""}
    start(all_levels, "PickupDistDebug")
    monkeypatch.setattr(all_levels._level.instrs, "verify", lambda action: "failure")
    _, reward, over, late, info = all_levels.step(DONE)
    assert (reward, over, late, info["cause"]) == (0.0, True, False, "failed")


def test_all_attempts_have_the_same_layout_whatever_was_played_between(all_levels):
    first = start(all_levels, "KeyInBox", seed=6)
    layout = all_levels._level.grid.encode()
    for action in (2, 2, 1, 3, 5, 0, 4):
        all_levels.step(action)
    start(all_levels, "GoToLocal", seed=8)
    again = start(all_levels, "KeyInBox", seed=6, attempt=1)
    assert same(first, again) and np.array_equal(layout, all_levels._level.grid.encode())
    assert same(first, start(BabyAIEnv(["KeyInBox"]), "", seed=6))
    assert not same(first, start(all_levels, "KeyInBox", seed=7))


def test_a_trial_plays_the_same_layout_twice():
    trial = Trial(BabyAIEnv(["GoToObjS4"]), attempts=2, horizon=None)
    first, _ = trial.reset(seed=2)
    for _ in range(16):
        second, _, over, late, info = trial.step(DONE)
    assert same(first, second) and info["is_first"] and not over and not late


def test_the_view_comes_by_rows_with_the_agent_below(all_levels):
    """One wall of the level lies straight ahead of an agent who looks along its row."""
    start(all_levels, "GoToObjS6")
    level = all_levels._level
    level.grid.grid = [None] * len(level.grid.grid)
    level.grid.wall_rect(0, 0, level.width, level.height)
    level.agent_pos, level.agent_dir = (1, 3), 0
    observation = all_levels.step(DONE)[0]
    objects = observation["objects"]
    assert objects.shape == (7, 7) and observation["direction"].tolist() == [0]
    assert objects[2, 3] == 2 and (objects[3:, 3] == 1).all()  # the wall at x = 5, four steps ahead
    assert (objects[2:, 0] == 2).all()  # the wall at y = 0, three steps to the left


def test_redrawn_layouts_are_not_told_on_stdout(capfd, monkeypatch):
    env = BabyAIEnv(["GoToLocal"])
    silent, told = roomgrid_level.print, []
    monkeypatch.setattr(roomgrid_level, "print", lambda *said: told.append(said) or silent(*said))
    env.reset(seed=8)
    assert told and capfd.readouterr() == ("", "")


def test_what_cannot_be_played_is_one_line(monkeypatch):
    with pytest.raises(AmagoError, match=r"^babyai has no game 'GoToLokal'; is it GoToLocal.*\?$"):
        BabyAIEnv(["GoToLokal"])
    for name in [name for name in sys.modules if name.startswith("minigrid")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "minigrid", None)
    with pytest.raises(AmagoError, match=r'pip install "amago\[babyai\]"$'):
        BabyAIEnv()
