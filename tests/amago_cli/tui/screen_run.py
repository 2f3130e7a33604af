"""Small real runs, written through the store as a trainer would, and how to wait for a screen and to read it."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from agent.config import Config, override
from agent.envs.crafter.textures import texture_id
from agent.goals.grammar import wanted_instruction
from amago_cli.tui.app import WatchApp
from store.events import EventLog
from store.layout import RunPaths
from store.metrics import MetricsWriter
from store.rollouts import RolloutWriter
from store.runs import create_run
from store.status import Status, write_status
from store.trajectory import Trajectory, TrajectoryInfo

GOALS = "collect sapling, place plant"
SPEC = {"name": "crafter", "vocabulary": "crafter", "success_return": None}


def rollout(number: int, *, finished: int = 2, steps: int = 6, split: str = "train", actor: int = 0) -> Trajectory:
    """A rollout of the wanted instruction that finishes one subgoal per step, on a meadow."""
    instruction = np.array(wanted_instruction(GOALS), np.int16)
    view = np.full((steps + 1, 9, 7), texture_id("grass"), np.uint8)
    view[:, 4, 3] = texture_id("grass", "player-down")
    events = [(t, int(instruction[t])) for t in range(finished)]
    ended = np.arange(steps) == steps - 1
    return Trajectory(
        observations={
            "view": view,
            "inventory": np.full((steps + 1, 16), 1, np.uint8),
            "daylight": np.ones((steps + 1, 1), np.float32),
        },
        actions=np.full(steps, 5),
        rewards=(np.arange(steps) < finished).astype(np.float32),
        terminated=ended & (finished == 2),
        truncated=ended & (finished < 2),
        is_first=np.arange(steps + 1) == 0,
        progress=np.minimum(np.arange(steps + 1), finished).astype(np.uint8),
        instruction=instruction,
        events=np.array(events, np.int32).reshape(-1, 2),
        info=TrajectoryInfo(
            environment="crafter",
            seed=2 * number,
            actor=actor,
            split=split,
            cause="completed" if finished == 2 else "time limit",
            wanted=True,
            policy_update=number,
            step=number * steps,
            epsilon=0.1,
        ),
        diagnostics={"values": np.full((steps, 2), 0.25, np.float16)},
    )


def set_status(paths: RunPaths, **changes: Any) -> None:
    """The heartbeat of a trainer that is this very process, with `changes`."""
    now = time.time()
    usual = Status(
        state="running",
        pid=os.getpid(),
        host=socket.gethostname(),
        started=now - 60,
        heartbeat=now,
        step=12_000,
        update=700,
        phase="learning",
        elapsed=62.0,
        remaining=121.0,
        fraction=0.34,
        steps_per_second=812.0,
        updates_per_second=6.3,
        device="cpu",
        memory_bytes=1_500_000_000,
        rollouts=6,
    )
    write_status(paths, replace(usual, **changes))


def empty_run(runs_dir: Path, name: str) -> RunPaths:
    """A run whose trainer has only begun."""
    config = override(Config(), {"task.goals": GOALS}).model_dump(mode="json")
    paths = create_run(runs_dir, name, config)
    set_status(paths, step=0, update=0, phase="warm-up", fraction=0.0, remaining=-1.0)
    return paths


def full_run(runs_dir: Path, name: str) -> RunPaths:
    """A run with six rollouts, four of them successes, with curves and events."""
    paths = empty_run(runs_dir, name)
    set_status(paths)
    writer = RolloutWriter(paths, "train", spec=SPEC)
    for number, finished in enumerate((2, 0, 2, 1, 2, 2), 1):
        writer.append(rollout(number, finished=finished))
    writer.close()
    evaluated = RolloutWriter(paths, "eval", spec=SPEC)
    evaluated.append(rollout(1, finished=1, split="eval"))
    evaluated.close()
    metrics = MetricsWriter(paths, 0)
    for step in range(40):
        values = {"rollout/return": step / 10, "train/critic_loss": float("nan") if step == 7 else 1 / (step + 1)}
        metrics.log(step * 100, step, {**values, "rollout/wanted_success": 0.5, "rollout/unlocked_collect_wood": 0.25})
    metrics.close()
    EventLog(paths).append("achievement", "collect sapling for the first time", 600, 3)
    return paths


async def until(pilot: Any, holds: Callable[[], object]) -> None:
    """Wait, as long as a busy machine may need."""
    for _ in range(400):
        if holds():
            return
        await pilot.pause(0.05)
    raise AssertionError(f"did not happen; the screen shows:\n{screen_text(pilot.app)}")


def screen_text(app: WatchApp) -> str:
    """What can be read on the screen, without colours."""
    width, height = app.size
    lines = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip)[:width] for strip in lines[:height])
