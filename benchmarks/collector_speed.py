"""How fast experience is collected and how much room it takes, measured in one run.

    python benchmarks/collector_speed.py [--seconds 10] [--actors 16] [--workers 1]

The default preset's agent with untrained weights plays Crafter instructions, policy included, on the compiled engine
and on the crafter package in turn. The last line is one JSON object:

    steps_per_second           environment steps a second on the compiled engine
    ratio_collector            the same over the same collector on the crafter package
    ratio_without_policy       the same over random play on the compiled engine: below 1, the price of the network
    ratio_without_notes        the same over the same collector that notes no values: below 1, the price of the notes
    bytes_per_step             of a sealed shard, symbolic observations
    bytes_per_step_in_memory   before compression
"""

import argparse
import json
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

import torch

from agent.catalog import make_env
from agent.config import Config, override
from agent.envs.exploration import ExplorationSchedule
from agent.envs.vector import VectorEnv
from agent.goals.sampling import InstructionSampler
from agent.interface import context_of, interface_of
from agent.nets.model import ActingModel
from agent.notes import Notebook
from agent.policy import ActionSource, Policy, UniformPolicy
from agent.rollout import Collector
from agent.tasks import TrainingTasks
from agent.values import value_bins
from store.layout import RunPaths
from store.rollouts import RolloutWriter
from store.trajectory import Trajectory

_TURN = 64  # steps of a collector before it is the other one's turn


def new_collector(config: Config, envs: VectorEnv, *, with_policy: bool = True, num_noted: int = 1) -> Collector:
    """A collector that has played a step, so that its workers run."""
    policy: ActionSource = UniformPolicy(envs.spec.action_space)
    if with_policy:
        model = ActingModel(interface_of(envs.spec), config, value_bins(config.loss))
        notebook = Notebook(model, config.loss, num_noted)
        policy = Policy(model, config.collect.actors, context_of(config.model, envs.spec), notebook=notebook)
    tasks = TrainingTasks(InstructionSampler(None, 0.0, 0.0), config.run.seed, config.collect.actors)
    collector = Collector(
        envs, policy, tasks, ExplorationSchedule(anneal_steps=1_000_000, max_steps=envs.spec.max_steps)
    )
    collector.advance()
    return collector


def new_envs(config: Config) -> VectorEnv:
    return VectorEnv(make_env(config.env), config.collect.actors, config.collect.workers)


def collect(config: Config, seconds: float, *, with_policy: bool = True) -> tuple[float, list[Trajectory], dict]:
    """Steps a second, the rollouts finished meanwhile and the description of the environment."""
    with new_envs(config) as envs:
        collector = new_collector(config, envs, with_policy=with_policy)
        first, begin = collector.step, perf_counter()
        finished: list[Trajectory] = []
        while perf_counter() - begin < seconds:
            finished += collector.advance()
        return (collector.step - first) / (perf_counter() - begin), finished, envs.spec.to_json()


def speed_with_notes(config: Config, seconds: float) -> float:
    """Speed with notes over speed without: both take turns, since the difference is smaller than a machine's moods."""
    with new_envs(config) as some, new_envs(config) as others:
        noting, plain = new_collector(config, some), new_collector(config, others, num_noted=0)
        ratios, begin = [], perf_counter()
        while perf_counter() - begin < seconds:
            ratios.append(_seconds_of(plain) / _seconds_of(noting))
        return median(ratios)


def _seconds_of(collector: Collector) -> float:
    begin = perf_counter()
    for _ in range(_TURN):
        collector.advance()
    return perf_counter() - begin


def stored_bytes_per_step(trajectories: list[Trajectory], spec: dict) -> float:
    """Size of one sealed shard over the steps in it."""
    with tempfile.TemporaryDirectory() as directory:
        writer = RolloutWriter(RunPaths(Path(directory)), "train", spec=spec, max_bytes=2**40, max_seconds=1e9)
        for trajectory in trajectories:
            writer.append(trajectory)
        shard = writer.seal()
        assert shard is not None
        return shard.stat().st_size / sum(trajectory.length for trajectory in trajectories)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--actors", type=int, default=16)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(1)
    config = override(Config(), {"collect.actors": options.actors, "collect.workers": options.workers})
    ours, finished, spec = collect(config, options.seconds)
    package, _, _ = collect(override(config, {"env.engine": "package"}), options.seconds)
    random_play, _, _ = collect(config, options.seconds / 2, with_policy=False)
    numbers = {
        "actors": options.actors,
        "workers": options.workers,
        "steps_per_second": round(ours),
        "ratio_collector": round(ours / package, 2),
        "ratio_without_notes": round(speed_with_notes(config, 2 * options.seconds), 2),
        "ratio_without_policy": round(ours / random_play, 2),
        "bytes_per_step": round(stored_bytes_per_step(finished, spec), 1),
        "bytes_per_step_in_memory": round(sum(t.num_bytes for t in finished) / sum(t.length for t in finished), 1),
    }
    print(json.dumps(numbers))


if __name__ == "__main__":
    main()
