"""A world of two states that take turns, cut off by a time limit: what is learned of the value at the cut."""

import numpy as np
import pytest
import torch
from tiny_agent import CONTEXT, random_batch, tiny_config, tiny_model

from agent.batch import Batch
from agent.forward import loss_terms
from agent.learner import Learner
from agent.losses.two_hot import expectation, symexp

GAMMA, ROWS = 0.8, 8


def two_state_batch() -> Batch:
    """State 1 pays 1, state 0 nothing; every row is a whole rollout that its time limit ends."""
    batch = random_batch(0, lengths=(CONTEXT,) * ROWS)
    states = (torch.arange(ROWS)[:, None] + torch.arange(CONTEXT + 1)) % 2
    for values in (*batch.inputs.observations.values(), batch.inputs.goals, batch.inputs.previous_rewards):
        values.zero_()
    batch.inputs.observations["place"][:, :, 0] = states
    batch.rewards.copy_(states[:, :-1])
    batch.terminated.zero_()
    batch.truncated.zero_()
    batch.truncated[:, -1] = True
    return batch


def learned_values(time_limit: str, critic: str, updates: int) -> tuple[np.ndarray, np.ndarray]:
    """Values (ROWS,) of the last transitions after some training, and their states."""
    config = tiny_config(
        loss__discounts=(GAMMA,), loss__reward_scale=1.0, loss__target_tau=0.1, loss__time_limit=time_limit,
        loss__critic=critic, loss__value_max=10.0, loss__num_bins=24, loss__popart_beta=0.02,
        model__num_layers=1, model__d_head=32, optimizer__learning_rate=1e-2, optimizer__warmup_updates=10,
    )  # fmt: skip
    learner, batch, rng = Learner(tiny_model(config), config), two_state_batch(), np.random.default_rng(0)
    for _ in range(updates):
        learner.update(batch, rng)
    model = learner.model
    with torch.no_grad():
        states = model.representation(batch.inputs).states[:, -2]
        outputs = model.critics.taken_outputs(model.critics.features(states), model.code.encode(batch.actions[:, -1]))
        if critic == "ind":
            values = symexp(expectation(outputs, model.bin_centers))
        else:
            values = model.popart.denormalise(outputs.squeeze(-1))
        assert loss_terms(model, batch, config.loss, torch.tensor([0, 1])).critic.isfinite()
    return values.mean(0).flatten().numpy(), batch.rewards[:, -1].numpy()


@pytest.mark.parametrize(("critic", "updates"), [("dep", 100), pytest.param("ind", 400, marks=pytest.mark.slow)])
def test_a_time_limit_bootstraps(critic, updates):
    values, rewards = learned_values("bootstrap", critic, updates)
    analytic = np.where(rewards == 1, 1 / (1 - GAMMA**2), GAMMA / (1 - GAMMA**2))  # 2.78 and 2.22
    np.testing.assert_allclose(values, analytic, atol=0.4)


def test_a_finite_horizon_does_not():
    values, rewards = learned_values("terminal", "dep", 100)
    np.testing.assert_allclose(values, rewards, atol=0.4)
