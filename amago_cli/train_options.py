"""The options of `amago train`, and the configuration keys they set."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from amago_cli import options

# Everything that has no option here is reached by --set.
KEYS = {
    "environment": "env.name",
    "env_id": "env.id",
    "games": "env.games",
    "goals": "task.goals",
    "observation": "env.observation",
    "engine": "env.engine",
    "reward": "env.reward",
    "attempts": "env.attempts",
    "horizon": "env.horizon",
    "steps": "run.steps",
    "updates": "run.updates",
    "minutes": "run.minutes",
    "device": "run.device",
    "actors": "collect.actors",
    "workers": "collect.workers",
    "relabel": "replay.relabel",
    "actor": "loss.actor",
    "critic": "loss.critic",
    "seed": "run.seed",
    "deterministic": "run.deterministic",
}


def _option(flag: str, help: str, **more: Any) -> Any:
    return typer.Option(flag, help=help, show_default=False, **more)


Environment = Annotated[
    str | None, typer.Argument(help="What to play, see `amago envs`, or my_package:make_env.", show_default=False)
]
EnvId = Annotated[str | None, _option("--id", "gym: CartPole-v1, or my_module:MyEnv-v0.")]
Games = Annotated[
    str | None,
    _option("--games", "Where there are several: which to play: one,another, or all.", metavar="NAMES"),
]
Goals = Annotated[str | None, _option("--goals", "crafter: the instruction wanted: 'stone pickaxe, collect iron'.")]
Observation = Annotated[options.Observation | None, _option("--obs", "crafter: what the agent sees.")]
Engine = Annotated[options.Engine | None, _option("--engine", "crafter: core of the game.")]
Reward = Annotated[
    options.Reward | None,
    _option("--reward", "crafter: what pays: instructions, or in free play the benchmark's achievements."),
]
Attempts = Annotated[int | None, _option("--attempts", "Attempts at the same task in one rollout.")]
Horizon = Annotated[int | None, _option("--horizon", "Steps of a rollout, all attempts together.")]

Offline = Annotated[
    str | None,
    _option(
        "--offline",
        "Learn from stored rollouts, play nothing: a run, or folder or id of a Minari dataset.",
        metavar="DATASET",
    ),
]
Run = Annotated[str | None, _option("--run", "Name of the new run.", metavar="NAME")]
Resume = Annotated[
    str | None,
    _option("--resume", "Go on with this run.", metavar="RUN", autocompletion=options.complete_run),
]
Steps = Annotated[int | None, _option("--steps", "Stop after so many environment steps in all.")]
Updates = Annotated[int | None, _option("--updates", "Stop after so many optimiser steps in all.")]
Minutes = Annotated[float | None, _option("--minutes", "Stop after so much training time in all.")]

Seed = Annotated[int | None, _option("--seed", "Seed of everything random.")]
Device = Annotated[options.Device | None, _option("--device", "Where the networks train.")]
Actors = Annotated[int | None, _option("--actors", "Environments played at once.")]
Workers = Annotated[int | None, _option("--workers", "Processes the environments live in.")]
Deterministic = Annotated[bool | None, _option("--deterministic", "Repeat exactly, at some cost in speed.")]

Relabel = Annotated[options.Relabel | None, _option("--relabel", "Hindsight relabelling of instructions.")]
Actor = Annotated[options.Crossing | None, _option("--actor", "Policy update.")]
Critic = Annotated[options.Crossing | None, _option("--critic", "Value update.")]

Preset = Annotated[
    str | None,
    _option("--preset", "Where to start: small (CPU), paper (GPU), tiny (tests) [what suits the environment]."),
]
ConfigFile = Annotated[
    Path | None,
    _option("--config", "TOML laid over the preset, or a run's config.json.", metavar="FILE"),
]
Assignments = Annotated[
    list[str] | None,
    _option("--set", "Any field: optimizer.batch_size=8; repeatable.", metavar="KEY=VALUE"),
]
ShowConfig = Annotated[bool, _option("--show-config", "Print every field with its meaning, and stop.")]
DryRun = Annotated[bool, _option("--dry-run", "Check, print the resolved configuration, and stop.")]
Detach = Annotated[bool, _option("--detach", "Train in the background and return.")]
Plain = Annotated[bool, _option("--plain", "Lines of text instead of the live screen.")]
