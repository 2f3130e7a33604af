"""The memory: causality, cached steps against full passes, sigma-reparametrised layers."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from agent.nets.linear import SigmaLinear, fold, iterate_power
from agent.nets.transformer import Transformer, sinusoid

D = 8


def transformer(seed: int = 0) -> Transformer:
    """Two layers whose norms, scales and gains are not at their neutral start."""
    torch.manual_seed(seed)
    memory = Transformer(D, num_layers=2, num_heads=2, d_ff=16)
    for name, parameter in memory.named_parameters():
        if parameter.ndim < 2:
            nn.init.normal_(parameter, mean=0.0 if name.endswith("bias") else 1.0, std=0.3)
    return memory.requires_grad_(False)


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 100), st.integers(2, 9), st.data())
def test_no_position_sees_the_future(seed, length, data):
    changed = data.draw(st.integers(1, length - 1))
    memory, tokens, time = transformer(seed), torch.randn(2, length, D), torch.arange(length).expand(2, -1)
    other = tokens.clone()
    other[:, changed:] = torch.randn(2, length - changed, D)
    before, after = memory(tokens, time), memory(other, time)
    assert torch.equal(before[:, :changed], after[:, :changed])
    assert not torch.isclose(before[:, changed:], after[:, changed:]).all(-1).any()


def test_gradient_reaches_the_past_only():
    tokens = torch.randn(1, 6, D, requires_grad=True)
    transformer()(tokens, torch.arange(6)[None])[0, 3].sum().backward()
    assert tokens.grad is not None
    touched = tokens.grad[0].abs().sum(-1) > 0
    assert touched.tolist() == [True] * 4 + [False] * 2


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 100), st.integers(1, 5), st.integers(1, 7), st.data())
def test_cached_steps_equal_a_full_pass(seed, num_actors, length, data):
    """Each actor begins with a window of its own length, put there by `prefill`, and steps on to `length`."""
    held = torch.tensor(data.draw(st.lists(st.integers(0, length), min_size=num_actors, max_size=num_actors)))
    total = length + 3
    memory, tokens = transformer(seed), torch.randn(num_actors, total, D)
    time = torch.arange(total) + torch.randint(100, (num_actors, 1))
    full = memory(tokens, time)
    cache = memory.new_cache(num_actors, total)
    memory.prefill(tokens[:, :length], time[:, :length], held, cache, torch.arange(num_actors))
    rows = torch.arange(num_actors)
    for _ in range(3):
        at = cache.lengths.clone()
        stepped = memory.step(tokens[rows, at], time[rows, at], cache)
        torch.testing.assert_close(stepped, full[rows, at], rtol=1e-4, atol=1e-5)
    assert torch.equal(cache.lengths, held + 3)


def test_prefill_touches_only_the_actors_named():
    memory = transformer()
    cache = memory.new_cache(3, 4)
    cache.keys.normal_()
    before = cache.keys.clone()
    memory.prefill(torch.randn(1, 2, D), torch.arange(2)[None], torch.tensor([2]), cache, torch.tensor([1]))
    assert torch.equal(cache.keys[:, [0, 2]], before[:, [0, 2]])
    assert cache.lengths.tolist() == [0, 2, 0]


def test_the_code_of_time_is_sinusoidal():
    code = sinusoid(torch.tensor([[0, 3]]), 4)
    torch.testing.assert_close(code[0, 0], torch.tensor([0.0, 0.0, 1.0, 1.0]))
    angles = torch.tensor([3.0, 3.0 / 100])
    torch.testing.assert_close(code[0, 1], torch.cat([angles.sin(), angles.cos()]))


def test_time_matters():
    memory, tokens = transformer(), torch.randn(1, 4, D)
    assert not torch.allclose(memory(tokens, torch.arange(4)[None]), memory(tokens, torch.arange(50, 54)[None]))


def spectral_norm(layer: SigmaLinear) -> float:
    return float(torch.linalg.matrix_norm(layer.effective_weight().detach(), ord=2))


class TestSigmaLinear:
    @settings(deadline=None, max_examples=15)
    @given(st.integers(0, 1000), st.integers(2, 10), st.integers(2, 10), st.floats(0.2, 3.0))
    def test_gamma_becomes_the_spectral_norm(self, seed, d_in, d_out, gamma):
        torch.manual_seed(seed)
        layer = SigmaLinear(d_in, d_out)
        layer.gamma.data.fill_(gamma)
        assert spectral_norm(layer) == pytest.approx(gamma, rel=1e-3)  # the start is exact
        left, values, right = torch.linalg.svd(torch.randn(d_out, d_in), full_matrices=False)
        values = 2.0 ** -torch.arange(len(values))  # a gap, so that the iteration arrives
        layer.weight.data = left @ values.diag() @ right
        for _ in range(60):
            iterate_power(layer)
        assert spectral_norm(layer) == pytest.approx(gamma, rel=1e-3)

    def test_forward_by_hand(self):
        layer = SigmaLinear(2, 2)
        layer.weight.data = torch.tensor([[4.0, 0.0], [0.0, 1.0]])
        layer.u.copy_(torch.tensor([1.0, 0.0]))
        layer.v.copy_(torch.tensor([1.0, 0.0]))
        layer.gamma.data.fill_(2.0)
        layer.bias.data = torch.tensor([0.5, 0.0])
        torch.testing.assert_close(layer(torch.tensor([3.0, 8.0])), torch.tensor([6.5, 4.0]))

    def test_forward_does_not_move_the_singular_vectors(self):
        layer = SigmaLinear(4, 5)
        layer.weight.data.normal_()
        u, v = layer.u.clone(), layer.v.clone()
        layer(torch.randn(3, 4)).sum().backward()
        assert torch.equal(layer.u, u) and torch.equal(layer.v, v)
        iterate_power(layer)
        assert not torch.equal(layer.u, u)

    def test_gradient_includes_sigma(self):
        """W and cW are the same function, so the gradient is orthogonal to W."""
        layer = SigmaLinear(4, 5)
        (layer(torch.randn(3, 4)) * torch.randn(3, 5)).sum().backward()
        assert layer.weight.grad is not None and layer.gamma.grad is not None
        assert (layer.weight.grad * layer.weight).sum().item() == pytest.approx(0.0, abs=1e-4)

    def test_folded_layers_are_the_same_function(self):
        memory = transformer(3)
        tokens, time = torch.randn(2, 5, D), torch.arange(5).expand(2, -1)
        plain = memory(tokens, time)
        fold(memory)
        assert torch.equal(memory(tokens, time), plain)
        for layer in memory.modules():
            if isinstance(layer, SigmaLinear):
                layer.gamma.mul_(2.0)
        assert torch.equal(memory(tokens, time), plain)  # stale, by contract, until folded again
        fold(memory)
        assert not torch.allclose(memory(tokens, time), plain)
