"""What a policy notes while it acts, against critics evaluated by hand: every kind of action, memory and critic."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from gymnasium import spaces
from tiny_agent import KINDS, tiny_config
from walk_env import WalkEnv

from agent.batch import as_inputs
from agent.config import Config
from agent.envs.base import EnvSpec, Task
from agent.envs.vector import VectorEnv
from agent.forward import build_model
from agent.interface import interface_of
from agent.nets.distributions import Categorical
from agent.nets.model import ActingModel, AgentModel, acting_tensors
from agent.notes import Notebook
from agent.policy import Policy
from agent.rollout import Assignment, Collector
from agent.values import value_bins
from store.trajectory import Trajectory, validate

N, NOTED = 3, 2
SPEC = EnvSpec.from_env(WalkEnv(max_steps=12))
KIND_SPECS = {
    "discrete": SPEC,
    "bits": replace(SPEC, action_space=spaces.MultiBinary(4)),
    "gaussian": replace(SPEC, action_space=spaces.Box(np.float32([-1, 0]), np.float32([3, 10]))),
}
KIND_SPECS |= {"mixture": KIND_SPECS["gaussian"], "beta": KIND_SPECS["gaussian"]}


def learned(config: Config, spec: EnvSpec = SPEC) -> AgentModel:
    """A model whose policy, values and PopArt statistics are not those of a beginner."""
    torch.manual_seed(0)
    model = build_model(interface_of(spec), config)
    model.actor.out.weight.data.normal_()
    model.critics.out.weight.data.add_(0.3 * torch.randn_like(model.critics.out.weight))
    if config.loss.critic == "dep":
        targets = torch.tensor([[[2.0, 30.0], [4.0, 70.0]]])
        model.popart.update(targets, torch.ones(1, 2, dtype=torch.bool))
    return model


def acting(config: Config, spec: EnvSpec = SPEC, num_noted: int = NOTED) -> Policy:
    model = ActingModel(interface_of(spec), config, value_bins(config.loss))
    model.load_state_dict(acting_tensors(learned(config, spec)))
    notebook = Notebook(model, config.loss, num_noted) if num_noted else None
    return Policy(model, N, config.model.context, notebook=notebook)


@torch.no_grad()
def noted(
    model: ActingModel, config: Config, states: torch.Tensor, legal: torch.Tensor | None = None
) -> dict[str, np.ndarray]:
    """What is noted of the first actor at the first step."""
    notebook, num_actors = Notebook(model, config.loss, 1), len(states)
    distribution = model.family.make(model.actor.last_discount(states), legal)
    notebook.write(np.zeros(num_actors, int), np.ones(num_actors, bool), states, legal, distribution)
    return notebook.page(0, 1)


def played(policy: Policy, steps: int = 60) -> list[Trajectory]:
    def task(actor: int) -> Assignment:
        return Assignment(Task(seed=actor, instruction=(3, 5)), (actor,))

    with VectorEnv(WalkEnv, N, 0) as envs:
        collector = Collector(envs, policy, task)
        return [trajectory for _ in range(steps) for trajectory in collector.advance()]


@torch.no_grad()
def by_hand(model: AgentModel, trajectory: Trajectory, config: Config) -> tuple[np.ndarray, np.ndarray]:
    """Acting probabilities (T, A) and values (T, G) from one full pass, sums spelt out."""
    steps = np.arange(trajectory.length + 1)
    goals = np.full((len(steps), SPEC.max_instruction), 191, np.int16)
    for t, done in enumerate(trajectory.progress):
        goals[t, : 2 - done] = trajectory.instruction[done:]
    previous = np.concatenate([[0], trajectory.actions])
    rewards = np.concatenate([[0.0], trajectory.rewards]).astype(np.float32)
    observations = {key: array[None] for key, array in trajectory.observations.items()}
    inputs = as_inputs(observations, goals[None], previous[None], rewards[None], trajectory.is_first[None], steps[None])
    states = model.representation(inputs).states[0, :-1]  # (T, d_model)
    policies = model.actor(states).softmax(-1)  # (T, G, A)
    critics, num_bins = model.critics, model.critics.shape[-1]
    outputs = critics.policy_outputs(critics.features(states), None).reshape(3, trajectory.length, 2, 3, num_bins)
    if config.loss.critic == "dep":
        per_action = outputs[..., 0] * model.popart.sigma.float()[:, None] + model.popart.mu.float()[:, None]
    else:
        centre = (outputs.softmax(-1) * model.bin_centers).sum(-1)
        per_action = centre.sign() * (centre.abs().exp() - 1)  # bins are spaced in symlog
    values = (per_action * policies).sum(-1).mean(0) / 10.0  # the configuration scales rewards by 10
    return policies[:, -1].numpy(), values.numpy()


@pytest.mark.parametrize("critic", ["dep", "ind"])
@pytest.mark.parametrize("memory", ["transformer", "gru", "none"])
def test_noted_is_what_a_full_pass_gives(memory, critic):
    config = tiny_config(loss__critic=critic, model__memory=memory, model__context=20)
    model, finished = learned(config), played(acting(config))
    assert {t.info.actor for t in finished} == set(range(N))
    for trajectory in finished:
        validate(trajectory)
        if trajectory.info.actor >= NOTED:
            assert trajectory.diagnostics == {}
            continue
        probabilities, values = by_hand(model, trajectory, config)
        assert trajectory.diagnostics.keys() == {"probabilities", "values"}
        np.testing.assert_allclose(trajectory.diagnostics["probabilities"], probabilities, atol=1e-3)
        np.testing.assert_allclose(trajectory.diagnostics["values"], values, rtol=2e-3, atol=2e-3)


def test_values_are_in_the_unit_of_the_rewards():
    """PopArt says what scaled returns are: outputs of zero mean its means, 3 and 50, over a reward scale of 10."""
    config = tiny_config(loss__critic="dep")
    model = learned(config)
    model.critics.out.weight.data.zero_()
    model.critics.out.bias.data.zero_()
    values = Notebook(model, config.loss, 1).values(torch.randn(4, config.model.d_model), None)
    np.testing.assert_allclose(values, [[0.3, 5.0]] * 4, rtol=1e-5)


def test_the_critics_are_averaged():
    config = tiny_config(loss__critic="dep")
    model = build_model(interface_of(SPEC), config)
    model.critics.out.weight.data.zero_()
    model.critics.out.bias.data.copy_(torch.tensor([10.0, 20.0, 60.0])[:, None, None].expand(3, 1, 6))
    values = Notebook(model, config.loss, 1).values(torch.randn(1, config.model.d_model), None)
    np.testing.assert_allclose(values, [[3.0, 3.0]], rtol=1e-5)


@pytest.mark.parametrize("critic", ["dep", "ind"])
@pytest.mark.parametrize("kind", ["bits", "gaussian", "mixture", "beta"])
def test_actions_that_cannot_be_counted(kind, critic):
    """Values follow from the state, not from any generator; there are no probabilities."""
    spec, config = KIND_SPECS[kind], tiny_config(**KINDS[kind][1], loss__critic=critic)
    model = learned(config, spec)
    states = torch.randn(N, config.model.d_model)
    torch.manual_seed(5)
    before = torch.get_rng_state()
    pages = [noted(model, config, states) for _ in range(2)]
    assert torch.equal(before, torch.get_rng_state())
    for (name, values), (_, again) in zip(pages[0].items(), pages[1].items(), strict=True):
        assert name == "values" and values.shape == (1, 2) and values.dtype == np.float16
        assert np.isfinite(values).all() and len(np.unique(values)) > 1
        np.testing.assert_array_equal(values, again)


def test_drawn_expectations_are_near_those_of_many_draws():
    spec, config = KIND_SPECS["gaussian"], tiny_config(loss__critic="dep")
    model, states = learned(config, spec), torch.randn(5, config.model.d_model)
    with torch.no_grad():
        choices = model.policy(model.actor, states, None).choices(20_000)
        assert choices.actions is not None
        outputs = model.critics.policy_outputs(model.critics.features(states), choices.actions).squeeze(-1)
        scaled = outputs.mean(-1).mean(0) * model.popart.sigma.float() + model.popart.mu.float()  # (5, G)
    spread = (outputs.std(-1).mean(0) * model.popart.sigma.float() / 10).numpy()
    few = Notebook(model, config.loss, 5).values(states, None).numpy()
    assert (abs(few - scaled.numpy() / 10) < 0.5 * spread + 1e-3).all()  # eight places say more than two draws would


def test_noting_changes_nothing_that_is_played():
    config = tiny_config(loss__critic="ind")
    for some, others in zip(played(acting(config)), played(acting(config, num_noted=0)), strict=True):
        assert some.info == others.info
        np.testing.assert_array_equal(some.actions, others.actions)
        assert others.diagnostics == {}


def test_illegal_actions_have_no_probability_and_no_value():
    config = tiny_config(loss__critic="dep")
    model, states = learned(config), torch.randn(1, config.model.d_model)
    legal = torch.tensor([[False, True, False]])
    notes = noted(model, config, states, legal)
    np.testing.assert_array_equal(notes["probabilities"], [[0, 1, 0]])
    with torch.no_grad():
        outputs = model.critics.policy_outputs(model.critics.features(states), None)[..., 0].mean(0)[0]  # (G, A)
        only = (outputs[:, 1] * model.popart.sigma + model.popart.mu) / 10
    np.testing.assert_allclose(notes["values"][0], only, rtol=2e-3)


def test_numbers_too_large_for_the_file_are_clipped():
    config = tiny_config(loss__critic="dep")
    model = build_model(interface_of(SPEC), config)
    model.critics.out.weight.data.zero_()
    model.critics.out.bias.data.fill_(1e9)
    assert noted(model, config, torch.zeros(1, config.model.d_model))["values"].tolist() == [[65504.0] * 2]


class TestNotebook:
    """Two pages, a third actor without one; the states tell time and actor apart."""

    @pytest.fixture
    def model(self):
        return learned(tiny_config(loss__critic="dep"))

    @pytest.fixture
    def notebook(self, model):
        return Notebook(model, tiny_config(loss__critic="dep").loss, NOTED)

    def write(self, notebook: Notebook, model: AgentModel, time: int, playing: tuple[int, ...] = (0, 1, 2)) -> None:
        distribution = Categorical(torch.zeros(N, 3))
        here = np.isin(np.arange(N), playing)
        notebook.write(np.full(N, time), here, self.states(time), None, distribution)

    def states(self, time: int) -> torch.Tensor:
        return torch.randn(N, 8, generator=torch.Generator().manual_seed(time))

    def expected(self, notebook: Notebook, actor: int, times: range) -> np.ndarray:
        return np.stack([notebook.values(self.states(time)[actor][None], None)[0].numpy() for time in times])

    def test_rows_are_in_order_beyond_a_block(self, notebook, model):
        for time in range(300):
            self.write(notebook, model, time)
        for actor in range(NOTED):
            page = notebook.page(actor, 300)
            np.testing.assert_allclose(page["values"], self.expected(notebook, actor, range(300)), rtol=2e-3, atol=2e-3)
            assert page["probabilities"].shape == (300, 3)
        assert notebook.page(2, 300) == {}

    def test_a_new_rollout_begins_a_new_page(self, notebook, model):
        for time in (0, 1, 2, 0, 1):
            self.write(notebook, model, time)
        page = notebook.page(1, 2)
        np.testing.assert_allclose(page["values"], self.expected(notebook, 1, range(2)), rtol=2e-3, atol=2e-3)

    def test_a_step_that_was_chosen_but_lost_is_left_out(self, notebook, model):
        for time in range(4):
            self.write(notebook, model, time)
        assert notebook.page(0, 3)["values"].shape == (3, 2)

    def test_a_rollout_whose_beginning_was_not_seen_has_nothing(self, notebook, model):
        for time in range(5, 9):
            self.write(notebook, model, time)
        assert notebook.page(0, 9) == {}

    def test_who_rests_is_not_noted(self, notebook, model):
        self.write(notebook, model, 0)
        self.write(notebook, model, 1, playing=(1, 2))
        assert len(notebook.page(0, 1)["values"]) == 1 and notebook.page(0, 2) == {}
        assert len(notebook.page(1, 2)["values"]) == 2


def test_values_are_of_the_weights_that_acted():
    """New weights arrive in the middle of a rollout: each part is valued by the critics of its time."""
    config = tiny_config(loss__critic="dep")
    policy, later = acting(config), learned(config)
    later.critics.out.weight.data.zero_()
    later.critics.out.bias.data.fill_(1.0)  # one deviation above PopArt's means: (3 + 1) and (50 + 20), over 10
    old_steps = 2

    def task(actor: int) -> Assignment:
        return Assignment(Task(seed=1002), (actor,))

    with VectorEnv(WalkEnv, N, 0) as envs:
        collector = Collector(envs, policy, task)
        assert not [trajectory for _ in range(old_steps) for trajectory in collector.advance()]
        policy.load(acting_tensors(later), update=1)
        finished = [trajectory for _ in range(15) for trajectory in collector.advance()]
    first = next(trajectory for trajectory in finished if trajectory.info.actor == 0)
    values = first.diagnostics["values"]
    assert first.length > old_steps and (values[:old_steps] < [0.35, 6.0]).all()
    np.testing.assert_allclose(values[old_steps:], [[0.4, 7.0]] * (first.length - old_steps), rtol=1e-3)
