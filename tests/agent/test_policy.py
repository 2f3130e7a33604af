"""Cached acting against full passes of the representation over the recorder's own arrays."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_agent import tiny_config
from walk_env import WalkEnv

from agent.batch import as_inputs
from agent.config import Config
from agent.envs.base import EnvSpec, Task
from agent.forward import build_model
from agent.interface import interface_of
from agent.nets.model import ActingModel, acting_tensors
from agent.policy import Policy, UniformPolicy
from agent.recorder import Recorder

NUM_ACTORS = 4
SPEC = EnvSpec.from_env(WalkEnv(max_steps=60))


def trained(config: Config, seed: int) -> ActingModel:
    """Weights that are not flat, and input statistics that are not empty."""
    torch.manual_seed(seed)
    model = build_model(interface_of(SPEC), config)
    model.actor.out.weight.data.normal_()
    model.representation.encoder.parts["wind"].norm.update(torch.rand(1, 9, 1), torch.ones(1, 9, dtype=torch.bool))
    return model


def acting(config: Config, seed: int) -> Policy:
    model = ActingModel(interface_of(SPEC), config)
    model.load_state_dict(acting_tensors(trained(config, seed)))
    return Policy(model, NUM_ACTORS, config.model.context)


class Stage:
    """A recorder filled with random experience."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.recorder = Recorder(SPEC, NUM_ACTORS)

    def observations(self) -> dict[str, np.ndarray]:
        return {
            "place": self.rng.integers(7, size=(NUM_ACTORS, 1)).astype(np.uint8),
            "wind": self.rng.random((NUM_ACTORS, 1), np.float32),
        }

    def begin(self, actor: int) -> None:
        instruction = tuple(self.rng.integers(191, size=2).tolist())
        self.recorder.begin(actor, Task(seed=0, instruction=instruction), self.observations())

    def step(self, playing: np.ndarray) -> None:
        actors = np.flatnonzero(playing)
        before = self.recorder["progress"][np.arange(NUM_ACTORS), self.recorder.lengths]
        progress = np.minimum(before + (self.rng.random(NUM_ACTORS) < 0.1), 2).astype(np.uint8)
        actions = self.rng.integers(3, size=NUM_ACTORS)
        rewards = self.rng.random(NUM_ACTORS).astype(np.float32)
        self.recorder.record(actors, actions, rewards, progress, self.observations(), [()] * NUM_ACTORS)


def window_start(time: int, context: int) -> int:
    """The rule in words: a full window moves on by half."""
    start = 0
    for t in range(time + 1):
        if t - start >= context:
            start = t - context // 2
    return start


@torch.no_grad()
def full_pass(model: ActingModel, recorder: Recorder, actor: int, context: int) -> np.ndarray:
    """Action probabilities of one whole forward pass over the window of `actor`."""
    time = int(recorder.lengths[actor])
    steps = np.arange(window_start(time, context), time + 1)
    at = (np.array([[actor]]), steps[None])
    inputs = as_inputs(
        {key: array[at] for key, array in recorder.observations.items()},
        recorder["goals"][at],
        recorder["previous_actions"][at],
        recorder["previous_rewards"][at],
        steps[None] == 0,
        steps[None],
    )
    return model.actor(model.representation(inputs))[0, -1, -1].exp().numpy()


@settings(deadline=None, max_examples=6)
@given(st.integers(0, 10_000), st.sampled_from([2, 5, 8]))
def test_acting_is_a_full_pass_over_the_window(seed, context):
    """With staggered ends, windows that overflow, actors that rest and weights that change."""
    config = tiny_config(model__context=context)
    model, stage = trained(config, 1), Stage(seed)
    policy = acting(config, 1)
    for actor in range(NUM_ACTORS):
        stage.begin(actor)
    playing = np.ones(NUM_ACTORS, bool)
    for _ in range(30):
        probabilities = policy.probabilities(stage.recorder, playing)
        for actor in np.flatnonzero(playing).tolist():
            expected = full_pass(model, stage.recorder, actor, context)
            np.testing.assert_allclose(probabilities[actor], expected, rtol=1e-3, atol=1e-5)
        stage.step(playing)
        for actor in np.flatnonzero(stage.rng.random(NUM_ACTORS) < 0.05).tolist():
            playing[actor] = not playing[actor]
            if playing[actor]:
                stage.begin(actor)
        for actor in np.flatnonzero(playing & (stage.rng.random(NUM_ACTORS) < 0.05)).tolist():
            stage.begin(actor)
        if stage.rng.random() < 0.15:
            weights = int(stage.rng.integers(2, 100))
            model = trained(config, weights)
            policy.load(acting_tensors(model), update=weights)
            assert policy.update == weights


@pytest.mark.parametrize("context", [2, 5, 8])
def test_windows_depend_on_the_time_alone(context):
    """A policy that comes late, as after a resume, acts as one that was there from the start."""
    config, stage = tiny_config(model__context=context), Stage(0)
    early, playing = acting(config, 1), np.ones(NUM_ACTORS, bool)
    for actor in range(NUM_ACTORS):
        stage.begin(actor)
    for time in range(30):
        expected = early.probabilities(stage.recorder, playing)
        late = acting(config, 1).probabilities(stage.recorder, playing)
        np.testing.assert_allclose(late, expected, rtol=1e-3, atol=1e-5, err_msg=f"time {time}")
        stage.step(playing)


def test_probabilities_are_of_the_discount_that_acts():
    config = tiny_config(loss__discounts=(0.2, 0.5, 0.9))
    stage, playing = Stage(0), np.ones(NUM_ACTORS, bool)
    for actor in range(NUM_ACTORS):
        stage.begin(actor)
    probabilities = acting(config, 1).probabilities(stage.recorder, playing)
    assert probabilities.shape == (NUM_ACTORS, 3) and probabilities.dtype == np.float64
    np.testing.assert_allclose(probabilities.sum(1), 1.0, rtol=1e-5)
    expected = full_pass(trained(config, 1), stage.recorder, 2, config.model.context)
    np.testing.assert_allclose(probabilities[2], expected, rtol=1e-4)


def test_the_past_matters():
    """Otherwise the tests above would hold for an agent without memory."""
    config = tiny_config()
    results = []
    for seed in (1, 2):
        stage, playing = Stage(seed), np.arange(NUM_ACTORS) == 0
        stage.begin(0)
        stage.step(playing)
        stage.rng = np.random.default_rng(3)
        stage.step(playing)
        stage.recorder["goals"][:] = 0
        results.append(acting(config, 1).probabilities(stage.recorder, playing)[0])
    assert not np.allclose(*results, rtol=1e-3)


def test_the_uniform_policy():
    recorder = Recorder(SPEC, NUM_ACTORS)
    probabilities = UniformPolicy(3).probabilities(recorder, np.ones(NUM_ACTORS, bool))
    np.testing.assert_array_equal(probabilities, np.full((NUM_ACTORS, 3), 1 / 3))
