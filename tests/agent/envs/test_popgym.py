"""POPGym's games alone and together, played with the real package."""

import math
import sys

import numpy as np
import pytest
from gymnasium import spaces

pytest.importorskip("popgym")

from agent.envs.base import EnvSpec
from agent.envs.popgym import PopGymGamesEnv, make_popgym
from agent.envs.popgym_games import MULTI_TASK, game_classes
from agent.envs.trial import Trial
from store.errors import AmagoError


def together(*names, explore=True):
    env = make_popgym(names, explore=explore)
    assert isinstance(env, PopGymGamesEnv)
    return env


def play(env, game="", seed=2, attempt=0, actions_seed=0):
    """Observations (the first one too), rewards and the last info of an attempt at random actions."""
    rng = np.random.default_rng(actions_seed)
    observation, info = env.reset(seed=seed, options={"game": game, "attempt": attempt})
    seen, rewards, over = [observation], [], False
    while not over:
        observation, reward, terminated, truncated, info = env.step(rng.integers(env.action_space.n))
        seen.append(observation)
        rewards.append(reward)
        over = terminated or truncated
    return seen, rewards, info


def column(seen, key):
    return np.concatenate([observation[key] for observation in seen])


def size(space):
    """Dimensions of an observation, categories one-hot as wide as the widest."""
    match space:
        case spaces.Tuple():
            return sum(size(part) for part in space)
        case spaces.Discrete():
            return int(space.n)
        case spaces.MultiDiscrete():
            return int(space.nvec.size * space.nvec.max())
    return math.prod(space.shape)


def test_the_27_are_those_of_discrete_actions_and_few_dimensions():
    few = set()
    for name, game in game_classes().items():
        made = game()
        if isinstance(made.action_space, spaces.Box) or size(made.observation_space) >= 30:
            continue
        parts = getattr(made.action_space, "nvec", None)
        if (made.action_space.n if parts is None else math.prod(parts)) < 30:
            few.add(name)
    assert set(MULTI_TASK) == few and len(few) == 27


def test_one_game_keeps_its_own_spaces():
    env = make_popgym(["RepeatPreviousEasy"], explore=True)
    spec = EnvSpec.from_env(env)
    assert (spec.name, spec.max_steps, spec.games, spec.success_return) == ("popgym", 51, (), None)
    assert spec.action_space == spaces.Discrete(4)
    assert spec.observation_space == spaces.Dict({"observation": spaces.MultiDiscrete([4], np.uint8)})
    assert make_popgym(["countrecalleasy"], explore=True).action_space == spaces.Discrete(27)
    assert make_popgym(["MineSweeperEasy"], explore=True).action_space == spaces.Discrete(16)
    assert isinstance(make_popgym(["PositionOnlyPendulumEasy"], explore=True).action_space, spaces.Box)


def test_cards_from_four_steps_ago_pay():
    env = make_popgym(["RepeatPreviousEasy"], explore=True)
    observation, _ = env.reset(seed=4)
    suits, total, over = [observation["observation"][0]], 0.0, False
    while not over:
        observation, reward, over, _, info = env.step(suits[-4] if len(suits) >= 4 else 0)
        suits.append(observation["observation"][0])
        total += reward
    assert total == pytest.approx(1) and len(suits) == 52 and info["cause"] == "ended"


def test_every_attempt_is_another_variant_and_repeats():
    env = make_popgym(["RepeatPreviousEasy"], explore=True)
    first, second, again = (
        column(play(env, seed=6, attempt=attempt)[0], "observation").tolist() for attempt in (0, 1, 0)
    )
    assert first == again != second
    assert first != column(play(env, seed=7)[0], "observation").tolist()


def test_all_27_share_their_spaces_and_end_in_time():
    env = together()
    spec = EnvSpec.from_env(env)
    assert EnvSpec.from_json(spec.to_json()) == spec
    assert [game.name for game in spec.games] == list(MULTI_TASK)
    assert spec.action_space == spaces.Discrete(27) and spec.max_steps == 831
    assert {key: space.shape for key, space in spec.observation_space.items()} == {
        "categories": (26,), "reals": (2,), "reward": (1,), "invalid": (1,), "paid": (1,)
    }  # fmt: skip
    for game in MULTI_TASK:
        seen, rewards, info = play(env, game, attempt=1)
        assert len(rewards) <= spec.max_steps and info["cause"] in ("ended", "time limit")
        assert -1.001 <= sum(rewards) <= 1.001
        for observation in (seen[0], seen[1], seen[-1]):
            assert env.observation_space.contains(observation), (game, observation)


