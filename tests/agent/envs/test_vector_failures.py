import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import psutil
import pytest
from fake_envs import BrokenEnv, CountingEnv, FailingEnv

from agent.envs import vector as vector_module
from agent.envs.base import Task
from agent.envs.vector import VectorEnv, WorkerError
from store.errors import AmagoError


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        ("exit", "exited with code 3"),
        ("exception", "RuntimeError: the world has ended (fake_envs.py, line 72)"),
        ("kill", "was killed by signal 9, often out of memory"),
        ("hang", "did not answer within 2 s"),
    ],
)
def test_a_failing_worker_is_replaced_and_the_run_goes_on(failure, words):
    with VectorEnv(partial(FailingEnv, failure), num_envs=4, num_workers=2, timeout=2.0) as vector:
        before = vector.worker_pids
        vector.reset(range(4), [Task(0), Task(2), Task(4), Task(5)])
        for _ in range(2):
            vector.step([1] * 4)
            assert not vector.lost.any()
        vector.step([1] * 4)
        assert vector.lost.tolist() == [False, False, True, True]
        (incident,) = vector.incidents
        assert incident.startswith("worker of environments 2-3 lost in environment 3 (seed 5, step 3): ")
        assert words in incident and len(incident.splitlines()) == 1
        assert vector.observations["state"][:2].tolist() == [[0, 3], [2, 3]]
        assert vector.rewards.tolist() == [1.0, 1.0, 0.0, 0.0]
        assert not vector.terminated.any() and not vector.truncated.any()
        assert vector.playing.tolist() == [True, True, False, False]
        vector.reset([2, 3], [Task(6), Task(8)])
        assert not vector.lost.any()
        vector.step([1] * 4)
        assert vector.observations["state"].tolist() == [[0, 4], [2, 4], [6, 1], [8, 1]]
        assert vector.worker_pids[0] == before[0] and vector.worker_pids[1] != before[1]
        assert not psutil.pid_exists(before[1] or 0)


def test_a_worker_killed_between_two_calls_is_noticed():
    with VectorEnv(CountingEnv, num_envs=2, num_workers=2) as vector:
        vector.reset([0, 1], [Task(0), Task(2)])
        os.kill(vector.worker_pids[0] or 0, signal.SIGKILL)
        vector.step([0, 0])
        assert vector.lost.tolist() == [True, False]
        assert "environments 0-0 lost while none of them was at work: was killed" in vector.incidents[0]
        vector.reset([0], [Task(4)])
        vector.step([0, 0])
        assert vector.observations["state"].tolist() == [[4, 1], [2, 2]]


def test_ctrl_c_reaches_no_worker_not_even_one_that_is_starting():
    with VectorEnv(CountingEnv, num_envs=1, num_workers=1) as vector:
        for _ in range(2):
            os.kill(vector.worker_pids[0] or 0, signal.SIGINT)
            vector.reset([0], [Task(0)])
            vector.step([0])
        assert not vector.lost.any() and vector.incidents == []
        assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, set())


def test_an_environment_that_never_works_stops_the_run(monkeypatch):
    monkeypatch.setattr(vector_module, "_MAX_FAILURES", 1)
    with VectorEnv(BrokenEnv, num_envs=1, num_workers=1) as vector:
        vector.reset([0], [Task(0)])
        assert vector.lost.all()
        with pytest.raises(WorkerError, match=r"keep failing.*environment 0 .*RuntimeError: no world \(fake_envs.py"):
            vector.reset([0], [Task(0)])
    assert issubclass(WorkerError, AmagoError)


def test_an_environment_that_never_finishes_an_attempt_stops_the_run(monkeypatch):
    monkeypatch.setattr(vector_module, "_MAX_FAILURES", 1)
    with VectorEnv(partial(FailingEnv, "exception"), num_envs=1, num_workers=1) as vector:
        vector.reset([0], [Task(5)])
        for _ in range(3):
            vector.step([1])
        assert vector.lost.all()
        vector.reset([0], [Task(5)])
        for _ in range(2):
            vector.step([1])
        with pytest.raises(WorkerError, match=r"keep failing.*the world has ended"):
            vector.step([1])


def test_without_workers_errors_are_raised():
    vector = VectorEnv(BrokenEnv, num_envs=1, num_workers=0)
    with pytest.raises(RuntimeError, match="no world"):
        vector.reset([0], [Task(0)])


ORPHANS = """
import sys
from functools import partial
sys.path.insert(0, sys.argv[1])
from fake_envs import CountingEnv, FailingEnv
from agent.envs.base import Task
from agent.envs.vector import VectorEnv
vector = VectorEnv(partial(FailingEnv, "hang"), num_envs=2, num_workers=2)
vector.reset([0, 1], [Task(0), Task(1)])
vector.step([0, 0])
vector.step([0, 0])
print(*vector.worker_pids, flush=True)
vector.step([0, 0])
"""


def test_a_killed_parent_leaves_no_worker_not_even_a_hanging_one():
    here = Path(__file__).parent
    parent = subprocess.Popen(
        [sys.executable, "-c", ORPHANS, str(here)],
        env={**os.environ, "PYTHONPATH": str(here.parents[2])},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout is not None
    workers = [psutil.Process(int(pid)) for pid in parent.stdout.readline().split()]
    time.sleep(0.5)  # one worker is idle now, the other hangs in its environment
    assert len(workers) == 2 and all(worker.is_running() for worker in workers)
    parent.kill()
    parent.wait()
    _, alive = psutil.wait_procs(workers, timeout=20)
    assert alive == []
