"""Cached acting against full passes of the representation over the recorder's own arrays."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare, kstest
from tiny_agent import KINDS, Seen, random_actions, tiny_config
from walk_env import WalkEnv

from agent.batch import ACTION_MASK, as_inputs
from agent.config import Config
from agent.envs.base import EnvSpec, Task
from agent.forward import build_model
from agent.interface import context_of, interface_of
from agent.nets.distributions import Categorical, Distribution
from agent.nets.model import ActingModel, acting_tensors
from agent.policy import Policy, UniformPolicy
from agent.recorder import Recorder
from agent.values import value_bins

NUM_ACTORS = 4
SPEC = EnvSpec.from_env(WalkEnv(max_steps=60))
MASK_SPACE = spaces.Dict({**WalkEnv().observation_space.spaces, ACTION_MASK: spaces.MultiBinary(3)})
SPECS = {  # by kind of action
    "discrete": SPEC,
    "foreseen": SPEC,
    "masked": replace(SPEC, observation_space=MASK_SPACE),
    "bits": replace(SPEC, action_space=spaces.MultiBinary(4)),
    "gaussian": replace(SPEC, action_space=spaces.Box(np.float32([-1, 0]), np.float32([3, 10]))),
}
SPECS |= {"mixture": SPECS["gaussian"], "beta": SPECS["gaussian"]}
memories = pytest.mark.parametrize("memory", ["transformer", "gru", "none"])


def config_of(kind: str = "discrete", **changes) -> Config:
    return tiny_config(**KINDS[kind][1], **changes)


def trained(config: Config, seed: int, spec: EnvSpec = SPEC) -> ActingModel:
    """Weights that are not flat, and input statistics that are not empty."""
    torch.manual_seed(seed)
    model = build_model(interface_of(spec), config)
    model.actor.out.weight.data.normal_()
    encoder = model.representation.encoder
    encoder.parts[encoder.names.index("wind")].norm.update(torch.rand(1, 9, 1), torch.ones(1, 9, dtype=torch.bool))
    return model


def acting(config: Config, seed: int, spec: EnvSpec = SPEC, *, greedy: bool = False) -> Policy:
    model = ActingModel(interface_of(spec), config, value_bins(config.loss))
    model.load_state_dict(acting_tensors(trained(config, seed, spec)))
    return Policy(model, NUM_ACTORS, config.model.context, greedy=greedy)


def distribution_of(policy: Policy, recorder: Recorder, playing: np.ndarray) -> Distribution:
    return policy.distribution(policy.states(recorder, playing), legal_of(recorder))


def legal_of(recorder: Recorder) -> torch.Tensor | None:
    masks = recorder.observations.get(ACTION_MASK)
    return None if masks is None else torch.from_numpy(masks[np.arange(NUM_ACTORS), recorder.lengths]).bool()


def probabilities_of(policy: Policy, recorder: Recorder, playing: np.ndarray) -> np.ndarray:
    distribution = distribution_of(policy, recorder, playing)
    assert isinstance(distribution, Categorical)
    return distribution.log_probabilities.exp().numpy()


class Stage:
    """A recorder filled with random experience."""

    def __init__(self, seed: int, spec: EnvSpec = SPEC) -> None:
        self.rng = np.random.default_rng(seed)
        self.spec = spec
        self.recorder = Recorder(spec, NUM_ACTORS)

    def observations(self) -> dict[str, np.ndarray]:
        seen = {
            "place": self.rng.integers(7, size=(NUM_ACTORS, 1)).astype(np.uint8),
            "wind": self.rng.random((NUM_ACTORS, 1), np.float32),
        }
        if ACTION_MASK in self.spec.observation_space.spaces:
            seen[ACTION_MASK] = (self.rng.random((NUM_ACTORS, 3)) < 0.5).astype(np.int8)
            seen[ACTION_MASK][np.arange(NUM_ACTORS), self.rng.integers(3, size=NUM_ACTORS)] = 1
        return seen

    def begin(self, actor: int) -> None:
        instruction = tuple(self.rng.integers(191, size=2).tolist())
        self.recorder.begin(actor, Task(seed=0, instruction=instruction), self.observations())

    def begin_all(self) -> np.ndarray:
        for actor in range(NUM_ACTORS):
            self.begin(actor)
        return np.ones(NUM_ACTORS, bool)

    def step(self, playing: np.ndarray) -> None:
        actors = np.flatnonzero(playing)
        before = self.recorder["progress"][np.arange(NUM_ACTORS), self.recorder.lengths]
        progress = np.minimum(before + (self.rng.random(NUM_ACTORS) < 0.1), 2).astype(np.uint8)
        actions = random_actions(self.rng, (NUM_ACTORS,), interface_of(self.spec))
        rewards = self.rng.random(NUM_ACTORS).astype(np.float32)
        is_first = self.rng.random(NUM_ACTORS) < 0.1
        self.recorder.record(actors, actions, Seen(self.observations(), rewards, is_first, progress, [()] * NUM_ACTORS))


def window_start(time: int, context: int) -> int:
    """The rule in words: a full window moves on by half."""
    start = 0
    for t in range(time + 1):
        if t - start >= context:
            start = t - context // 2
    return start


@torch.no_grad()
def full_pass(model: ActingModel, recorder: Recorder, actor: int, context: int) -> torch.Tensor:
    """Raw parameters (P,) of the policy that acts, by one whole forward pass over the window of `actor`."""
    time = int(recorder.lengths[actor])
    steps = np.arange(window_start(time, context), time + 1)
    at = (np.array([[actor]]), steps[None])
    inputs = as_inputs(
        {key: array[at] for key, array in recorder.observations.items()},
        recorder["goals"][at],
        recorder["previous_actions"][at],
        recorder["previous_rewards"][at],
        recorder["is_first"][at],
        steps[None],
    )
    return model.actor(model.representation(inputs).states)[0, -1, -1]


@memories
@settings(deadline=None, max_examples=6)
@given(seed=st.integers(0, 10_000), context=st.sampled_from([2, 5, 8]))
def test_acting_is_a_full_pass_over_the_window(memory, seed, context):
    """With staggered ends, windows that overflow, attempts that begin, actors that rest and weights that change."""
    config = config_of(model__context=context, model__memory=memory)
    model, stage = trained(config, 1), Stage(seed)
    policy = acting(config, 1)
    playing = stage.begin_all()
    for _ in range(30):
        probabilities = probabilities_of(policy, stage.recorder, playing)
        for actor in np.flatnonzero(playing).tolist():
            expected = full_pass(model, stage.recorder, actor, context).softmax(-1)
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


@pytest.mark.parametrize("kind", SPECS)
def test_every_kind_of_action_is_a_full_pass(kind):
    spec, config = SPECS[kind], config_of(kind, model__context=5)
    model, stage, policy = trained(config, 1, spec), Stage(3, spec), acting(config, 1, spec)
    playing, rng = stage.begin_all(), np.random.default_rng(0)
    for _ in range(12):
        chances = rng.random((NUM_ACTORS, policy.num_chances), np.float32)
        actions = policy.choose(stage.recorder, playing, chances, None)
        assert all(spec.action_space.contains(action) for action in actions)
        raw = torch.stack([full_pass(model, stage.recorder, actor, 5) for actor in range(NUM_ACTORS)])
        now = (np.arange(NUM_ACTORS), stage.recorder.lengths)
        legal = torch.from_numpy(stage.recorder.observations[ACTION_MASK][now]).bool() if kind == "masked" else None
        expected = model.code.decode(
            model.family.make(raw, legal).draw(torch.from_numpy(chances)[:, : model.family.num_chances])
        )
        np.testing.assert_allclose(actions, expected, rtol=1e-3, atol=1e-3)
        stage.step(playing)


@pytest.mark.parametrize("kind", SPECS)
def test_greedy_takes_the_likeliest_whatever_the_chances(kind):
    spec, config = SPECS[kind], config_of(kind)
    stage, policy = Stage(3, spec), acting(config, 1, spec, greedy=True)
    playing, rng = stage.begin_all(), np.random.default_rng(0)
    rows = [
        policy.choose(stage.recorder, playing, rng.random((NUM_ACTORS, policy.num_chances), np.float32), None)
        for _ in range(3)
    ]
    best = policy.model.code.decode(distribution_of(policy, stage.recorder, playing).likeliest()).numpy()
    for row in rows:
        np.testing.assert_array_equal(row, rows[0])
        np.testing.assert_allclose(row, best, rtol=1e-3, atol=1e-3)
    assert rows[0].dtype == spec.action_space.dtype


@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 10_000), epsilon=st.floats(0, 1), context=st.sampled_from([2, 5]))
def test_what_is_done_is_legal(seed, epsilon, context):
    """Drawn, greedy, explored, or uniform."""
    spec, config = SPECS["masked"], config_of("masked", model__context=context)
    stage = Stage(seed, spec)
    policies = [acting(config, 1, spec), acting(config, 1, spec, greedy=True), UniformPolicy(spec.action_space)]
    playing = stage.begin_all()
    for _ in range(8):
        actors = np.arange(NUM_ACTORS)
        legal = stage.recorder.observations[ACTION_MASK][actors, stage.recorder.lengths]
        for policy in policies:
            chances = stage.rng.random((NUM_ACTORS, policy.num_chances), np.float32)
            chances[stage.rng.random(chances.shape) < 0.1] = 0.0
            chances[stage.rng.random(chances.shape) < 0.1] = np.nextafter(np.float32(1), np.float32(0))
            for share in (None, np.full(NUM_ACTORS, epsilon)):
                actions = policy.choose(stage.recorder, playing, chances, share)
                assert legal[actors, actions].all()
        stage.step(playing)


@memories
@pytest.mark.parametrize("context", [2, 5, 8])
def test_windows_depend_on_the_time_alone(context, memory):
    """A policy that comes late, as after a resume, acts as one that was there from the start."""
    config, stage = config_of(model__context=context, model__memory=memory), Stage(0)
    early, playing = acting(config, 1), stage.begin_all()
    for time in range(30):
        expected = probabilities_of(early, stage.recorder, playing)
        late = probabilities_of(acting(config, 1), stage.recorder, playing)
        np.testing.assert_allclose(late, expected, rtol=1e-3, atol=1e-5, err_msg=f"time {time}")
        stage.step(playing)


def test_probabilities_are_of_the_discount_that_acts():
    config = config_of(loss__discounts=(0.2, 0.5, 0.9))
    stage = Stage(0)
    probabilities = probabilities_of(acting(config, 1), stage.recorder, stage.begin_all())
    assert probabilities.shape == (NUM_ACTORS, 3)
    np.testing.assert_allclose(probabilities.sum(1), 1.0, rtol=1e-5)
    expected = full_pass(trained(config, 1), stage.recorder, 2, config.model.context).softmax(-1)
    np.testing.assert_allclose(probabilities[2], expected, rtol=1e-4)


@pytest.mark.parametrize(("memory", "matters"), [("transformer", True), ("gru", True), ("none", False)])
def test_the_past_matters(memory, matters):
    """Otherwise the tests above would hold for an agent without memory."""
    config = config_of(model__memory=memory)
    results = []
    for seed in (1, 2):
        stage, playing = Stage(seed), np.arange(NUM_ACTORS) == 0
        stage.begin(0)
        stage.step(playing)
        stage.rng = np.random.default_rng(3)
        stage.step(playing)
        stage.recorder["goals"][:] = 0
        results.append(probabilities_of(acting(config, 1), stage.recorder, playing)[0])
    assert np.allclose(*results, rtol=1e-3) != matters


def test_exploration_uses_chances_of_its_own():
    """The policy's own choice does not move with the amount of exploration."""
    stage, policy = Stage(0), acting(config_of(), 1)
    playing, rng = stage.begin_all(), np.random.default_rng(0)
    changed = 0
    for _ in range(200):
        chances = rng.random((NUM_ACTORS, policy.num_chances), np.float32)
        plain, none, half = (
            policy.choose(stage.recorder, playing, chances, epsilon)
            for epsilon in (None, np.zeros(NUM_ACTORS), np.full(NUM_ACTORS, 0.5))
        )
        np.testing.assert_array_equal(plain, none)
        np.testing.assert_array_equal(half[chances[:, 1] >= 0.5], plain[chances[:, 1] >= 0.5])
        changed += (half != plain).sum()
    assert 0.25 < changed / (200 * NUM_ACTORS) < 0.42  # half the time something else, in two cases of three


