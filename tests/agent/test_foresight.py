"""What each action would reach at once: by hand, learned, and told to the heads."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from tiny_agent import BITS, GOAL_KINDS, INTERFACE, NUM_ACTIONS, NUM_GOALS, random_batch, tiny_config, tiny_model

from agent.learner import Learner
from agent.losses.foresight import forecast_error
from agent.nets.foresight import GAIN, Foresight

FORESEEN = {"model__foresight": True}


def by_hand() -> Foresight:
    """Two actions, goals 0 and 1 of a kind each, 2 and 3 of a third; the one feature makes the logits, times these."""
    foresight = Foresight(1, 2, np.array([0, 1, 2, 2]))
    foresight.out.bias.data.zero_()
    foresight.out.weight.data = torch.tensor([1.0, 2.0, 3.0, -1.0, -2.0, -3.0]).view(6, 1)  # (actions, kinds)
    return foresight


def test_a_promise_is_the_chance_of_the_active_goal():
    states = torch.tensor([[0.0], [1.0], [2.0]])
    goals = torch.tensor([[0, 1], [1, 0], [0, 4]])  # 4 is no goal
    chances = torch.sigmoid(torch.tensor([[0.0, 0.0], [2.0, -2.0], [2.0, -2.0]]))
    torch.testing.assert_close(by_hand().promise(states, goals), GAIN * chances)


@pytest.mark.parametrize("goal", [2, 3, 4])
def test_nothing_is_promised_of_goals_that_are_not_told_apart_or_are_none(goal):
    assert by_hand().promise(torch.ones(2, 1), torch.full((2, 3), goal)).tolist() == [[0, 0], [0, 0]]


def test_the_error_by_hand():
    logits, reached = torch.tensor([[[0.0, 2.0]]]), torch.tensor([[[True, False]]])
    expected = np.log(2) + np.log1p(np.exp(2))
    torch.testing.assert_close(forecast_error(logits, reached), torch.tensor([[[expected]]], dtype=torch.float32))


def test_before_anything_is_seen_little_is_expected():
    representation = tiny_model(tiny_config(**FORESEEN)).representation
    batch = random_batch(0)
    promised = representation(batch.inputs)[..., -NUM_ACTIONS:]
    assert promised.shape[-1] == NUM_ACTIONS and promised.min() >= 0 and promised.max() < 0.5 * GAIN


def test_the_heads_are_told_and_the_forecast_gets_no_gradient_from_them():
    model, batch = tiny_model(tiny_config(**FORESEEN)), random_batch(0)
    states = model.representation(batch.inputs)
    assert states.shape[-1] == 8 + NUM_ACTIONS
    model.actor(states).square().sum().backward()
    assert model.representation.foresight is not None
    assert all(parameter.grad is None for parameter in model.representation.foresight.parameters())
    assert model.representation.encoder.mix[0].weight.grad is not None


@pytest.mark.parametrize(
    ("interface", "changes"),
    [(INTERFACE, {}), (BITS, FORESEEN), (replace(INTERFACE, goal_kinds=None), FORESEEN)],
    ids=["not wanted", "actions that cannot be counted", "no goals"],
)
def test_there_is_none_where_there_is_nothing_to_foresee(interface, changes):
    model = tiny_model(tiny_config(**changes), interface=interface)
    assert model.representation.foresight is None and model.representation.width == 8
    assert not any("foresight" in name for name in model.state_dict())
    metrics = Learner(model, tiny_config(**changes)).update(
        random_batch(0, interface=interface), np.random.default_rng(0)
    )
    assert "foresight_loss" not in metrics


def test_it_learns_what_follows_from_an_action_whatever_was_asked_for():
    """Action 1 reaches the goals of kind 2, nothing else reaches anything."""
    config = tiny_config(optimizer__learning_rate=3e-3, optimizer__warmup_updates=0, **FORESEEN)
    model = tiny_model(config)
    learner, rng = Learner(model, config), np.random.default_rng(0)
    losses = []
    for seed in range(150):
        batch = random_batch(seed)
        reached = torch.zeros_like(batch.reached)
        reached[..., 2] = batch.actions == 1
        losses.append(learner.update(replace(batch, reached=reached), rng)["foresight_loss"])
    assert np.mean(losses[-20:]) < 0.2 * np.mean(losses[:5])
    inputs = random_batch(999).inputs
    goals = torch.full_like(inputs.goals, int(np.flatnonzero(GOAL_KINDS == 2)[0]))
    promised = model.representation(replace(inputs, goals=goals))[..., -NUM_ACTIONS:] / GAIN
    assert promised[..., 1].mean() > 0.8 and promised[..., [0, 2]].mean() < 0.1
    nothing = model.representation(replace(inputs, goals=torch.full_like(goals, NUM_GOALS)))[..., -NUM_ACTIONS:]
    assert not nothing.any()
