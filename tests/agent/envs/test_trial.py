import pickle
from functools import partial

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env
from hypothesis import given, settings
from hypothesis import strategies as st
from walk_env import WalkEnv

from agent.envs.base import EnvSpec, Task
from agent.envs.key_door import KeyDoorEnv
from agent.envs.trial import Trial, make_trial
from agent.envs.vector import VectorEnv

LEFT, STAY, RIGHT = range(3)


class PathEnv(gymnasium.Env):
    """Ends after as many steps as its first action says, terminated if that is odd; shows (seed, attempt, steps)."""

    name = "path"
    max_instruction = 1
    vocabulary = "crafter"
    success_return = 0.5
    max_steps = 9
    observation_space = spaces.Dict({"state": spaces.Box(0, 1000, (3,), np.int64)})
    action_space = spaces.Discrete(10)
    closed = False

    def reset(self, *, seed=None, options=None):
        self.seed, self.options, self.steps, self.length = seed, dict(options or {}), 0, 0
        return self._observation(), {"cause": "", "progress": 0}

    def step(self, action):
        self.length = self.length or action
        self.steps += 1
        over = self.steps == self.length
        info = {"achieved": (7,), "progress": self.steps, "cause": "at the end" if over else ""}
        return self._observation(), self.steps / 10, over and bool(self.length % 2), over and not self.length % 2, info

    def close(self):
        self.closed = True

    def _observation(self):
        return {"state": np.array([self.seed, self.options["attempt"], self.steps])}


def state(result) -> list[int]:
    return result[0]["state"].tolist()


def test_attempts_by_hand():
    inner = PathEnv()
    env = Trial(inner, attempts=2, horizon=None)
    observation, info = env.reset(seed=6, options={"instruction": (7,)})
    assert observation["state"].tolist() == [6, 0, 0] and not info.get("is_first")
    assert inner.options == {"instruction": (7,), "attempt": 0}
    first = env.step(2)
    assert state(first) == [6, 0, 1] and first[1:4] == (0.1, False, False)
    assert first[4] == {"achieved": (7,), "progress": 1, "cause": ""}
    second = env.step(2)  # the inner environment is truncated here
    assert state(second) == [6, 1, 0] and second[1:4] == (0.2, False, False)
    assert second[4] == {"achieved": (7,), "progress": 0, "cause": "", "is_first": True}
    assert inner.options == {"instruction": (7,), "attempt": 1}
    last = env.step(1)  # and terminated here
    assert state(last) == [6, 1, 1] and last[1:4] == (0.1, True, False)
    assert last[4] == {"achieved": (7,), "progress": 1, "cause": "at the end"}
    env.reset(seed=8)
    assert inner.options == {"attempt": 0}
    env.close()
    assert inner.closed


@pytest.mark.parametrize(
    ("attempts", "horizon", "ends"),
    [
        (None, 3, (3, False, True, "horizon")),
        (None, 4, (4, False, True, "at the end")),  # the second attempt ends by itself at the horizon
        (2, 4, (4, False, True, "at the end")),  # and is the last one
        (3, 5, (5, False, True, "horizon")),
        (1, 5, (2, False, True, "at the end")),
        (9, 1, (1, False, True, "horizon")),
    ],
)
def test_what_is_over_first_ends_the_trial(attempts, horizon, ends):
    env = Trial(PathEnv(), attempts, horizon)
    env.reset(seed=0)
    steps, result = 1, env.step(2)
    while not (result[2] or result[3]):
        steps, result = steps + 1, env.step(2)
    assert (steps, *result[2:4], result[4]["cause"]) == ends
    assert not result[4].get("is_first")


@pytest.mark.parametrize(("attempts", "horizon", "limit"), [(2, None, 18), (None, 30, 30), (2, 30, 18), (2, 10, 10)])
def test_the_spec_is_the_inner_one_but_for_the_limit(attempts, horizon, limit):
    spec = EnvSpec.from_env(Trial(PathEnv(), attempts, horizon))
    inner = EnvSpec.from_env(PathEnv())
    assert spec == EnvSpec(**{**vars(inner), "max_steps": limit})


def test_a_trial_without_an_end_is_refused():
    with pytest.raises(AssertionError, match="needs an end"):
        Trial(PathEnv(), None, None)


def test_a_world_that_nobody_chose_is_the_same_at_each_attempt():
    env = Trial(WalkEnv(1), 3, None)
    observations = [env.reset()[0], *(env.step(STAY)[0] for _ in range(2))]
    assert len({observation["wind"].tobytes() for observation in observations}) == 1
    assert not np.array_equal(env.reset()[0]["wind"], observations[0]["wind"])


def test_gymnasium_finds_nothing_wrong():
    check_env(Trial(WalkEnv(), 2, 20), skip_render_check=True)


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 100),
    instruction=st.lists(st.integers(0, 6), max_size=2).map(tuple),
    attempts=st.none() | st.integers(1, 4),
    horizon=st.integers(1, 40),
    actions=st.lists(st.integers(0, 2), min_size=40, max_size=40),
)
def test_a_trial_is_the_inner_environment_played_again_and_again(seed, instruction, attempts, horizon, actions):
    trial, inner = make_trial(WalkEnv, attempts, horizon), WalkEnv()
    options = {"instruction": instruction}
    np.testing.assert_equal(trial.reset(seed=seed, options=options), inner.reset(seed=seed, options=options))
    ended = 0
    for step, action in enumerate(actions, start=1):
        observation, reward, terminated, truncated, info = trial.step(action)
        there, paid, *ends, said = inner.step(action)
        ended += any(ends)
        assert reward == paid and info["achieved"] == said["achieved"]
        assert trial.observation_space.contains(observation)
        if ended == attempts:
            assert [terminated, truncated] == ends and info == said
        elif step == horizon:
            assert (terminated, truncated, info["cause"]) == (False, True, said["cause"] or "horizon")
        elif any(ends):
            there, said = inner.reset(seed=seed, options=options)
            assert (info["is_first"], info["cause"]) == (True, "")
        assert bool(info.get("is_first")) == (any(ends) and not (terminated or truncated))
        assert info["progress"] == said["progress"]
        np.testing.assert_equal(observation, there)
        if terminated or truncated:
            break
        assert info["cause"] == ""
    else:
        assert horizon == 40 or attempts is None or ended < attempts


def test_a_worker_tells_where_attempts_begin():
    make = partial(make_trial, partial(KeyDoorEnv, 3, 2, dark=True), None, 5)
    assert pickle.loads(pickle.dumps(make))().max_steps == 5
    with VectorEnv(make, num_envs=2, num_workers=1) as vector:
        vector.reset([0, 1], [Task(0), Task(2)])
        starts, seen = vector.observations["position"].copy(), [vector.is_first.tolist()]
        while vector.playing.any():
            vector.step([4, 4])
            seen.append(vector.is_first.tolist())
            if vector.is_first[0]:
                assert np.array_equal(vector.observations["position"], starts)
                assert not vector.observations["time"].any()
        assert seen == [[first, first] for first in (False, False, True, False, True, False)]
        assert vector.truncated.all() and vector.cause == ["horizon"] * 2