def test_the_first_attempt_sees_its_rewards_and_is_not_paid():
    env = together("AutoencodeEasy", "RepeatFirstEasy")
    seen, rewards, _ = play(env, "RepeatFirstEasy", attempt=0)
    assert not any(rewards) and not column(seen, "paid").any()
    earned = column(seen, "reward")
    assert earned[0] == 0 and np.allclose(abs(earned[1:]), 1 / 51)
    seen, rewards, _ = play(env, "RepeatFirstEasy", attempt=1)
    assert column(seen, "paid").all() and np.allclose(rewards, column(seen, "reward")[1:]) and any(rewards)
    _, rewards, _ = play(together("AutoencodeEasy", "RepeatFirstEasy", explore=False), "RepeatFirstEasy")
    assert all(rewards)


def test_a_trial_pays_for_its_second_attempt_alone():
    trial = Trial(together("RepeatFirstEasy", "HigherLowerEasy"), attempts=2, horizon=None)
    _, rewards, _ = play(trial, "RepeatFirstEasy")
    assert len(rewards) == 102 and not any(rewards[:51]) and all(rewards[51:])


def test_categories_are_one_hot_and_zeros_fill_up():
    env = together("CountRecallHard", "PositionOnlyCartPoleEasy")
    observation, _ = env.reset(seed=2, options={"game": "CountRecallHard"})
    game = env._made["CountRecallHard"].original
    expected = np.zeros(26)
    expected[[game.value, 13 + game.query]] = 1
    assert np.array_equal(observation["categories"], expected) and not observation["reals"].any()
    observation, _ = env.reset(seed=2, options={"game": "PositionOnlyCartPoleEasy"})
    x, _, angle, _ = env._made["PositionOnlyCartPoleEasy"].original.state
    assert np.allclose(observation["reals"], [x, angle]) and not observation["categories"].any()


def test_instead_of_an_action_that_the_game_lacks_one_of_its_own_is_played():
    env = together("HigherLowerEasy", "MultiarmedBanditMedium")
    game = env._made["HigherLowerEasy"]
    assert env.action_space.n == 20
    played = []
    step = game.step
    game.step = lambda action: step(played.append(action) or action)
    histories = []
    for _ in range(2):
        observation, _ = env.reset(seed=2, options={"game": "HigherLowerEasy"})
        assert not observation["invalid"]
        history = [env.step(action) for action in (1, 19, 2, *[5] * 40)]
        assert [int(step[0]["invalid"][0]) for step in history[:3]] == [0, 1, 1]
        histories.append([step[0]["reward"].item() for step in history])
    assert histories[0] == histories[1]
    assert played[0] == 1 and set(played) == {0, 1} and played[:43] == played[43:]


def test_the_game_is_what_the_options_say_else_drawn_from_the_seed():
    env = together("HigherLowerEasy", "CountRecallEasy")
    env.reset(seed=1, options={"game": "CountRecallEasy"})
    assert env._playing is env._made["CountRecallEasy"]
    drawn = []
    for seed in (*range(0, 40, 2), *range(0, 40, 2)):
        env.reset(seed=seed)
        drawn.append(env._playing is env._made["CountRecallEasy"])
    assert drawn[:20] == drawn[20:] and set(drawn) == {True, False}


def test_what_cannot_be_played_is_one_line(monkeypatch):
    with pytest.raises(AmagoError, match="has no game 'RepeatPrevEasy'; is it RepeatPreviousEasy or"):
        make_popgym(["RepeatPrevEasy"], explore=True)
    with pytest.raises(AmagoError, match=r"^PositionOnlyPendulumEasy has continuous actions: it can be played alone"):
        make_popgym(["AutoencodeEasy", "PositionOnlyPendulumEasy"], explore=True)
    for name in [name for name in sys.modules if name.startswith("popgym")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "popgym", None)
    with pytest.raises(AmagoError, match=r'pip install "amago\[popgym\]"$'):
        make_popgym(["RepeatPreviousEasy"], explore=True)
