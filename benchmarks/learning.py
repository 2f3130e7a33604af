"""What the agent learns, shown: memory, adaptation, ablations and the two updates under uneven rewards.

    python -m benchmarks.learning NAME [--seeds 0 1 2] [--variants A B] [--minutes M] [--jobs 2]

NAME is one of EXPERIMENTS below. Every variant is trained from scratch once per seed by the same code as `amago train`,
for the same training time on one thread each (--jobs at once, which should not exceed the cores), then evaluated in
held-out worlds. Prints a line per run, a table of medians with the lowest and highest seed, and one JSON object on the
last line, with the learning curves: pairs of environment steps and mean return of the training rollouts.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch

from agent.checkpoint import read_meta
from agent.config import override
from agent.envs.base import EnvSpec
from agent.evaluate import evaluate
from agent.goals.grammar import format_instruction, parse_instruction
from agent.presets import preset
from agent.progress import ignore
from agent.tasks import trained_games
from agent.train import train
from store.metrics import read_metrics
from store.runs import create_run
from store.trajectory import Trajectory

Score = Callable[[list[Trajectory]], dict[str, float]]

CURVE_POINTS = 40


@dataclass(frozen=True)
class Experiment:
    """Variants that differ in a few fields, and what is compared."""

    title: str
    preset: str
    minutes: float  # of training, each run
    score: Score
    changes: dict[str, Any] = field(default_factory=dict)  # of all variants
    variants: dict[str, dict[str, Any]] = field(default_factory=lambda: {"agent": {}})
    episodes: int = 50  # of each goal, or in all
    goals: tuple[str, ...] = ()  # instructions to evaluate; without, what training asks for


def returns(played: list[Trajectory]) -> dict[str, float]:
    """Mean return, and the share of rollouts that got (nearly) all that T-Maze gives."""
    all_returns = np.array([trajectory.ret for trajectory in played])
    return {"return": float(all_returns.mean()), "solved": float((all_returns >= 0.95).mean())}


def doors(played: list[Trajectory]) -> dict[str, float]:
    """Doors opened per rollout: attempts that reached both key and door."""
    opened = [sum(attempt.ret >= 2 for attempt in trajectory.attempts) for trajectory in played]
    return {"doors": float(np.mean(opened)), "return": float(np.mean([trajectory.ret for trajectory in played]))}


def first_and_last(played: list[Trajectory]) -> dict[str, float]:
    """Mean return of the first and of the last attempt at a task."""
    attempts = [trajectory.attempts for trajectory in played]
    return {
        "first": float(np.mean([each[0].ret for each in attempts])),
        "last": float(np.mean([each[-1].ret for each in attempts])),
    }


def completed(played: list[Trajectory]) -> dict[str, float]:
    """Share of instructions completed."""
    return {"success": float(np.mean([trajectory.completed for trajectory in played]))}


def by_goal(played: list[Trajectory]) -> dict[str, float]:
    """Share of episodes that carried out each instruction of Crafter."""
    instructions = dict.fromkeys(tuple(trajectory.instruction.tolist()) for trajectory in played)
    return {
        format_instruction(each): float(np.mean([t.completed for t in played if tuple(t.instruction.tolist()) == each]))
        for each in instructions
    }


def by_game(played: list[Trajectory]) -> dict[str, float]:
    """Mean return of the last attempt at each game."""
    games = dict.fromkeys(trajectory.info.game for trajectory in played)
    return {
        game or "return": float(np.mean([each.attempts[-1].ret for each in played if each.info.game == game]))
        for game in games
    }


def fitting_actions(played: list[Trajectory]) -> dict[str, float]:
    """Share of fitting actions in either task of `benchmarks.two_scales`; 0.25 is chance."""
    from benchmarks.two_scales import NUM_STEPS, SCALES

    shares: dict[str, float] = {}
    for task, (name, scale) in enumerate(zip(("large", "small"), SCALES, strict=True)):
        mine = [t.ret / scale / NUM_STEPS for t in played if t.observations["task"][0, 0] == 1 + task]
        shares[name] = float(np.mean(mine))
    return shares


UPDATES = {
    f"{actor}/{critic}": {"loss.actor": actor, "loss.critic": critic}
    for actor in ("dep", "ind")
    for critic in ("dep", "ind")
}
MEMORIES = {
    "transformer": {},
    "gru": {"model.memory": "gru"},
    "no memory": {"model.memory": "none"},
}

EXPERIMENTS = {
    "tmaze-400": Experiment("passive T-Maze, horizon 400", "tmaze", 9.5, returns),
    "tmaze-2000": Experiment(
        "passive T-Maze, horizon 2,000",
        "tmaze",
        45,
        returns,
        {  # five times as long: as many turns for each update, and in the replay
            "env.max_steps": 2000,
            "optimizer.batch_size": 6,
            "exploration.power": 1500.0,
            "exploration.anneal_steps": 100_000,
            "replay.steps_per_update": 500.0,
            "replay.max_steps": 500_000,
            "replay.warmup_steps": 50_000,
        },
    ),
    "key-door": Experiment("dark key-to-door, 9 x 9, 500 steps", "dark-key-door", 30, doors),
    "memories": Experiment(
        "passive T-Maze, horizon 60, by sequence model", "tmaze", 3, returns, {"env.max_steps": 60}, MEMORIES
    ),
    "frozen-lake": Experiment(
        "first and last attempt at a frozen lake", "frozen-lake", 5, first_and_last, {}, MEMORIES
    ),
    "relabelling": Experiment(
        "maze with one to three goals, by hindsight relabelling",
        "maze",
        5,
        completed,
        variants={"some": {}, "none": {"replay.relabel": "none"}},
        episodes=200,
    ),
    "discounts": Experiment(
        "dark key-to-door, 5 x 5, 150 steps, by discounts",
        "dark-key-door",
        5,
        doors,
        {"env.size": 5, "env.horizon": 150, "env.max_steps": 30},
        {"several": {}, "one": {"loss.discounts": (0.99,)}},
    ),
    "crafter": Experiment(
        "Crafter's preset, and without its parts",
        "small",
        8,
        by_goal,
        variants={
            "preset": {},
            "no foresight": {"model.foresight": False},
            "plain draw": {"task.tech_tree_share": 0.0, "task.curriculum_share": 0.0},
            "no goal share": {"replay.goal_share": 0.0},
            "hard filter": {"loss.advantage_filter": "binary"},
            "no entropy": {"loss.entropy_weight": 0.0},
        },
        goals=("collect wood", "place table", "make wood pickaxe", "collect stone"),
        episodes=100,
    ),
    "popgym": Experiment("POPGym, RepeatPreviousEasy", "popgym", 2, by_game),
    "procgen": Experiment("Procgen, coinrun and fruitbot", "procgen", 20, by_game, episodes=20),
    "two-scales": Experiment(
        "two tasks with rewards x100 and /10",
        "gym",
        4,
        fitting_actions,
        {
            "env.id": "benchmarks.two_scales:TwoScales-v0",
            "loss.discounts": (0.5, 0.9),
            "loss.num_steps": 1,
            "loss.value_max": 1e5,
            "loss.num_bins": 128,
        },
        UPDATES,
        episodes=200,
    ),
}


def run(name: str, variant: str, seed: int, minutes: float) -> dict[str, Any]:
    """Train and evaluate once; the figures of one run, and of a random policy in the same worlds."""
    torch.set_num_threads(1)
    experiment = EXPERIMENTS[name]
    changes = {
        "run.seed": seed,
        "run.minutes": minutes,
        "run.threads": 1,
        "run.device": "cpu",
        "run.deterministic": True,  # one process, so that as many runs as cores do not disturb each other
        "run.checkpoint_every": 1000.0,
        "collect.workers": 0,
    }
    config = override(preset(experiment.preset), {**experiment.changes, **experiment.variants[variant], **changes})
    with tempfile.TemporaryDirectory() as folder:
        paths = create_run(Path(folder), "run", config.model_dump(mode="json"), {})
        begin = time.monotonic()
        outcome = train(config, paths, resume=False, notify=ignore, stop=threading.Event())
        seconds = time.monotonic() - begin
        games = trained_games(EnvSpec.from_json(read_meta(outcome.checkpoint)["environment"]).games)
        agent, random = (
            evaluate(
                checkpoint,
                config,
                [parse_instruction(goal) for goal in experiment.goals] or None,
                episodes=experiment.episodes,
                seed=seed,
                device="cpu",
                greedy=False,
                notify=ignore,
                stop=threading.Event(),
                games=games,
            )
            for checkpoint in (outcome.checkpoint, None)
        )
        curve = _curve(paths)
    return {
        "variant": variant,
        "seed": seed,
        "steps": outcome.step,
        "updates": outcome.update,
        "seconds": round(seconds),
        **{key: round(value, 3) for key, value in experiment.score(agent).items()},
        **{f"random {key}": round(value, 3) for key, value in experiment.score(random).items()},
        "curve": curve,
    }


def _curve(paths: Any) -> list[tuple[int, float]]:
    """At most CURVE_POINTS pairs (step, mean return of the rollouts since the pair before)."""
    series = read_metrics(paths)["rollout/return"]
    parts = np.array_split(np.arange(len(series)), min(CURVE_POINTS, len(series)))
    return [(int(series.step[part[-1]]), round(float(series.value[part].mean()), 3)) for part in parts]


def table(rows: list[dict[str, Any]], keys: list[str]) -> list[str]:
    """Medians over the seeds, with the lowest and the highest."""
    lines = []
    for variant in dict.fromkeys(row["variant"] for row in rows):
        mine = [row for row in rows if row["variant"] == variant]
        columns = {key: [row[key] for row in mine] for key in keys}
        cells = [f"{key} {median(found):.2f} [{min(found):.2f}-{max(found):.2f}]" for key, found in columns.items()]
        lines.append(f"{variant:14} {len(mine)} seeds  " + "  ".join(cells))
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=EXPERIMENTS)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--variants", nargs="+")
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    experiment = EXPERIMENTS[options.name]
    minutes = options.minutes or experiment.minutes
    jobs = [(variant, seed) for variant in options.variants or experiment.variants for seed in options.seeds]
    print(f"{experiment.title}: {len(jobs)} runs of {minutes:g} minutes, {options.jobs} at once", flush=True)
    rows = []
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn"), max_tasks_per_child=1) as pool:
        for done in [pool.submit(run, options.name, variant, seed, minutes) for variant, seed in jobs]:
            row = done.result()
            rows.append(row)
            print({key: value for key, value in row.items() if key != "curve"}, flush=True)
    figures = [key for key in rows[0] if key not in ("variant", "seed", "steps", "updates", "seconds", "curve")]
    print("\n".join(table(rows, figures)))
    print(json.dumps({"experiment": options.name, "minutes": minutes, "jobs": options.jobs, "runs": rows}))


if __name__ == "__main__":
    main()
