"""Evaluations: how many episodes, on which worlds, and that timing changes nothing."""

import threading

import numpy as np
import pytest
from walk_env import WalkEnv

from agent.catalog import ENVIRONMENTS, Environment
from agent.config import Config, override
from agent.evaluate import evaluate
from agent.presets import preset
from agent.progress import EvalProgress, Event, ignore
from store.trajectory import Trajectory

INSTRUCTIONS = [(6,), (2, 3), (0,)]


@pytest.fixture(autouse=True)
def _walk(monkeypatch):
    monkeypatch.setitem(ENVIRONMENTS, "walk", Environment("a walk", lambda config: WalkEnv))


def walk_config(actors: int = 4, **changes) -> Config:
    base = {"env.name": "walk", "collect.actors": actors, "collect.workers": 0, "run.device": "cpu"}
    return override(preset("tiny"), {**base, **changes})


def play(config: Config, episodes: int = 7, seed: int = 0, **how) -> list[Trajectory]:
    base = {"device": "cpu", "greedy": False, "notify": ignore, "stop": threading.Event()}
    instructions = how.pop("instructions", INSTRUCTIONS)
    return evaluate(None, config, instructions, episodes=episodes, seed=seed, **{**base, **how})


def test_every_instruction_is_played_exactly_so_often_on_held_out_worlds():
    trajectories = play(walk_config())
    assert [tuple(t.instruction.tolist()) for t in trajectories] == [i for i in INSTRUCTIONS for _ in range(7)]
    assert all(t.info.seed % 2 == 1 and t.info.split == "eval" and t.info.epsilon == 0.0 for t in trajectories)
    worlds = np.array([t.info.seed for t in trajectories]).reshape(3, 7)
    assert (worlds == worlds[0]).all() and len(set(worlds[0])) == 7
    assert len({t.length for t in trajectories}) > 3  # short episodes and long ones


@pytest.mark.parametrize("actors", [1, 2, 21, 50])
def test_the_number_of_actors_changes_nothing(actors):
    some, others = play(walk_config()), play(walk_config(actors))
    for one, other in zip(some, others, strict=True):
        np.testing.assert_array_equal(one.actions, other.actions)
        np.testing.assert_array_equal(one.observations["place"], other.observations["place"])
        assert (one.info.seed, one.info.cause) == (other.info.seed, other.info.cause)


def test_the_same_instruction_twice_is_played_twice_as_often():
    some, others = (play(walk_config(actors), instructions=[(6,), (6,)]) for actors in (1, 5))
    assert [t.info.seed for t in some] == [t.info.seed for t in others]
    assert sorted(t.actions.tolist() for t in some) == sorted(t.actions.tolist() for t in others)
    assert len(some) == len({(t.info.seed, t.actions.tobytes()) for t in some}) == 14


def test_seeds_choose_the_worlds():
    one, same, other = (play(walk_config(), seed=seed) for seed in (1, 1, 2))
    assert [t.info.seed for t in one] == [t.info.seed for t in same]
    assert {t.info.seed for t in one}.isdisjoint(t.info.seed for t in other)


def test_progress_is_told_and_complete():
    told = []
    play(walk_config(), notify=told.append)
    assert isinstance(told[-1], EvalProgress) and (told[-1].finished, told[-1].total) == (21, 21)
    assert not any(isinstance(item, Event) for item in told)


def test_a_stop_returns_what_is_finished():
    stop = threading.Event()
    stop.set()
    assert play(walk_config(), stop=stop) == []
