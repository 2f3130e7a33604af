"""A collector in a process of its own: what it hands over, and what happens when it dies."""

import os
import signal
import time

import psutil
import pytest
import torch

from agent.config import Config, override
from agent.cycles import _environment_spec
from agent.experience import ProcessExperience
from agent.forward import build_model
from agent.interface import interface_of
from agent.nets.model import acting_tensors
from agent.presets import preset
from store.errors import AmagoError


def small(**changes: object) -> Config:
    return override(preset("tiny"), {"env.max_steps": 40, "collect.workers": 0, "collect.actors": 2, **changes})


def weights(config: Config) -> dict[str, torch.Tensor]:
    torch.manual_seed(0)
    return acting_tensors(build_model(interface_of(_environment_spec(config)), config))


@pytest.fixture
def experience():
    config = small()
    tensors = weights(config)
    with_process = ProcessExperience(config, None, tensors)
    with_process.publish(tensors, 7)
    yield with_process
    with_process.close()


def collector_pid() -> int:
    children = psutil.Process().children()
    (pid,) = [child.pid for child in children if "spawn_main" in " ".join(child.cmdline())]
    return pid


def test_collects_up_to_the_allowed_step_with_the_published_weights(experience):
    assert experience.step == 0
    finished = []
    while experience.step < 200:
        finished += experience.poll(200, 0.05)
    time.sleep(0.1)
    finished += experience.poll(200, 0.05)
    assert 200 <= experience.step <= 201  # two actors step at once
    assert finished and all(t.info.policy_update == 7 for t in finished)
    state, late = experience.snapshot()
    lengths = sum(t.length for t in [*finished, *late])
    assert state["collector"]["step"] == lengths + sum(len(r["actions"]) for r in state["collector"]["rollouts"])


@pytest.mark.parametrize("ask", [lambda e: e.poll(10**9, 5.0), lambda e: e.snapshot()])
def test_a_killed_collector_is_told_in_one_line(experience, ask):
    os.kill(collector_pid(), signal.SIGKILL)
    with pytest.raises(AmagoError, match=r"collector process was killed by signal 9 \(often out of memory"):
        for _ in range(100):
            ask(experience)


def test_close_ends_the_process(experience):
    pid = collector_pid()
    experience.close()
    assert not psutil.pid_exists(pid)


def test_an_error_at_the_start_is_told_and_leaves_no_process():
    config = small()
    tensors = weights(config)
    broken = {"tasks": {"begun": [0, 0], "sampler": {"best_step": -1}}, "collector": {"step": 0, "rollouts": []}}
    before = {child.pid for child in psutil.Process().children()}
    with pytest.raises(AmagoError, match="collector process ended with exit code 1"):
        ProcessExperience(config, {**broken, "tasks": {}}, tensors)
    after = {c.pid for c in psutil.Process().children() if "spawn_main" in " ".join(c.cmdline())}
    assert after <= before
