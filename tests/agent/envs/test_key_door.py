import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.envs.key_door import KeyDoorEnv

LEFT, UP, RIGHT, DOWN, STAY = range(5)


def room(env: KeyDoorEnv, seed: int) -> tuple[list[int], ...]:
    """Where the agent begins, the key and the door; of an environment that shows them."""
    observation, _ = env.reset(seed=seed)
    return tuple(observation[key].tolist() for key in ("position", "key", "door"))


def seed_of(*cells: tuple[int, int]) -> int:
    """A world of 2 x 2 cells where the agent begins, the key and the door are at `cells`."""
    env = KeyDoorEnv(2, 9, dark=False)
    return next(seed for seed in range(1000) if room(env, seed) == tuple(map(list, cells)))


def way(start: list[int], end: list[int]) -> list[int]:
    """A shortest way."""
    right, down = np.subtract(end, start).tolist()
    return [RIGHT] * right + [LEFT] * -right + [DOWN] * down + [UP] * -down


def play(env: KeyDoorEnv, seed: int, actions: list[int]):
    """(position, has_key), reward, terminated, truncated and cause of every step."""
    env.reset(seed=seed)
    results = []
    for action in actions:
        observation, reward, terminated, truncated, info = env.step(action)
        assert env.observation_space.contains(observation)
        here = (*observation["position"].tolist(), observation["has_key"].item())
        results.append((here, reward, terminated, truncated, info["cause"]))
    return results


def test_an_attempt_by_hand():
    seed = seed_of((0, 0), (1, 1), (1, 0))
    assert play(KeyDoorEnv(2, 9, dark=True), seed, [UP, LEFT, STAY, RIGHT, DOWN, DOWN, RIGHT, LEFT, RIGHT, UP][:9]) == [
        ((0, 0, 0), 0.0, False, False, ""),
        ((0, 0, 0), 0.0, False, False, ""),
        ((0, 0, 0), 0.0, False, False, ""),
        ((1, 0, 0), 0.0, False, False, ""),  # the door, without the key
        ((1, 1, 1), 1.0, False, False, ""),  # the key
        ((1, 1, 1), 0.0, False, False, ""),  # pays once
        ((1, 1, 1), 0.0, False, False, ""),
        ((0, 1, 1), 0.0, False, False, ""),
        ((1, 1, 1), 0.0, False, True, "time limit"),
    ]


@pytest.mark.parametrize(
    ("max_steps", "end"), [(3, (1.0, True, False, "completed")), (2, (0.0, False, True, "time limit"))]
)
def test_the_door_in_the_last_step_is_no_time_limit(max_steps, end):
    seed = seed_of((0, 0), (0, 1), (1, 0))
    results = play(KeyDoorEnv(2, max_steps, dark=True), seed, [DOWN, RIGHT, UP][:max_steps])
    assert results[-1][1:] == end


@pytest.mark.parametrize("dark", [True, False])
def test_what_is_seen(dark):
    seed = seed_of((0, 0), (1, 1), (1, 0))
    env = KeyDoorEnv(2, 4, dark=dark)
    observation, _ = env.reset(seed=seed)
    assert set(observation) == {"position", "has_key", "time"} | (set() if dark else {"key", "door"})
    times = [observation["time"].item(), *(env.step(STAY)[0]["time"].item() for _ in range(4))]
    assert times == [0.0, 0.25, 0.5, 0.75, 1.0]


@settings(deadline=None)
@given(size=st.integers(2, 12), seed=st.integers(0, 2**31 - 2), attempt=st.integers(0, 3))
def test_who_knows_the_room_gets_two(size, seed, attempt):
    env = KeyDoorEnv(size, 4 * size, dark=False)
    start, key, door = room(env, seed)
    assert start != key != door != start
    observation, _ = KeyDoorEnv(size, 50, dark=True).reset(seed=seed, options={"attempt": attempt})
    assert observation["position"].tolist() == start
    results = play(env, seed, way(start, key) + way(key, door))
    assert sum(reward for _, reward, *_ in results) == env.success_return == 2.0
    assert results[-1][1:] == (1.0, True, False, "completed")
    assert not any(terminated or truncated for _, _, terminated, truncated, _ in results[:-1])


@settings(deadline=None)
@given(size=st.integers(2, 5), seed=st.integers(0, 99), actions=st.lists(st.integers(0, 4), min_size=20, max_size=20))
def test_any_policy(size, seed, actions):
    results = play(KeyDoorEnv(size, 20, dark=True), seed, actions)
    assert results == play(KeyDoorEnv(size, 20, dark=True), seed, actions)
    end = next(step for step, (_, _, *ends, _) in enumerate(results) if any(ends))
    rewards = [reward for _, reward, *_ in results[: end + 1]]
    assert set(rewards) <= {0.0, 1.0} and 0 <= sum(rewards) <= 2
    assert results[end][4] == ("completed" if sum(rewards) == 2 else "time limit")
    assert end == 19 or results[end][4] == "completed"


@pytest.mark.parametrize("dark", [True, False])
def test_gymnasium_finds_nothing_wrong(dark):
    check_env(KeyDoorEnv(9, 50, dark=dark), skip_render_check=True)
