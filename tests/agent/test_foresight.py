"""Where each action leads: by hand, learned, and told to the heads."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tiny_agent import (
    BITS,
    GOAL_KINDS,
    INTERFACE,
    NUM_ACTIONS,
    NUM_GOALS,
    ON_A_MAP,
    random_batch,
    tiny_config,
    tiny_model,
)

from agent.batch import POSITION
from agent.forward import loss_terms
from agent.learner import Learner
from agent.losses.foresight import forecast_error, move_error, reach_target
from agent.nets.foresight import DISCOUNT, MAX_LOST, MAX_STEPS, Foreseen, Foresight
from agent.nets.heads import LEAN, ActorHead

FORESEEN = {"model__foresight": True}


def by_hand(places: np.ndarray | None = None) -> Foresight:
    """Two actions, goals 0 and 1 of a kind each, 2 and 3 of a third."""
    return Foresight(1, 1, 2, np.array([0, 1, 2, 2]), places)


STEPS = torch.tensor([[1.0, 20.0, 5.0], [3.0, 200.0, 5.0]])  # to each kind (second) after each action (first)


def foreseen(*shape: int, moves: torch.Tensor | None = None) -> Foreseen:
    """`STEPS` in all states (*shape)."""
    reach = torch.logit(DISCOUNT ** STEPS.double(), eps=1e-12).float()
    return Foreseen(reach.expand(*shape, 2, 3), None if moves is None else moves.expand(*shape, 2, 2))


def test_a_promise_is_what_each_action_loses_on_the_way_to_the_active_goal():
    promise = by_hand().promise(foreseen(2), torch.tensor([[0, 1], [1, 0]]), None)
    expected = torch.tensor([[0.0, -2.0, 1 / MAX_STEPS], [0.0, -MAX_LOST, 20 / MAX_STEPS]])
    torch.testing.assert_close(promise, expected, atol=1e-3, rtol=1e-3)


@pytest.mark.parametrize("goal", [2, 3, 4])
def test_nothing_is_promised_of_goals_that_are_not_told_apart_or_are_none(goal):
    assert not by_hand().promise(foreseen(2), torch.full((2, 3), goal), None).any()


def test_where_there_are_no_goals_the_first_kind_is_meant_at_all_times():
    promise = by_hand().promise(foreseen(5, 2), torch.zeros(5, 2, 0, dtype=torch.int16), None)
    expected = by_hand().promise(foreseen(5, 2), torch.zeros(5, 2, 1, dtype=torch.int16), None)
    torch.testing.assert_close(promise, expected)


def test_on_the_way_to_a_place_an_action_loses_what_it_does_not_come_nearer():
    foresight = by_hand(np.array([(np.nan, np.nan), (np.nan, np.nan), (0, 0), (7, 2)]))
    seen = foreseen(1, moves=torch.tensor([[1.0, 0.0], [0.0, -1.0]]))  # action 0 goes along x, action 1 against y
    here = torch.tensor([[4, 4]], dtype=torch.uint8)
    expected = torch.tensor([[0.0, 0.0, 5 / MAX_STEPS]])  # to (7, 2), 3 + 2 metres away
    torch.testing.assert_close(foresight.promise(seen, torch.tensor([[3, 0]]), here), expected)
    expected = torch.tensor([[-2.0, 0.0, 8 / MAX_STEPS]])  # to (0, 0), 8 metres away
    torch.testing.assert_close(foresight.promise(seen, torch.tensor([[2, 0]]), here), expected)
    promise = foresight.promise(seen, torch.tensor([[0, 2]]), here)  # no place: as without a map
    torch.testing.assert_close(promise, torch.tensor([[0.0, -2.0, 1 / MAX_STEPS]]), atol=1e-3, rtol=1e-3)


def test_the_way_to_a_place_that_is_told_apart_is_learned_for_there_may_be_walls():
    foresight = by_hand(np.array([(0, 0), (9, 9), (0, 0), (7, 2)]))
    seen, goals = foreseen(1, moves=torch.ones(2, 2)), torch.tensor([[0, 1]])
    promise = foresight.promise(seen, goals, torch.tensor([[4, 4]]))
    torch.testing.assert_close(promise, foresight.promise(seen, goals, None))


def test_targets_by_hand():
    reached = torch.tensor([[[0], [0], [1], [0]]], dtype=torch.bool)
    values = torch.tensor([[[0.8], [0.9], [0.3], [0.5]]])  # of the steps after
    none, all_steps = torch.zeros(1, 4, dtype=torch.bool), torch.ones(1, 4, dtype=torch.bool)
    # the first step's value is more than the goal two steps later, the second's is less; the last has nothing else
    expected = torch.tensor([[[0.4], [0.5], [1.0], [0.25]]])
    torch.testing.assert_close(reach_target(reached, values, none, all_steps, 0.5), expected)


def test_the_dead_reach_nothing_and_what_is_not_there_counts_for_nothing():
    reached = torch.tensor([[[0], [0], [1]]], dtype=torch.bool)
    values = torch.full((1, 3, 1), 0.5)
    dead = torch.tensor([[False, True, False]])
    valid = torch.tensor([[True, True, False]])
    target = reach_target(reached, values, dead, valid, 0.5)
    torch.testing.assert_close(target[0, :2, 0], torch.tensor([0.25, 0.0]))


@given(st.integers(0, 2**31), st.integers(1, 40), st.floats(0.3, 0.99))
def test_targets_agree_with_the_recursion(seed, length, discount):
    rng = torch.Generator().manual_seed(seed)
    reached = torch.rand(2, length, 3, generator=rng) < 0.1
    values = torch.rand(2, length, 3, generator=rng)
    none, valid = torch.zeros(2, length, dtype=torch.bool), torch.ones(2, length, dtype=torch.bool)
    later = torch.zeros(2, 3)
    expected = []
    for t in reversed(range(length)):
        later = torch.where(reached[:, t], 1.0, discount * torch.maximum(values[:, t], later))
        expected.insert(0, later)
    target = reach_target(reached, values, none, valid, discount)
    torch.testing.assert_close(target, torch.stack(expected, 1), rtol=1e-4, atol=1e-6)


def test_errors_by_hand():
    logits, targets = torch.tensor([[[0.0, 2.0]]]), torch.tensor([[[1.0, 0.0]]])
    expected = np.log(2) + np.log1p(np.exp(2))
    torch.testing.assert_close(forecast_error(logits, targets), torch.tensor([[expected]], dtype=torch.float32))
    positions = torch.tensor([[[1, 1], [2, 1], [9, 9]]], dtype=torch.uint8)
    moves = torch.tensor([[[0.5, 1.0], [0.0, 0.0]]])
    is_first = torch.tensor([[True, False, True]])  # an attempt begins at (9, 9)
    torch.testing.assert_close(move_error(moves, positions, is_first), torch.tensor([[1.25, 0.0]]))


def test_the_actor_leans_on_what_is_foreseen():
    torch.manual_seed(0)
    head = ActorHead(7, 4, 2, 3, foreseen=slice(3, 6))
    x = torch.zeros(1, 7)
    x[0, 3:6] = torch.tensor([0.0, -1.0, -4.0])
    assert head.lean is not None
    with torch.no_grad():
        head.out.weight.zero_()
        head.lean[1] = 0.5
        torch.testing.assert_close(head(x), torch.tensor([[[0.0, -LEAN, -4 * LEAN], [0.0, -0.5, -2.0]]]))
        torch.testing.assert_close(head.last_discount(x), torch.tensor([[0.0, -0.5, -2.0]]))


def test_the_heads_are_told_and_the_forecast_gets_no_gradient_from_them():
    model, batch = tiny_model(tiny_config(**FORESEEN)), random_batch(0)
    states = model.representation(batch.inputs).states
    assert states.shape[-1] == 8 + NUM_ACTIONS + 1
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
    assert not any("foresight" in name or "lean" in name for name in model.state_dict())
    metrics = Learner(model, tiny_config(**changes)).update(
        random_batch(0, interface=interface), np.random.default_rng(0)
    )
    assert "foresight_loss" not in metrics


def test_when_an_instruction_is_done_the_world_goes_on_but_not_after_death():
    """The same last step, once with the reward of the last goal: only then does something follow."""
    config = tiny_config(**FORESEEN)
    model, batch = tiny_model(config), random_batch(0)
    reached = torch.zeros_like(batch.reached)
    ended = replace(batch, reached=reached, terminated=batch.valid)
    losses = [
        loss_terms(model, replace(ended, rewards=torch.full_like(batch.rewards, reward)), config.loss, torch.arange(2))
        for reward in (0.0, 1.0)
    ]
    assert losses[0].foresight is not None and losses[1].foresight is not None
    seen = model.representation(batch.inputs).foreseen
    assert seen is not None
    logits = seen.reach[:, :-1]
    taken = logits.gather(2, batch.actions.long()[..., None, None].expand(*batch.actions.shape, 1, logits.shape[-1]))
    nothing_follows = forecast_error(taken.squeeze(2), torch.zeros_like(reached, dtype=torch.float32))[batch.valid]
    torch.testing.assert_close(losses[0].foresight, nothing_follows.mean())
    assert losses[1].foresight > losses[0].foresight


def test_it_learns_what_follows_from_an_action_whatever_was_asked_for():
    """Action 1 reaches the goals of kind 2 and nothing else reaches anything; actions go along x by their number."""
    config = tiny_config(optimizer__learning_rate=3e-3, optimizer__warmup_updates=0, loss__target_tau=0.1, **FORESEEN)
    model = tiny_model(config, interface=ON_A_MAP)
    learner, rng = Learner(model, config), np.random.default_rng(0)
    losses = []
    for seed in range(200):
        batch = random_batch(seed, interface=ON_A_MAP)
        reached = torch.zeros_like(batch.reached)
        reached[..., 2] = batch.actions == 1
        position = batch.inputs.observations[POSITION]
        position[:, 1:] = position[:, :1]
        position[:, 1:, 0] += batch.actions.cumsum(1)
        losses.append(learner.update(replace(batch, reached=reached), rng)["foresight_loss"])
    assert np.mean(losses[-20:]) < 0.5 * np.mean(losses[:5])

    def lost(goal: int, position: int) -> torch.Tensor:
        """(A,) steps, on average."""
        inputs = random_batch(999, interface=ON_A_MAP).inputs
        inputs.observations[POSITION][:] = position
        inputs.goals[:] = goal
        return -model.representation(inputs).states[..., -NUM_ACTIONS - 1 : -1].mean((0, 1))

    chosen = lost(int(np.flatnonzero(GOAL_KINDS == 2)[0]), 20)
    assert chosen[1] < 0.1 and chosen[[0, 2]].min() > 0.6  # a step, as the next one can do it
    torch.testing.assert_close(lost(6, 1), torch.tensor([2.0, 1.0, 0.0]), atol=0.4, rtol=0)  # to (9, 1)
    assert not lost(NUM_GOALS, 20).any()
