import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.envs.tmaze import TMazeEnv

RIGHT, UP, LEFT, DOWN = range(4)
AT_SIGN, CORRIDOR, JUNCTION, UPPER, LOWER = range(5)
SIGN_UP, SIGN_DOWN = 1, 2


def seen(observation) -> tuple[int, int]:
    return observation["place"].item(), observation["sign"].item()


def seed_of(sign: int) -> int:
    """A world whose sign is `sign`."""
    env = TMazeEnv(3, active=False)
    return next(seed for seed in range(100) if env.reset(seed=seed)[0]["sign"] == sign)


def play(env: TMazeEnv, seed: int, actions: list[int]):
    """(place, sign), rewards and cause of an attempt whose only end is its last step."""
    observation, info = env.reset(seed=seed)
    observations, rewards = [seen(observation)], []
    for step, action in enumerate(actions, start=1):
        observation, reward, terminated, truncated, info = env.step(action)
        observations.append(seen(observation))
        rewards.append(reward)
        assert (terminated, truncated) == (step == env.max_steps, False)
        assert bool(info["cause"]) == terminated
    assert len(rewards) == env.max_steps
    return observations, rewards, info["cause"]


@pytest.mark.parametrize("active", [False, True])
@pytest.mark.parametrize("max_steps", [3, 10, 400])
@pytest.mark.parametrize(("sign", "turn", "arm"), [(SIGN_UP, UP, UPPER), (SIGN_DOWN, DOWN, LOWER)])
def test_the_best_policy_gets_exactly_one(max_steps, active, sign, turn, arm):
    env = TMazeEnv(max_steps, active=active)
    way = [LEFT] * active + [RIGHT] * (max_steps - 1 - active)
    observations, rewards, cause = play(env, seed_of(sign), [*way, turn])
    assert sum(rewards) == 1.0 and rewards == [0.0] * (max_steps - 1) + [1.0] and cause == "completed"
    before = [(JUNCTION if max_steps == 3 else CORRIDOR, 0)] * active
    corridor = [(CORRIDOR, 0)] * (max_steps - 2 - active)
    assert observations == [*before, (AT_SIGN, sign), *corridor, (JUNCTION, 0), (arm, 0)]
    other = {UP: DOWN, DOWN: UP}[turn]
    assert play(env, seed_of(sign), [*way, other])[1:] == ([0.0] * max_steps, "wrong turn")


@pytest.mark.parametrize(
    ("active", "actions", "lost", "cause"),
    [
        # place after each step against the pace 1 2 3 4
        (False, [LEFT, LEFT, LEFT, LEFT, UP], [1, 1, 1, 1], "time limit"),  # 0 0 0 0
        (False, [UP, RIGHT, RIGHT, RIGHT, RIGHT], [1, 0, 0, 0], "time limit"),  # 0 1 2 3
        (False, [RIGHT, RIGHT, LEFT, RIGHT, UP], [0, 0, 2, 0], "time limit"),  # 1 2 1 2
        (False, [RIGHT, RIGHT, RIGHT, RIGHT, RIGHT], [0, 0, 0, 0], "time limit"),  # 1 2 3 4, no turn
        # against the pace 0 1 2 3
        (True, [LEFT, LEFT, RIGHT, RIGHT, UP], [0, 1, 0, 0], "time limit"),  # 0 0 1 2
        (True, [DOWN, DOWN, DOWN, DOWN, DOWN], [0, 0, 1, 1], "time limit"),  # 1 1 1 1
        (True, [RIGHT, LEFT, LEFT, RIGHT, RIGHT], [0, 0, 2, 0], "time limit"),  # 2 1 0 1
        (True, [RIGHT, RIGHT, UP, DOWN, DOWN], [0, 0, 0, 0], "wrong turn"),  # 2 3 3 3, early at the junction
        (True, [RIGHT, RIGHT, UP, RIGHT, LEFT], [0, 0, 0, 0], "completed"),  # 2 3 3 3, and lucky
    ],
)
def test_every_step_lost_costs_a_quarter_in_five_steps_once(active, actions, lost, cause):
    _, rewards, said = play(TMazeEnv(5, active=active), seed_of(SIGN_UP), actions)
    assert rewards == [-0.25 * steps for steps in lost] + [float(cause == "completed")]
    assert said == cause


def test_the_sign_is_seen_once():
    observations, *_ = play(TMazeEnv(5, active=False), seed_of(SIGN_DOWN), [LEFT, RIGHT, LEFT, UP, DOWN])
    assert observations == [(AT_SIGN, SIGN_DOWN), (AT_SIGN, 0), (CORRIDOR, 0), (AT_SIGN, 0), (AT_SIGN, 0), (AT_SIGN, 0)]
    observations, *_ = play(TMazeEnv(5, active=True), seed_of(SIGN_UP), [RIGHT, RIGHT, DOWN, UP, UP])
    assert observations == [(CORRIDOR, 0), (CORRIDOR, 0), (JUNCTION, 0), (LOWER, 0), (JUNCTION, 0), (UPPER, 0)]


def test_both_signs_are_as_likely_in_worlds_to_train_on_as_in_others():
    env = TMazeEnv(3, active=False)
    for worlds in (range(0, 1000, 2), range(1, 1000, 2)):
        assert 0.4 < np.mean([env.reset(seed=seed)[0]["sign"] == SIGN_UP for seed in worlds]) < 0.6


@settings(deadline=None)
@given(
    max_steps=st.integers(3, 30),
    active=st.booleans(),
    seed=st.integers(0, 2**31 - 2),
    actions=st.lists(st.integers(0, 3), min_size=30, max_size=30),
)
def test_any_policy(max_steps, active, seed, actions):
    env = TMazeEnv(max_steps, active=active)
    actions = actions[:max_steps]
    observations, rewards, cause = play(env, seed, actions)
    assert play(TMazeEnv(max_steps, active=active), seed, actions) == (observations, rewards, cause)
    penalty = -1 / (max_steps - 1)
    assert set(rewards[:-1]) <= {0.0, penalty, 2 * penalty} and rewards[-1] == (cause == "completed")
    assert -1.0 - 1e-9 <= sum(rewards) <= 1.0
    assert sum(sign > 0 for _, sign in observations) == (AT_SIGN in [place for place, _ in observations])
    env.reset(seed=seed)
    assert all(env.observation_space.contains(env.step(action)[0]) for action in actions)


@pytest.mark.parametrize("active", [False, True])
def test_gymnasium_finds_nothing_wrong(active):
    check_env(TMazeEnv(5, active=active), skip_render_check=True)
