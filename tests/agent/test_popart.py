"""PopArt: statistics against a naive computation, outputs preserved exactly when they move."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.nets.heads import ActionCritic, ChoiceCritic, CriticHead
from agent.nets.popart import MIN_SIGMA, PopArt

G = 2


def critic_head(seed: int, kind: type[ChoiceCritic | ActionCritic] = ChoiceCritic) -> CriticHead:
    torch.manual_seed(seed)
    head = kind(3, 4, 5, G, 3, 1)
    torch.nn.init.normal_(head.out.bias)
    return head


def values_of(popart: PopArt, head: CriticHead, x: torch.Tensor) -> torch.Tensor:
    """Denormalised (C, N, G, M), of all actions or of some."""
    torch.manual_seed(0)
    actions = None if isinstance(head, ChoiceCritic) else torch.rand(len(x), G, 6, 3)
    outputs = head.policy_outputs(head.features(x), actions).squeeze(-1)
    return popart.denormalise(outputs.transpose(-1, -2)).transpose(-1, -2)


def everything(batch: torch.Tensor) -> torch.Tensor:
    return torch.ones(batch.shape[:2], dtype=torch.bool)


@settings(deadline=None, max_examples=20)
@given(
    st.integers(0, 1000),
    st.floats(0.1, 100),
    st.floats(-50, 50),
    st.sampled_from([5e-4, 0.1]),
    st.sampled_from([ChoiceCritic, ActionCritic]),
)
def test_outputs_of_online_and_target_critics_stay_when_statistics_move(seed, scale, offset, beta, kind):
    online, target, popart = critic_head(seed, kind), critic_head(seed + 1, kind), PopArt(G, beta)
    x = torch.randn(7, 4)
    for k in range(3):
        before = [values_of(popart, head, x) for head in (online, target)]
        torch.manual_seed(seed + k)
        targets = offset + scale * torch.randn(2, 5, G)
        popart.update(targets, everything(targets), online, target)
        for old, head in zip(before, (online, target), strict=True):
            tolerance = 1e-5 * (scale + abs(offset) + 1)
            torch.testing.assert_close(values_of(popart, head, x), old, rtol=1e-4, atol=tolerance)


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 1000), st.integers(1, 30), st.sampled_from([5e-4, 0.05]))
def test_bias_correction_against_a_naive_average(seed, count, beta):
    """After n batches each weighs (1 - beta)^(n - k), and the weights are made to sum to one."""
    rng = np.random.default_rng(seed)
    popart = PopArt(G, beta)
    batches = [rng.normal(3.0, 2.0, size=(2, 4, G)) for _ in range(count)]
    masks = [rng.random((2, 4)) < 0.7 for _ in range(count)]
    for batch, mask in zip(batches, masks, strict=True):
        popart.update(torch.from_numpy(batch).float(), torch.from_numpy(mask))
    seen = [batch.astype(np.float32)[mask].astype(float) for batch, mask in zip(batches, masks, strict=True)]
    seen = [batch for batch in seen if len(batch)]
    if not seen:
        assert popart.mu.tolist() == [0.0, 0.0] and popart.sigma.tolist() == [1.0, 1.0]
        return
    weights = np.array([(1 - beta) ** (len(seen) - 1 - k) for k in range(len(seen))])
    weights /= weights.sum()
    mean = sum(w * batch.mean(0) for w, batch in zip(weights, seen, strict=True))
    square = sum(w * (batch**2).mean(0) for w, batch in zip(weights, seen, strict=True))
    np.testing.assert_allclose(popart.mu, mean, rtol=1e-6)
    np.testing.assert_allclose(popart.sigma, np.sqrt(np.maximum(square - mean**2, MIN_SIGMA**2)), rtol=1e-5)


def test_normalised_targets_have_mean_zero_and_scale_one():
    popart = PopArt(1, 0.3)
    targets = torch.tensor([[[2.0], [4.0]]])
    popart.update(targets, everything(targets))
    torch.testing.assert_close(popart.normalise(targets), torch.tensor([[[-1.0], [1.0]]]))
    torch.testing.assert_close(popart.denormalise(popart.normalise(targets)), targets)


def test_constant_targets_do_not_blow_up_noise():
    popart = PopArt(1, 0.1)
    for _ in range(50):
        popart.update(torch.zeros(1, 4, 1), torch.ones(1, 4, dtype=torch.bool))
    assert popart.sigma.item() == pytest.approx(MIN_SIGMA)


def test_padding_and_diverged_targets_leave_everything_alone():
    head, popart = critic_head(0), PopArt(G, 0.1)
    targets = torch.randn(2, 3, G)
    popart.update(targets, everything(targets), head)
    before = {**popart.state_dict(), **head.state_dict()}
    before = {name: tensor.clone() for name, tensor in before.items()}
    popart.update(targets, ~everything(targets), head)
    popart.update(torch.full((2, 3, G), torch.nan), everything(targets), head)
    for name, tensor in {**popart.state_dict(), **head.state_dict()}.items():
        assert torch.equal(tensor, before[name]), name
