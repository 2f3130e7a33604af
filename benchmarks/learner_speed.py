"""How long an update takes, and how that compares with the sequence model alone, measured in one run.

    python benchmarks/learner_speed.py [--updates 3] [--threads N] [--bf16]

The reference size: 24 sequences of 256 tokens, 3 layers of width 256, 4 critics, 7 discounts, Crafter's symbolic
observations. Times are wall seconds, medians over updates that take turns with the backbone's forward and backward
pass. The last line is one JSON object, with for each pair of actor and critic updates:

    updates_per_second_<actor>_<critic>
    ratio_to_backbone_<actor>_<critic>    a whole update over the Transformer's forward and backward pass alone
"""

import argparse
import json
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import torch
from gymnasium import spaces

from agent.batch import Batch, Inputs
from agent.config import Config, override
from agent.envs.base import EnvSpec
from agent.envs.crafter.env import make_crafter
from agent.forward import build_model
from agent.goals.vocabulary import NUM_GOALS
from agent.interface import interface_of
from agent.learner import Learner

NUM_SEQUENCES, NUM_TOKENS = 24, 256
SIZES: dict[str, Any] = {
    "model.d_model": 256,
    "model.num_layers": 3,
    "model.num_heads": 8,
    "model.d_ff": 1024,
    "model.num_critics": 4,
    "model.d_head": 256,
    "loss.discounts": (0.1, 0.9, 0.95, 0.97, 0.99, 0.995, 0.999),
    "loss.num_bins": 64,
}


def random_batch(spec: EnvSpec) -> Batch:
    """Observations, goals and rewards without meaning, of the right shapes and types."""
    assert isinstance(spec.action_space, spaces.Discrete)
    num_actions = int(spec.action_space.n)
    rng = np.random.default_rng(0)
    rows, tokens, steps = NUM_SEQUENCES, (NUM_SEQUENCES, NUM_TOKENS), (NUM_SEQUENCES, NUM_TOKENS - 1)
    samples = [spec.observation_space.sample() for _ in range(64)]
    drawn = rng.integers(len(samples), size=tokens)
    observations = {key: torch.from_numpy(np.stack([sample[key] for sample in samples])[drawn]) for key in samples[0]}
    inputs = Inputs(
        observations=observations,
        goals=torch.from_numpy(rng.integers(NUM_GOALS, size=(*tokens, spec.max_instruction))),
        previous_actions=torch.from_numpy(rng.integers(num_actions, size=tokens)),
        previous_rewards=torch.zeros(tokens),
        is_first=torch.zeros(tokens, dtype=torch.bool),
        time=torch.arange(NUM_TOKENS).expand(rows, -1),
    )
    return Batch(
        inputs=inputs,
        actions=torch.from_numpy(rng.integers(num_actions, size=steps)),
        rewards=torch.from_numpy((rng.random(steps) < 0.02).astype(np.float32)),
        terminated=torch.zeros(steps, dtype=torch.bool),
        truncated=torch.zeros(steps, dtype=torch.bool),
        valid=torch.ones(steps, dtype=torch.bool),
        token_valid=torch.ones(tokens, dtype=torch.bool),
        reached=torch.zeros((*steps, 0), dtype=torch.bool),
    )


def seconds_of_backbone(learner: Learner, tokens: torch.Tensor, time: torch.Tensor, bf16: bool) -> float:
    """Forward and backward pass of the Transformer alone."""
    begin = perf_counter()
    with torch.autocast(tokens.device.type, torch.bfloat16, enabled=bf16):
        states = learner.model.representation.memory(tokens, time)
    states.float().sum().backward()
    _finish(tokens.device)
    return perf_counter() - begin


def _finish(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


def measure(actor: str, critic: str, num_updates: int, bf16: bool, device: torch.device) -> dict[str, float]:
    """The two numbers of one pair of updates."""
    config = override(Config(), {**SIZES, "loss.actor": actor, "loss.critic": critic, "optimizer.bf16": bf16})
    spec = EnvSpec.from_env(make_crafter("fast", "symbolic", 2500))
    torch.manual_seed(0)
    learner = Learner(build_model(interface_of(spec), config).to(device), config)
    batch = random_batch(spec).to(device)
    tokens = torch.randn(NUM_SEQUENCES, NUM_TOKENS, config.model.d_model, device=device, requires_grad=True)
    rng = np.random.default_rng(0)
    whole, backbone = [], []
    for _ in range(num_updates + 1):
        begin = perf_counter()
        learner.update(batch, rng)
        _finish(device)
        whole.append(perf_counter() - begin)
        backbone.append(seconds_of_backbone(learner, tokens, batch.inputs.time, bf16))
    seconds = median(whole[1:])  # the first update also allocates
    return {
        f"updates_per_second_{actor}_{critic}": round(1 / seconds, 3),
        f"ratio_to_backbone_{actor}_{critic}": round(seconds / median(backbone[1:]), 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--updates", type=int, default=3)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--bf16", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.set_flush_denormal(True)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    numbers: dict[str, Any] = {"device": device.type, "threads": options.threads, "bf16": options.bf16}
    for actor in ("dep", "ind"):
        for critic in ("dep", "ind"):
            numbers |= measure(actor, critic, options.updates, options.bf16, device)
    print(json.dumps(numbers))


if __name__ == "__main__":
    main()