@pytest.mark.parametrize("kind", ["discrete", "bits", "gaussian"])
def test_the_uniform_policy(kind):
    space = SPECS[kind].action_space
    policy, recorder = UniformPolicy(space), Stage(0, SPECS[kind]).recorder
    rng, playing = np.random.default_rng(0), np.ones(NUM_ACTORS, bool)
    actions = np.concatenate(
        [
            policy.choose(recorder, playing, rng.random((NUM_ACTORS, policy.num_chances), np.float32), None)
            for _ in range(500)
        ]
    )
    assert actions.dtype == space.dtype and all(space.contains(action) for action in actions)
    if kind == "discrete":
        assert chisquare(np.bincount(actions, minlength=3)).pvalue > 0.01
    elif kind == "bits":
        assert chisquare(np.bincount(actions @ [1, 2, 4, 8], minlength=16)).pvalue > 0.01
    else:
        for values, low, high in zip(actions.T, space.low, space.high, strict=True):
            assert kstest(values, "uniform", (low, high - low)).pvalue > 0.01


@pytest.mark.parametrize(("context", "remembered"), [(5, 5), (60, 60), (2000, 60), (None, 60)])
def test_memory_is_never_longer_than_a_rollout(context, remembered):
    assert context_of(tiny_config(model__context=context).model, SPEC) == remembered
