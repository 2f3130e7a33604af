import pytest
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.envs.base import MAX_SEED, EnvSpec
from agent.envs.delivery import DROP, FORWARD, LEFT, RIGHT, DeliveryEnv
from store.errors import AmagoError


def road(length: int = 8, forks: dict[int, int] | None = None, addresses: tuple[int, ...] = (2,)) -> DeliveryEnv:
    """A road with everything in known places, at the beginning of an attempt."""
    forks = {} if forks is None else forks
    env = DeliveryEnv(length, len(forks), len(addresses))
    env.reset(seed=0)
    env._right_ways, env._waiting = forks, set(addresses)
    return env


def drive(env: DeliveryEnv, actions: list[int]) -> list[tuple]:
    """(position, fork, packages, reward, cause) after each action."""
    steps = []
    for action in actions:
        observation, reward, terminated, truncated, info = env.step(action)
        assert terminated == (info["cause"] not in ("", "time limit")) and truncated == (info["cause"] == "time limit")
        assert not observation["addresses"].any()
        seen = (int(observation[key][0]) for key in ("position", "fork", "packages"))
        steps.append((*seen, reward, info["cause"]))
    return steps


def test_a_perfect_attempt():
    env = road(8, {1: LEFT, 5: RIGHT}, (2, 5))
    turns = [FORWARD, LEFT, DROP, FORWARD, FORWARD, FORWARD, DROP, RIGHT, FORWARD, FORWARD]
    assert drive(env, turns) == [
        (1, 1, 2, 0.0, ""),
        (2, 0, 2, 0.0, ""),
        (2, 0, 1, 1.0, ""),
        (3, 0, 1, 0.0, ""),
        (4, 0, 1, 0.0, ""),
        (5, 1, 1, 0.0, ""),
        (5, 1, 0, 1.0, ""),
        (6, 0, 0, 0.0, ""),
        (7, 0, 0, 0.0, ""),
        (8, 0, 0, 0.0, "completed"),
    ]


def test_a_wrong_turn_ends_the_attempt():
    assert drive(road(forks={1: LEFT}), [FORWARD, RIGHT]) == [(1, 1, 1, 0.0, ""), (1, 1, 1, 0.0, "wrong turn")]


def test_a_fork_stops_who_drives_straight_on():
    assert drive(road(forks={1: LEFT}), [FORWARD, FORWARD, LEFT])[1:] == [(1, 1, 1, 0.0, ""), (2, 0, 1, 0.0, "")]


def test_turning_without_a_fork_leads_nowhere():
    assert drive(road(), [LEFT, RIGHT]) == [(0, 0, 1, 0.0, "")] * 2


def test_a_package_put_down_elsewhere_is_lost():
    assert drive(road(addresses=(1,)), [DROP, FORWARD, DROP]) == [
        (0, 0, 0, 0.0, ""),
        (1, 0, 0, 0.0, ""),
        (1, 0, 0, 0.0, ""),
    ]


def test_an_address_pays_once():
    assert drive(road(addresses=(1, 7)), [FORWARD, DROP, DROP, DROP])[1:] == [
        (1, 0, 1, 1.0, ""),
        (1, 0, 0, 0.0, ""),
        (1, 0, 0, 0.0, ""),
    ]


def test_an_attempt_has_a_time_limit():
    steps = drive(road(), [LEFT] * 16)
    assert [cause for *_, cause in steps] == [""] * 15 + ["time limit"]
    assert drive(road(), [LEFT] * 8 + [FORWARD] * 8)[-1][-1] == "completed"


def test_addresses_are_told_at_the_first_attempt_only():
    env = DeliveryEnv(30, 3, 3)
    told = env.reset(seed=4, options={"attempt": 0})[0]["addresses"].tolist()
    assert told == sorted(env._waiting) and len(set(told)) == 3 and min(told) > 0
    hidden, forks = env.reset(seed=4, options={"attempt": 1})[0]["addresses"].tolist(), env._right_ways
    assert hidden == [0, 0, 0] and sorted(env._waiting) == told  # the task is the same
    assert env.reset(seed=4)[0]["addresses"].tolist() == told and env._right_ways == forks
    assert env.reset(seed=6)[0]["addresses"].tolist() != told


def test_what_does_not_fit_on_the_road_is_said():
    for forks, packages in ((8, 1), (0, 8)):
        with pytest.raises(AmagoError, match="room for 7 forks"):
            DeliveryEnv(8, forks, packages)
    DeliveryEnv(8, 7, 7).reset(seed=0)
    DeliveryEnv(255, 0, 1).reset(seed=0)


def test_its_spec():
    spec = EnvSpec.from_env(DeliveryEnv(30, 3, 4))
    assert (spec.name, spec.max_steps, spec.max_instruction, spec.success_return) == ("delivery", 60, 0, 4.0)
    assert spec.action_space == spaces.Discrete(4) and EnvSpec.from_json(spec.to_json()) == spec


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, MAX_SEED - 1),
    attempt=st.integers(0, 2),
    size=st.tuples(st.integers(8, 255), st.integers(0, 7), st.integers(1, 7)),
    actions=st.lists(st.integers(0, 3), min_size=1, max_size=40),
)
def test_episodes_are_reproducible_in_space_and_bounded(seed, attempt, size, actions):
    histories = []
    for _ in range(2):
        env = DeliveryEnv(*size)
        observation, _ = env.reset(seed=seed, options={"attempt": attempt})
        history, total, over = [], 0.0, False
        while not over and len(history) < 600:
            assert env.observation_space.contains(observation)
            observation, reward, terminated, truncated, info = env.step(actions[len(history) % len(actions)])
            history.append(({key: value.tolist() for key, value in observation.items()}, reward, info))
            total, over = total + reward, terminated or truncated
        assert env.observation_space.contains(observation)
        assert over and len(history) <= env.max_steps and 0 <= total <= env.success_return
        histories.append(history)
    assert histories[0] == histories[1]


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, MAX_SEED - 1), size=st.tuples(st.integers(8, 60), st.integers(0, 7), st.integers(1, 7)))
def test_who_knows_the_task_delivers_everything_in_time(seed, size):
    env = DeliveryEnv(*size)
    env.reset(seed=seed)
    total, cause = 0.0, ""
    while not cause:
        way = env._right_ways.get(env._position, FORWARD)
        _, reward, _, _, info = env.step(DROP if env._position in env._waiting else way)
        total, cause = total + reward, info["cause"]
    assert (total, cause) == (env.success_return, "completed")
