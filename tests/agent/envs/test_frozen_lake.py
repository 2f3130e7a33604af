from collections import deque

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.envs import frozen_lake
from agent.envs.frozen_lake import FrozenLakeEnv, draw_lake

LEFT, UP, RIGHT, DOWN, STAY = range(5)
OFFSETS = {LEFT: (-1, 0), UP: (0, -1), RIGHT: (1, 0), DOWN: (0, 1), STAY: (0, 0)}


def play(env: FrozenLakeEnv, seed: int, actions: list[int]):
    """Position, reward, terminated, truncated and cause of every step until the end."""
    env.reset(seed=seed)
    results = []
    for action in actions:
        observation, reward, terminated, truncated, info = env.step(action)
        assert env.observation_space.contains(observation)
        results.append((tuple(observation["position"].tolist()), reward, terminated, truncated, info["cause"]))
        if terminated or truncated:
            break
    return results


def way_across(lake: list[list[bool]]) -> list[int]:
    """Actions of a shortest way from corner to corner, if they are not shuffled."""
    size = len(lake)
    ways, queue = {(0, 0): []}, deque([(0, 0)])
    while queue:
        x, y = queue.popleft()
        for action, (dx, dy) in OFFSETS.items():
            there = (x + dx, y + dy)
            if there not in ways and all(0 <= c < size for c in there) and not lake[there[1]][there[0]]:
                ways[there] = [*ways[(x, y)], action]
                queue.append(there)
    return ways[(size - 1, size - 1)]


@pytest.fixture
def one_lake(monkeypatch):
    """. . O
    . O .
    . . .  whatever the seed."""
    lake = [[False, False, True], [False, True, False], [False, False, False]]
    monkeypatch.setattr(frozen_lake, "draw_lake", lambda rng, size: lake)


@pytest.mark.usefixtures("one_lake")
@pytest.mark.parametrize(
    ("actions", "places", "end"),
    [
        ([DOWN, DOWN, RIGHT, RIGHT], [(0, 1), (0, 2), (1, 2), (2, 2)], (1.0, True, False, "completed")),
        ([LEFT, UP, RIGHT, RIGHT], [(0, 0), (0, 0), (1, 0), (2, 0)], (0.0, True, False, "fell in")),
        ([RIGHT, STAY, DOWN], [(1, 0), (1, 0), (1, 1)], (0.0, True, False, "fell in")),
        ([DOWN, DOWN, DOWN, STAY], [(0, 1), (0, 2), (0, 2), (0, 2)], (0.0, False, True, "time limit")),
    ],
)
def test_attempts_by_hand(actions, places, end):
    results = play(FrozenLakeEnv(3, 4, shuffle_actions=False), 0, actions)
    assert [place for place, *_ in results] == places
    assert results[-1][1:] == end
    assert all(result[1:] == (0.0, False, False, "") for result in results[:-1])


@pytest.mark.usefixtures("one_lake")
def test_shuffled_actions_are_a_permutation_that_belongs_to_the_world():
    effects = set()
    for seed in range(30):
        env = FrozenLakeEnv(3, 25, shuffle_actions=True)
        seen = []
        for attempt in (0, 1):
            for action in range(5):
                observation, _ = env.reset(seed=seed, options={"attempt": attempt})
                assert observation["position"].tolist() == [0, 0]
                seen.append(tuple(env.step(action)[0]["position"].tolist()))
        assert seen[:5] == seen[5:]
        assert sorted(seen[:5]) == [(0, 0), (0, 0), (0, 0), (0, 1), (1, 0)]
        effects.add(tuple(seen[:5]))
    assert len(effects) > 10  # of the 20 that can be told apart from the corner


@settings(deadline=None)
@given(size=st.integers(3, 9), seed=st.integers(0, 2**31 - 2))
def test_every_lake_can_be_crossed(size, seed):
    way = way_across(draw_lake(np.random.default_rng(seed), size))
    results = play(FrozenLakeEnv(size, len(way), shuffle_actions=False), seed, way)
    assert len(results) == len(way) and results[-1][1:] == (1.0, True, False, "completed")


def test_one_cell_in_five_is_a_hole():
    lakes = np.array([draw_lake(np.random.default_rng(seed), 20) for seed in range(50)])
    assert 0.18 < lakes.mean() < 0.21
    assert not lakes[:, 0, 0].any() and not lakes[:, -1, -1].any()
    assert len({lake.tobytes() for lake in lakes}) == 50


def test_lakes_without_a_way_are_drawn_again():
    closed = np.ones((3, 3))
    closed[1] = closed[:, 1] = 0.0
    open_ = np.ones((3, 3))

    class Scripted:
        lakes = [closed, closed, open_]  # noqa: RUF012

        def random(self, shape):
            assert shape == (3, 3)
            return self.lakes.pop(0)

    assert draw_lake(Scripted(), 3) == [[False] * 3] * 3  # pyright: ignore[reportArgumentType]
    assert Scripted.lakes == []


@settings(deadline=None)
@given(
    size=st.integers(3, 5),
    shuffle=st.booleans(),
    seed=st.integers(0, 99),
    actions=st.lists(st.integers(0, 4), min_size=25, max_size=25),
)
def test_any_policy(size, shuffle, seed, actions):
    results = play(FrozenLakeEnv(size, 25, shuffle_actions=shuffle), seed, actions)
    assert results == play(FrozenLakeEnv(size, 25, shuffle_actions=shuffle), seed, actions)
    place, reward, terminated, truncated, cause = results[-1]
    assert sum(result[1] for result in results) == reward == float(place == (size - 1, size - 1))
    assert terminated != truncated and truncated == (cause == "time limit") and reward == (cause == "completed")


@pytest.mark.parametrize("shuffle", [False, True])
def test_gymnasium_finds_nothing_wrong(shuffle):
    check_env(FrozenLakeEnv(5, 25, shuffle_actions=shuffle), skip_render_check=True)
