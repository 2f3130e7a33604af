"""Episodes and headers of evaluations, made by hand for the tests of reports."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from gymnasium import spaces

from agent.envs.base import EnvSpec
from agent.goals.grammar import parse_instruction
from agent.reports.report import Header
from store.trajectory import Trajectory, TrajectoryInfo

CRAFTER = EnvSpec("crafter", spaces.Dict({"view": spaces.Discrete(3)}), spaces.Discrete(2), 100, 5, "crafter", None)
LAKE = replace(CRAFTER, name="lake", max_instruction=0, vocabulary="", success_return=1.0)
STONE_IRON = parse_instruction("stone pickaxe, collect iron")
SAPLING = parse_instruction("collect sapling")


def played(instruction: tuple[int, ...], finished: int, steps: int, cause: str, seed: int = 1) -> Trajectory:
    """An episode of `steps` steps that finished so many subgoals, all at its end."""
    progress = np.zeros(steps + 1, np.uint8)
    progress[-1] = finished
    flags = np.zeros(steps, bool)
    return Trajectory(
        observations={"view": np.zeros((steps + 1, 1), np.uint8)},
        actions=np.zeros(steps, np.int64),
        rewards=np.zeros(steps, np.float32),
        terminated=flags,
        truncated=flags,
        is_first=np.zeros(steps + 1, bool),
        progress=progress,
        instruction=np.array(instruction, np.int16),
        events=np.zeros((0, 2), np.int32),
        info=TrajectoryInfo(
            environment="crafter",
            seed=seed,
            actor=0,
            split="eval",
            cause=cause,
            wanted=False,
            policy_update=0,
            step=0,
            epsilon=0.0,
        ),
    )


def trial(*attempts: list[float], cause: str = "completed") -> Trajectory:
    """An episode of attempts without an instruction, given by their rewards."""
    rewards = np.concatenate([np.array(rewards, np.float32) for rewards in attempts])
    starts = np.cumsum([0, *(len(rewards) for rewards in attempts)])[:-1]
    alone = played((), 0, len(rewards), cause)
    return replace(alone, rewards=rewards, is_first=np.isin(np.arange(len(rewards) + 1), starts))


def header(**changes: object) -> Header:
    """Of an evaluation of four episodes per instruction."""
    fields = {
        "checkpoint": "runs/a/checkpoints/100",
        "sha256": {"weights.safetensors": "ab12"},
        "step": 100,
        "rule": "latest",
        "policy": "sampled",
        "suite": "goals",
        "episodes": 4,
        "seed": 0,
        "worlds": "held-out worlds (odd seeds)",
        "device": "cpu",
        "command": "amago eval --checkpoint a",
        "environment": "crafter",
        "settings": {"max_steps": 100},
    }
    return Header(**{**fields, **changes})  # type: ignore[arg-type]
