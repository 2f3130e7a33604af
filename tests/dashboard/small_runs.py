"""Real small runs for the pages: Crafter played at random, written through the store as a trainer would.

calm-otter-1, calm-otter-2    the same configuration but for the seed; finished, with evaluation and report
brisk-fox-3                   two attempts per rollout, stopped
"""

from __future__ import annotations

import os
import socket
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from agent.catalog import make_env
from agent.config import Config, override
from agent.envs.base import EnvSpec
from agent.goals.grammar import parse_instruction
from agent.reports.report import EvalReport, Header, summarise
from agent.reports.report import to_json as report_to_json
from store.atomic import write_json
from store.events import EventLog
from store.layout import RunPaths, Split
from store.metrics import MetricsWriter
from store.rollouts import RolloutWriter
from store.runs import create_run
from store.status import Status, write_status
from store.trajectory import Trajectory, TrajectoryInfo

NUM_ACTIONS = 17
INSTRUCTIONS = ("collect sapling, place plant", "wake up", "collect wood", "make stone pickaxe, collect iron")


def play(config: Config, instruction: str, seed: int, split: Split, step: int = 0) -> Trajectory:
    """A rollout of Crafter at random, with everything an environment says of it."""
    env, goals = make_env(config.env)(), parse_instruction(instruction)
    rng = np.random.default_rng(seed)
    observation, info = env.reset(seed=2 * seed + (split == "eval"), options={"instruction": goals})
    states, rows, events = [(observation, True, 0)], [], []
    while not rows or not (rows[-1][2] or rows[-1][3]):
        action = int(rng.integers(NUM_ACTIONS))
        observation, reward, terminated, truncated, info = env.step(action)
        events += [(len(rows), goal) for goal in info["achieved"]]
        rows.append((action, reward, terminated, truncated))
        states.append((observation, info.get("is_first", False), info["progress"]))
    actions, rewards, terminated, truncated = zip(*rows, strict=True)
    return Trajectory(
        observations={key: np.stack([state[0][key] for state in states]) for key in observation},
        actions=np.array(actions),
        rewards=np.array(rewards, np.float32),
        terminated=np.array(terminated),
        truncated=np.array(truncated),
        is_first=np.array([state[1] for state in states]),
        progress=np.array([state[2] for state in states], np.uint8),
        instruction=np.array(goals, np.int16),
        events=np.array(events, np.int32).reshape(-1, 2),
        info=TrajectoryInfo(
            environment="crafter",
            seed=2 * seed + (split == "eval"),
            actor=seed % 4,
            split=split,
            cause=info["cause"],
            wanted=seed % 2 == 0,
            policy_update=step // 10,
            step=step,
            epsilon=0.0 if split == "eval" else 0.5,
        ),
    )


def crafter_config(**changes: Any) -> Config:
    """A configuration with rollouts of a few dozen steps."""
    return override(Config(), {"env.max_steps": 60, **{key.replace("__", "."): v for key, v in changes.items()}})


def write_metrics(paths: RunPaths, *, rows: int, seed: int, close: bool = True) -> None:
    """Curves as a run has them: a return that rises, a loss with a NaN and an infinity in it."""
    rng = np.random.default_rng(seed)
    writer = MetricsWriter(paths, 0)
    for i in range(rows):
        loss = {3: float("nan"), 5: float("inf")}.get(i, float(np.exp(-i / rows) + 0.05 * rng.standard_normal()))
        values = {"rollout/return": i / rows + 0.1 * rng.standard_normal(), "train/critic_loss": loss}
        writer.log(100 * (i + 1), 10 * (i + 1), values)
    writer.flush()
    if close:
        writer.close()


def write_state(paths: RunPaths, state: str, step: int, *, age: float = 0.0, pid: int | None = None) -> None:
    """What the trainer said last, `age` seconds ago."""
    heartbeat = time.time() - age
    pid = os.getpid() if pid is None else pid
    status = Status(state=state, pid=pid, host=socket.gethostname(), started=heartbeat - 60, heartbeat=heartbeat)
    write_status(paths, replace(status, step=step, update=step // 10, phase="learning", elapsed=60.0))


def write_rollouts(paths: RunPaths, config: Config, split: Split, count: int) -> list[Trajectory]:
    """`count` rollouts in two shards."""
    spec = EnvSpec.from_env(make_env(config.env)()).to_json()
    played = [play(config, INSTRUCTIONS[i % len(INSTRUCTIONS)], i, split, step=60 * (i + 1)) for i in range(count)]
    writer = RolloutWriter(paths, split, spec=spec)
    for i, trajectory in enumerate(played):
        writer.append(trajectory)
        if i == count // 2:
            writer.seal()
    writer.close()
    return played


def write_report(paths: RunPaths, config: Config, played: list[Trajectory]) -> None:
    """The report of an evaluation with these episodes."""
    spec = EnvSpec.from_env(make_env(config.env)())
    instructions = list(dict.fromkeys(tuple(each.instruction.tolist()) for each in played))
    header = Header(
        checkpoint=str(paths.checkpoint(1000)),
        sha256={"weights.safetensors": "ab12" * 16},
        step=1000,
        rule="best",
        policy="sampled",
        suite="goals",
        episodes=2,
        seed=0,
        worlds="held-out worlds (odd seeds)",
        device="cpu",
        command="amago eval --checkpoint x",
        environment="crafter",
        settings={"max_steps": config.env.max_steps},
    )
    results = summarise(played, instructions, spec)
    paths.reports.mkdir()
    report = report_to_json(EvalReport(header, results, results))
    write_json(paths.reports / "eval-1000-goals-20260101-000000.json", report)


def write_events(paths: RunPaths) -> None:
    """A start, a first achievement, an end."""
    log = EventLog(paths)
    log.append("start", "training begins", 0, 0)
    log.append("achievement", "collect sapling", 120, 12)
    log.append("end", "steps", 1000, 100)


def make_run(runs: Path, name: str, config: Config, *, state: str = "finished") -> RunPaths:
    """A whole run with rollouts of both splits, metrics, events and a report."""
    paths = create_run(runs, name, config.model_dump(mode="json"), {"command": "amago train crafter", "preset": "cpu"})
    write_state(paths, state, 1000)
    write_metrics(paths, rows=60, seed=config.run.seed)
    write_events(paths)
    write_rollouts(paths, config, "train", 9)
    write_report(paths, config, write_rollouts(paths, config, "eval", 8))
    return paths
