import sys

import numpy as np
import pytest

pytest.importorskip("ale_py")

from agent.envs.atari import AtariEnv
from agent.envs.atari_screen import shrink
from agent.envs.base import EnvSpec
from store.errors import AmagoError


@pytest.fixture(scope="module")
def env():
    """Two games; loading one takes as long as everything else."""
    return AtariEnv(("pong", "Boxing"), 15, 4, 0.25)


def play(env, seed: int, game: str, attempt: int = 0, action: int | None = None) -> list:
    """Pictures, rewards and causes of an attempt by actions that are always the same."""
    rng = np.random.default_rng(9)
    observation, _ = env.reset(seed=seed, options={"game": game, "attempt": attempt})
    history, over = [(observation["rgb"], 0.0, "")], False
    while not over:
        observation, reward, terminated, truncated, info = env.step(rng.integers(18) if action is None else action)
        history.append((observation["rgb"], reward, info["cause"]))
        over = terminated or truncated
    return history


def pictures(history: list) -> np.ndarray:
    return np.stack([picture for picture, _, _ in history])


def test_a_seed_is_one_world_whatever_was_played_before(env):
    first = play(env, 4, "Pong")
    play(env, 6, "Boxing")
    again = play(env, 4, "Pong")
    assert (pictures(first) == pictures(again)).all() and len(first) == 16
    assert [row[1:] for row in first] == [row[1:] for row in again]
    assert first[-1][2] == "time limit"
    assert env.observation_space["rgb"].contains(first[0][0])


def test_worlds_differ_in_when_they_begin_and_attempts_in_what_sticks(env):
    histories = {key: pictures(play(env, key[0], "Boxing", key[1])) for key in ((2, 0), (3, 0), (2, 1))}
    assert (histories[2, 0][0] == histories[2, 1][0]).all()
    assert (histories[2, 0] != histories[2, 1]).any()
    starts = [pictures(play(env, seed, "Boxing"))[0] for seed in range(2, 6)]
    assert any((start != starts[0]).any() for start in starts)


def test_without_stickiness_attempts_are_the_same():
    env = AtariEnv(("Pong",), 20, 4, 0.0)
    assert (pictures(play(env, 2, "Pong", 0)) == pictures(play(env, 2, "Pong", 1))).all()


@pytest.mark.slow
def test_rewards_are_the_games_own_and_the_game_ends():
    env = AtariEnv(("Pong",), 2000, 4, 0.25)
    history = play(env, 2, "Pong", action=0)
    rewards = [reward for _, reward, _ in history]
    assert history[-1][2] == "game over" and sum(rewards) <= -20 and set(rewards) <= {-1.0, 0.0, 1.0}


def test_scores_of_the_games():
    spec = EnvSpec.from_env(AtariEnv((), 10, 4, 0.25))
    assert len(spec.games) == 10 and not any(game.held_out for game in spec.games)
    scores = {game.name: (game.low, game.high) for game in spec.games}
    assert scores["Pong"] == (-20.7, 14.6) and scores["CrazyClimber"] == (10780.5, 35829.4)
    assert spec.action_space.n == 18


def test_every_game_has_its_file():
    from agent.envs import atari

    package = atari._package()
    files = [package.roms.get_rom_path(atari._ROMS.get(name, name.lower())) for name in atari._SCORES]
    assert all(file and file.exists() for file in files)


def test_an_unknown_game_is_refused():
    with pytest.raises(AmagoError, match="atari has no game 'Pung'; is it Pong"):
        AtariEnv(("Pung",), 10, 4, 0.25)


def test_small_pictures_are_means_of_areas():
    assert (shrink(np.full((210, 160, 3), 200, np.uint8)) == 200).all()
    screen = np.zeros((210, 160, 3), np.uint8)
    screen[:, :80, 0] = 255  # the left half red
    screen[0, :, 1] = 100  # the uppermost of the two and a half rows that make one
    small = shrink(screen)
    assert (small[:, :42, 0] == 255).all() and not small[:, 42:, 0].any()
    assert (small[0, :, 1] == 40).all() and not small[1:, :, 1].any()


def test_a_missing_package_is_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "ale_py", None)
    with pytest.raises(AmagoError, match=r'pip install "amago\[atari\]"'):
        AtariEnv((), 10, 4, 0.25)
