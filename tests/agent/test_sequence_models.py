"""What every memory promises, whichever the configuration names: one function, in whole windows and step by step."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, get_args

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from agent.config import ModelConfig
from agent.nets.memory import Memory, build_memory
from agent.nets.memoryless import Memoryless
from agent.nets.recurrent import Recurrent
from agent.nets.transformer import Transformer

D = 8
KINDS = {"transformer": Transformer, "gru": Recurrent, "none": Memoryless}

kinds = pytest.mark.parametrize("kind", KINDS)
few = settings(deadline=None, max_examples=15)
seeds = st.integers(0, 10_000)


@contextmanager
def precision(dtype: torch.dtype) -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


@pytest.fixture(autouse=True, scope="module")
def double_precision():
    """So that a wrong token cannot hide in the rounding."""
    with precision(torch.float64):
        yield


def memory_of(kind: str, seed: int = 0) -> Memory[Any]:
    """Two layers whose norms and gains are not at their neutral start."""
    torch.manual_seed(seed)
    config = ModelConfig.model_validate({"memory": kind, "d_model": D, "num_layers": 2, "num_heads": 2, "d_ff": 16})
    memory = build_memory(config)
    assert isinstance(memory, nn.Module)
    for name, parameter in memory.named_parameters():
        if parameter.ndim < 2:
            nn.init.normal_(parameter, mean=0.0 if "bias" in name else 1.0, std=0.3)
    memory.requires_grad_(False)
    return memory


def alone(memory: Memory[Any], tokens: Tensor, time: Tensor) -> Tensor:
    """The last output (d_model,) of a full pass over one sequence (T, d_model) at `time` (T,)."""
    return memory(tokens[None], time[None])[0, -1]


def same(one: Tensor, other: Tensor) -> None:
    torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-9)


def test_every_kind_can_be_built():
    assert set(get_args(ModelConfig.model_fields["memory"].annotation)) == set(KINDS)
    for kind, expected in KINDS.items():
        assert type(memory_of(kind)) is expected


@kinds
@few
@given(seed=seeds, length=st.integers(1, 7), num_actors=st.integers(1, 4), data=st.data())
def test_steps_after_a_prefill_equal_a_full_pass(kind, seed, length, num_actors, data):
    """Each actor with a length of its own, 0 included; what stands behind it in the window is not looked at."""
    held = torch.tensor(data.draw(st.lists(st.integers(0, length), min_size=num_actors, max_size=num_actors)))
    memory, tokens = memory_of(kind, seed), torch.randn(num_actors, length + 3, D)
    time = torch.arange(length + 3) + torch.randint(100, (num_actors, 1))
    padded = torch.where((torch.arange(length) < held[:, None])[..., None], tokens[:, :length], 100.0)
    cache = memory.new_cache(num_actors, length + 3)
    rows = torch.arange(num_actors)
    memory.prefill(padded, time[:, :length], held, cache, rows)
    assert torch.equal(cache.lengths, held)
    for _ in range(3):
        at = cache.lengths.clone()
        stepped = memory.step(tokens[rows, at], time[rows, at], cache)
        assert stepped.shape == (num_actors, D)
        for actor, t in enumerate(at.tolist()):
            same(stepped[actor], alone(memory, tokens[actor, : t + 1], time[actor, : t + 1]))
    assert torch.equal(cache.lengths, held + 3)


@kinds
@few
@given(seed=seeds, context=st.integers(2, 6), num_actors=st.integers(1, 4))
def test_a_life_of_resets_and_overflows_equals_full_passes(kind, seed, context, num_actors):
    """Attempts end at different times; a full window moves on by half, as when acting, beside others that do not."""
    memory = memory_of(kind, seed)
    cache = memory.new_cache(num_actors, context)
    assert cache.device == cache.lengths.device
    lives: list[list[Tensor]] = [[] for _ in range(num_actors)]  # the tokens of each attempt so far
    starts, cached = [0] * num_actors, [0] * num_actors
    for _ in range(4 * context):
        for actor, life in enumerate(lives):
            if torch.rand(()) < 0.1:
                life.clear()
                starts[actor] = cached[actor] = 0
            if len(life) - starts[actor] >= context:
                starts[actor] = len(life) - context // 2
            life.append(torch.randn(D))
        time = torch.tensor([len(life) - 1 for life in lives])
        behind = [a for a in range(num_actors) if cached[a] != time[a] - starts[a]]
        if behind:
            held = [int(time[a]) - starts[a] for a in behind]
            window = torch.full((len(behind), max(max(held), 1), D), 100.0)
            for row, (actor, count) in enumerate(zip(behind, held, strict=True)):
                if count:
                    window[row, :count] = torch.stack(lives[actor][starts[actor] : -1])
                cached[actor] = count
            times = torch.tensor([starts[a] for a in behind])[:, None] + torch.arange(window.shape[1])
            memory.prefill(window, times, torch.tensor(held), cache, torch.tensor(behind))
        cache.lengths.copy_(torch.tensor(cached))
        stepped = memory.step(torch.stack([life[-1] for life in lives]), time, cache)
        for actor, life in enumerate(lives):
            cached[actor] += 1
            expected = alone(memory, torch.stack(life[starts[actor] :]), torch.arange(starts[actor], len(life)))
            same(stepped[actor], expected)


@kinds
def test_prefill_touches_only_the_actors_named(kind):
    memory, first, second = memory_of(kind), torch.randn(3, D), torch.randn(3, D)
    cache, time = memory.new_cache(3, 4), torch.arange(2).expand(3, -1)
    memory.step(first, time[:, 0], cache)
    memory.prefill(torch.randn(1, 1, D), time[:1, :1], torch.tensor([1]), cache, torch.tensor([1]))
    stepped = memory.step(second, time[:, 1], cache)
    full = memory(torch.stack([first, second], dim=1), time)[:, -1]
    same(stepped[[0, 2]], full[[0, 2]])
    assert torch.allclose(stepped[1], full[1]) == (kind == "none")


@kinds
@few
@given(seed=seeds, length=st.integers(2, 8), data=st.data())
def test_a_step_reaches_itself_and_what_comes_after(kind, seed, length, data):
    """Never what was before; without a memory, not what comes after either."""
    changed = data.draw(st.integers(0, length - 1))
    memory, tokens, time = memory_of(kind, seed), torch.randn(2, length, D), torch.arange(length).expand(2, -1)
    other = tokens.clone()
    other[:, changed] = torch.randn(2, D)
    before, after = memory(tokens, time), memory(other, time)
    moved = (before != after).any(-1)
    assert not moved[:, :changed].any() and moved[:, changed].all()
    assert (moved[:, changed + 1 :] == (kind != "none")).all()


@kinds
@pytest.mark.parametrize("length", [1, 2, 20])
def test_gradient_of_the_last_output(kind, length):
    tokens = torch.randn(1, length, D, requires_grad=True)
    (alone(memory_of(kind), tokens[0], torch.arange(length)) * torch.randn(D)).sum().backward()
    assert tokens.grad is not None
    reached = tokens.grad[0].abs().sum(-1) > 0
    assert reached.tolist() == [kind != "none"] * (length - 1) + [True]


@kinds
def test_it_learns_in_bfloat16(kind):
    """Under autocast, as the learner runs it, every parameter gets a finite gradient."""
    with precision(torch.float32):
        memory, tokens = memory_of(kind), torch.randn(2, 5, D)
        assert isinstance(memory, nn.Module)
        memory.requires_grad_(True)
        with torch.autocast("cpu", torch.bfloat16):
            out = memory(tokens, torch.arange(5).expand(2, -1))
        (out.float() * torch.randn(2, 5, D)).sum().backward()
    for name, parameter in memory.named_parameters():
        assert parameter.grad is not None and parameter.grad.isfinite().all(), name


def test_the_update_gate_of_a_gru_keeps_or_replaces():
    memory = Recurrent(D, num_layers=1).requires_grad_(False)
    bias = memory.layers[0].get_submodule("gru").get_parameter("bias_ih_l0")
    cache, time = memory.new_cache(1, 9), torch.zeros(1, dtype=torch.long)
    hidden = []
    for gate in (0.0, 100.0, -100.0):
        bias[D : 2 * D] = gate
        memory.step(torch.randn(1, D), time, cache)
        hidden.append(cache.hidden.clone())
    same(hidden[1], hidden[0])
    assert not torch.isclose(hidden[2], hidden[0]).any()


def test_an_output_is_the_token_and_what_the_gru_makes_of_it():
    memory, tokens = memory_of("gru"), torch.randn(1, 4, D)
    assert isinstance(memory, Recurrent)
    for name, parameter in memory.layers.named_parameters():
        if ".gru." in name:
            parameter.zero_()  # a GRU without weights that starts at zero stays there
    same(memory(tokens, torch.arange(4)[None]), memory.norm_out(tokens))
