from functools import partial

import numpy as np
import psutil
import pytest
from fake_envs import CountingEnv, ModulesEnv

from agent.envs.base import Task
from agent.envs.crafter.env import make_crafter
from agent.envs.vector import VectorEnv


@pytest.fixture(scope="module", params=[0, 2, 9], ids="{} workers".format)
def vector(request):
    """Five environments that end after four steps, in no, two, or more workers than environments."""
    with VectorEnv(partial(CountingEnv, 4), num_envs=5, num_workers=request.param) as vector:
        yield vector


@pytest.fixture
def fresh(vector: VectorEnv) -> VectorEnv:
    vector.reset(range(5), [Task(10 * row) for row in range(5)])
    return vector


def test_reset_writes_the_rows_it_is_asked_for(fresh):
    assert fresh.observations["state"].tolist() == [[0, 0], [10, 0], [20, 0], [30, 0], [40, 0]]
    fresh.step(np.arange(5))
    fresh.reset([3, 1], [Task(7), Task(8)])
    assert fresh.observations["state"].tolist() == [[0, 1], [8, 0], [20, 1], [7, 0], [40, 1]]
    assert fresh.rewards.tolist() == [0.0, 0.0, 2.0, 0.0, 4.0]
    assert not fresh.lost.any() and fresh.incidents == []


def test_step_writes_every_row(fresh):
    fresh.step([3, 1, 4, 1, 5])
    fresh.step([2, 7, 1, 8, 2])
    assert fresh.observations["state"].tolist() == [[10 * row, 2] for row in range(5)]
    assert fresh.observations["action"].ravel().tolist() == [2, 7, 1, 8, 2]
    assert fresh.rewards.dtype == np.float32 and fresh.rewards.tolist() == [2.0, 7.0, 1.0, 8.0, 2.0]
    assert fresh.progress.tolist() == [1] * 5
    assert fresh.achieved == [(7,)] * 5
    fresh.step([0] * 5)
    assert fresh.achieved == [()] * 5 and fresh.cause == [""] * 5
    assert not fresh.terminated.any() and not fresh.truncated.any()


def test_ended_environments_rest_until_they_are_reset(fresh):
    fresh.step([0] * 5)
    fresh.reset([2], [Task(1)])
    for _ in range(3):
        fresh.step([0] * 5)
    assert fresh.truncated.tolist() == [True, True, False, True, True]
    assert fresh.cause == ["time limit", "time limit", "", "time limit", "time limit"]
    assert fresh.playing.tolist() == [False, False, True, False, False]
    fresh.reset([0, 1], [Task(2)] * 2)
    assert fresh.truncated.tolist() == [False, False, False, True, True]
    fresh.step([0] * 5)
    assert fresh.playing.tolist() == [True, True, False, False, False]
    assert fresh.observations["state"].tolist() == [[2, 1], [2, 1], [1, 4], [30, 4], [40, 4]]


def test_the_spec_is_the_environments(vector):
    assert vector.spec.name == "counting" and vector.spec.max_steps == 4
    assert set(vector.observations) == set(vector.spec.observation_space.spaces)


def test_workers_play_the_same_crafter_as_this_process():
    tasks = [Task(seed, (6, 0)) for seed in (2, 4)]
    actions = np.random.default_rng(0).integers(17, size=(30, 2))
    histories = []
    for num_workers in (0, 2):
        with VectorEnv(partial(make_crafter, "package", "symbolic", 100), 2, num_workers) as vector:
            vector.reset([0, 1], tasks)
            history = []
            for action in actions:
                vector.step(action)
                history.append({key: value.copy() for key, value in vector.observations.items()})
                history.append((vector.rewards.tolist(), vector.progress.tolist(), vector.achieved))
            histories.append(history)
    np.testing.assert_equal(histories[0], histories[1])


def test_close_leaves_no_worker():
    vector = VectorEnv(CountingEnv, num_envs=2, num_workers=2)
    pids = vector.worker_pids
    assert len(pids) == 2 and all(psutil.pid_exists(pid) for pid in pids if pid)
    vector.close()
    vector.close()
    assert not any(psutil.pid_exists(pid) for pid in pids if pid)


def test_workers_import_no_torch():
    with VectorEnv(ModulesEnv, num_envs=1, num_workers=1) as vector:
        vector.reset([0], [Task(0)])
        assert vector.observations["state"][0].tolist() == [0, 1]
