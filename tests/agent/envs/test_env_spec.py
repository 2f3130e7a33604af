import json
from dataclasses import replace

import numpy as np
import pytest
from fake_engine import ScriptedEngine
from gymnasium import spaces
from gymnasium.wrappers import OrderEnforcing

from agent.envs.base import MAX_SEED, EnvSpec, Game, held_out_seed, train_seed
from agent.envs.crafter.env import CrafterEnv
from agent.envs.spaces import space_from_json, space_to_json
from agent.envs.trial import make_trial


@pytest.mark.parametrize(
    "space",
    [
        spaces.Box(0, 255, (64, 64, 3), np.uint8),
        spaces.Box(-np.inf, np.inf, (3,), np.float32),
        spaces.Box(np.array([0.0, -np.inf]), np.array([1.5, 2.0]), dtype=np.float64),
        spaces.Box(-1.0, 1.0, (), np.float32),
        spaces.Discrete(17),
        spaces.Discrete(3, start=-1),
        spaces.MultiDiscrete([3, 4, 5]),
        spaces.MultiDiscrete(np.full((9, 7), 195), np.uint8),
        spaces.MultiBinary((2, 3)),
        spaces.Dict({"a": spaces.Dict({"b": spaces.Discrete(2)}), "c": spaces.Box(0, 1, (2,))}),
    ],
    ids=str,
)
def test_spaces_survive_json(space):
    text = json.dumps(space_to_json(space), allow_nan=False)
    assert space_from_json(json.loads(text)) == space
    assert len(text) < 300


def test_unknown_spaces_are_refused():
    with pytest.raises(TypeError, match="Text"):
        space_to_json(spaces.Text(5))
    with pytest.raises(ValueError, match="Sequence"):
        space_from_json({"type": "Sequence"})


def spec(observation: str = "symbolic", max_steps: int = 2500) -> EnvSpec:
    return EnvSpec.from_env(CrafterEnv(ScriptedEngine(), observation, max_steps))


def test_spec_survives_json():
    again = EnvSpec.from_json(json.loads(json.dumps(spec().to_json())))
    assert again == spec() and again.differences(spec()) == []
    assert (again.name, again.max_steps, again.max_instruction, again.goals) == ("crafter", 2500, 5, True)


def test_spec_sees_through_wrappers():
    assert EnvSpec.from_env(OrderEnforcing(CrafterEnv(ScriptedEngine()))) == spec()


def test_differences_are_readable():
    assert spec().differences(spec(max_steps=1000)) == ["max_steps: 2500 against 1000"]
    lines = spec("crop").differences(spec("pixels"))
    assert "observation_space.image.shape: [48, 64, 3] against [64, 64, 3]" in lines
    assert "observation_space.inventory.type: Box against nothing" in lines


GAMES = (Game("coinrun", low=5.0, high=10.0, scale=100.0), Game("secret", held_out=True))


class Arcade(OrderEnforcing):
    """Plays several games."""

    games = GAMES
    free_attempts = 1


def test_games_survive_json_and_may_be_missing():
    arcade = EnvSpec.from_env(Arcade(CrafterEnv(ScriptedEngine())))
    assert arcade.games == GAMES and arcade != spec()
    written = json.loads(json.dumps(arcade.to_json()))
    assert EnvSpec.from_json(written) == arcade
    again = EnvSpec.from_env(make_trial(lambda: Arcade(CrafterEnv(ScriptedEngine())), 2, None))
    assert again.games == GAMES and again.free_attempts == arcade.free_attempts == 1
    del written["games"], written["free_attempts"]  # as in files from before there were games
    assert EnvSpec.from_json(written) == replace(arcade, games=(), free_attempts=0)
    other = replace(arcade, games=(GAMES[0]._replace(scale=1.0), GAMES[1]))
    assert arcade.differences(other) == ["games.coinrun.scale: 100.0 against 1.0"]


def test_returns_are_normalised_by_hand():
    """Paid 800 at a hundredfold scale: 8, three fifths of the way from 5 to 10."""
    assert GAMES[0].normalised(800.0) == pytest.approx(0.6)
    assert GAMES[1].normalised(1.0) is None


def test_worlds_to_train_on_are_never_held_out():
    rng = np.random.default_rng(0)
    train = {train_seed(rng) for _ in range(500)}
    held_out = {held_out_seed(rng) for _ in range(500)}
    assert all(seed % 2 == 0 for seed in train) and all(seed % 2 == 1 for seed in held_out)
    assert all(0 <= seed < MAX_SEED for seed in train | held_out)
    assert len(train) == len(held_out) == 500
