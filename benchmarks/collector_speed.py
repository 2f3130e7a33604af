"""How fast experience is collected and how much room it takes, measured in one run.

    python benchmarks/collector_speed.py [--seconds 10] [--actors 16] [--workers 1]

The default preset's agent with untrained weights plays Crafter instructions, policy included, on the compiled engine
and on the crafter package in turn. The last line is one JSON object:

    steps_per_second           environment steps a second on the compiled engine
    ratio_collector            the same over the same collector on the crafter package
    ratio_without_policy       the same over random play on the compiled engine: below 1, the price of the network
    bytes_per_step             of a sealed shard, symbolic observations
    bytes_per_step_in_memory   before compression
"""

import argparse
import json
import tempfile
from pathlib import Path
from time import perf_counter

import torch

from agent.catalog import make_env
from agent.config import Config, override
from agent.envs.exploration import ExplorationSchedule
from agent.envs.vector import VectorEnv
from agent.goals.sampling import InstructionSampler
from agent.interface import context_of, interface_of
from agent.nets.model import ActingModel
from agent.policy import ActionSource, Policy, UniformPolicy
from agent.rollout import Collector
from agent.tasks import TrainingTasks
from store.layout import RunPaths
from store.rollouts import RolloutWriter
from store.trajectory import Trajectory


def collect(config: Config, seconds: float, *, with_policy: bool = True) -> tuple[float, list[Trajectory], dict]:
    """Steps a second, the rollouts finished meanwhile and the description of the environment."""
    make = make_env(config.env)
    with VectorEnv(make, config.collect.actors, config.collect.workers) as envs:
        interface = interface_of(envs.spec)
        policy: ActionSource = UniformPolicy(envs.spec.action_space)
        if with_policy:
            policy = Policy(ActingModel(interface, config), config.collect.actors, context_of(config.model, envs.spec))
        tasks = TrainingTasks(InstructionSampler(None, 0.0, 0.0), config.run.seed, config.collect.actors)
        exploration = ExplorationSchedule(anneal_steps=1_000_000, max_steps=envs.spec.max_steps)
        collector = Collector(envs, policy, tasks, exploration)
        collector.advance()  # starts the workers
        first, begin = collector.step, perf_counter()
        finished: list[Trajectory] = []
        while perf_counter() - begin < seconds:
            finished += collector.advance()
        return (collector.step - first) / (perf_counter() - begin), finished, envs.spec.to_json()


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
        "ratio_without_policy": round(ours / random_play, 2),
        "bytes_per_step": round(stored_bytes_per_step(finished, spec), 1),
        "bytes_per_step_in_memory": round(sum(t.num_bytes for t in finished) / sum(t.length for t in finished), 1),
    }
    print(json.dumps(numbers))


if __name__ == "__main__":
    main()
