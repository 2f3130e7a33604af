"""Evaluations: how many episodes, on which worlds, and that timing changes nothing."""

import threading

import numpy as np
import pytest
from walk_env import WalkEnv

import agent.evaluate
from agent import checkpoint as checkpoints
from agent.catalog import make_env
from agent.checkpoint import Checkpoint
from agent.config import Config, override
from agent.envs.base import EnvSpec
from agent.envs.maze_layout import maze_of
from agent.evaluate import evaluate
from agent.forward import build_model
from agent.interface import interface_of
from agent.presets import preset
from agent.progress import EvalProgress, Event, ignore
from store.errors import CheckpointError
from store.layout import RunPaths
from store.runs import create_run
from store.trajectory import Trajectory

INSTRUCTIONS = [(6,), (2, 3), (0,)]


@pytest.fixture(autouse=True)
def _walk(monkeypatch):
    monkeypatch.setattr(agent.evaluate, "make_env", lambda config: WalkEnv)


def walk_config(actors: int = 4, **changes) -> Config:
    base = {"collect.actors": actors, "collect.workers": 0, "run.device": "cpu"}
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


def maze_config(actors: int) -> Config:
    changes = {"env.name": "maze", "env.size": 7, "env.max_steps": 40, "collect.actors": actors, "collect.workers": 0}
    return override(preset("tiny"), {**changes, "run.device": "cpu"})


def test_the_environments_own_tasks_are_worlds_with_instructions_drawn_for_them(monkeypatch):
    monkeypatch.setattr(agent.evaluate, "make_env", make_env)
    some, others = (play(maze_config(actors), 30, instructions=None) for actors in (4, 7))
    assert [t.info.seed for t in some] == sorted({t.info.seed for t in some})
    assert all(t.info.seed % 2 == 1 and t.info.split == "eval" for t in some)
    for trajectory in some:
        instruction = trajectory.instruction.tolist()
        assert 1 <= len(instruction) <= 3 and set(instruction) <= set(maze_of(7, trajectory.info.seed).places.tolist())
    assert {len(t.instruction) for t in some} == {1, 2, 3}
    for one, other in zip(some, others, strict=True):
        np.testing.assert_array_equal(one.instruction, other.instruction)
        np.testing.assert_array_equal(one.actions, other.actions)


def test_environments_without_goals_have_no_instructions(monkeypatch):
    class AimlessWalk(WalkEnv):
        max_instruction = 0
        vocabulary = ""

    monkeypatch.setattr(agent.evaluate, "make_env", lambda config: AimlessWalk)
    trajectories = play(walk_config(), instructions=None)
    assert len({t.info.seed for t in trajectories}) == 7
    assert all(len(t.instruction) == 0 and t.info.cause in ("death by falling", "time limit") for t in trajectories)


def lake_config(**changes) -> Config:
    base = {"env.name": "frozen-lake", "env.size": 3, "env.max_steps": 4, "env.attempts": 2, "run.device": "cpu"}
    return override(preset("tiny"), {**base, "collect.workers": 0, **changes})


def untrained(paths: RunPaths, config: Config):
    """A checkpoint of an agent for that lake."""
    spec = EnvSpec.from_env(make_env(config.env)())
    weights = {
        name: tensor.contiguous() for name, tensor in build_model(interface_of(spec), config).state_dict().items()
    }
    about = {"config": config.model_dump(mode="json"), "environment": spec.to_json(), "versions": {}}
    meta = {"step": 1, "update": 1, "elapsed": 0.0, "saved": 0.0, **about}
    return checkpoints.save(paths, Checkpoint(weights, {}, {}, meta))


def test_more_attempts_than_in_training(monkeypatch, tmp_path):
    monkeypatch.setattr(agent.evaluate, "make_env", make_env)
    checkpoint = untrained(create_run(tmp_path, "r", {}), lake_config())
    how = {"episodes": 3, "seed": 0, "device": "cpu", "greedy": False, "notify": ignore, "stop": threading.Event()}
    for attempts in (1, 5):
        played = evaluate(checkpoint, lake_config(**{"env.attempts": attempts}), None, **how)
        assert [len(t.attempts) for t in played] == [attempts] * 3
    with pytest.raises(CheckpointError, match="trained on another environment"):
        evaluate(checkpoint, lake_config(**{"env.size": 4, "env.attempts": 5}), None, **how)
    with pytest.raises(CheckpointError, match="max_steps: 8 against 20"):
        evaluate(checkpoint, lake_config(**{"env.max_steps": 10}), None, **how)
