from functools import partial

import bad_envs
import numpy as np
import pytest

from agent.env_check import check
from agent.env_check.check import check_environment
from agent.env_check.checks import same
from agent.envs.frozen_lake import FrozenLakeEnv
from agent.envs.gym import GymEnv
from agent.envs.own import OwnEnv


@pytest.fixture
def alone(monkeypatch):
    """Without the worker, whose start takes as long as all the rest."""
    monkeypatch.setattr(check, "_in_a_worker", lambda make_env, once: check.Finding("workers", True, ""))


def own(name: str) -> partial:
    return partial(OwnEnv, f"bad_envs:{name}")


def problems(make_env) -> dict[str, str]:
    """What is wrong, by check."""
    _, findings = check_environment(make_env)
    assert all("\n" not in finding.text for finding in findings)
    assert len({finding.check for finding in findings}) == len(findings)
    return {finding.check: finding.text for finding in findings if not finding.ok}


def test_a_good_environment_passes_and_says_what_it_is():
    spec, findings = check_environment(own("GoodEnv"))
    assert spec and spec.max_steps == 12
    assert all(finding.ok for finding in findings)
    texts = {finding.check: finding.text for finding in findings}
    assert texts["sees place"] == "1 uint8, one-hot"
    assert texts["sees speed"] == "2 float32, normalised by running statistics"
    assert texts["acts"] == "a choice of 2"
    assert texts["rewards"] == "0 to 1"
    assert "time limit 12 steps" in texts["ends"]
    assert texts["info"] == "causes of ends: arrived"
    assert texts["workers"] == "another process plays the same"
    assert "steps/s" in texts["speed"] and texts["games"] == "one"


@pytest.mark.parametrize(
    "make_env",
    [
        partial(FrozenLakeEnv, 4, 20, shuffle_actions=True),
        partial(GymEnv, "Taxi-v4"),
        partial(GymEnv, "Blackjack-v1", 9),
    ],
)
def test_ours_and_gymnasiums_pass(alone, make_env):
    assert problems(make_env) == {}


@pytest.mark.parametrize(
    ("name", "check", "words"),
    [
        ("Texts", "made", "'mission' cannot be encoded"),
        (
            "Outside",
            "inside its space",
            "'speed' is 1.5, its space allows -1.0 to 1.0 (in the world of seed 0, at the reset)",
        ),
        ("WrongType", "dtypes", "'speed' is float64, its space says int8"),
        ("Missing", "inside its space", "'speed' is missing"),
        ("BadReward", "rewards", "one is inf (in the world of seed 0, step 1)"),
        ("Unseeded", "reset repeats", "began in two ways: draw everything from self.np_random"),
        ("Slippery", "play repeats", "the same actions parted at step"),
        ("Undecided", "ends", "terminated is 0, not true or false"),
        ("Wordy", "info", "cause is 90 bytes long, 64 are kept"),
        ("CutShort", "info", "cause is 'horizon'"),
        ("NoDict", "info", "info is None; return a dict"),
        ("Goals", "info", "achieved is (3,)"),
        ("Progress", "info", "progress is 2"),
        ("First", "info", "is_first at an end"),
        ("Stuck", "action mask", "no action is legal"),
        ("Failing", "runs", "fails in its step: RuntimeError: the floor gives way"),
        ("OneGameFails", "games", "broken does not play: "),
    ],
)
def test_each_broken_promise_is_found(alone, name, check, words):
    found = problems(own(name))
    assert words in found[check]
    allowed = {"runs"} if check in ("inside its space", "rewards", "info") else set()
    allowed |= {"play repeats"} if name == "Unseeded" else set()
    assert set(found) - allowed == {check}


def test_a_time_limit_that_is_not_kept(alone):
    assert problems(bad_envs.Endless) == {
        "ends": "no end after max_steps (12); truncate there (in the world of seed 0, at the reset)"
    }


def test_what_differs_in_another_process():
    assert "another process saw something else at step 0" in problems(own("ElsewhereDifferent"))["workers"]


def test_what_cannot_be_handed_to_another_process():
    assert "it cannot be made in another process: " in problems(lambda: OwnEnv("bad_envs:GoodEnv"))["workers"]


def test_equality_looks_into_everything():
    value = {"a": (1, np.array([1.0, np.nan])), "b": "text"}
    assert same(value, {"a": (1, np.array([1.0, np.nan])), "b": "text"})
    for other in ({"a": value["a"]}, {**value, "b": "texts"}, {**value, "a": (1, np.array([1.0, 2.0]))}):
        assert not same(value, other)
