"""A run of three games in different units, made by hand and written through the store as a trainer would.

Every rollout has two attempts of two steps. In training rollout i the game's first attempt returns i/20 of what counts
as 1, its last attempt twice that; in evaluations 0.25 and 0.75 of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from gymnasium import spaces
from small_runs import write_state

from agent.config import Config, override
from agent.envs.base import EnvSpec, Game
from agent.game_tallies import game_values
from agent.reports.report import EvalReport, Header, summarise
from agent.reports.report import to_json as report_to_json
from agent.tallies import outcome
from store.atomic import write_json
from store.layout import RunPaths, Split
from store.metrics import MetricsWriter
from store.rollouts import RolloutWriter
from store.runs import create_run
from store.trajectory import Trajectory, TrajectoryInfo

GAMES = (
    Game("coins", low=0.0, high=8.0),
    Game("gold", low=0.0, high=800.0, scale=0.01),
    Game("silver", held_out=True, low=0.0, high=80.0),
)
TIME = spaces.Dict({"time": spaces.Box(0.0, 1.0, (1,), np.float32)})
SPEC = EnvSpec("own:games", TIME, spaces.Discrete(2), 4, 0, "", None, GAMES)


def played(game: Game, first: float, last: float, *, seed: int, split: Split = "train", step: int = 0) -> Trajectory:
    """A rollout whose attempts return these normalised returns."""
    assert game.high is not None
    paid = [share * game.high * game.scale for share in (first, last)]
    return Trajectory(
        observations={"time": np.array([0, 0.5, 0, 0.5, 1], np.float32)[:, None]},
        actions=np.zeros(4, np.int64),
        rewards=np.array([0, paid[0], 0, paid[1]], np.float32),
        terminated=np.array([False, False, False, True]),
        truncated=np.zeros(4, bool),
        is_first=np.array([True, False, True, False, False]),
        progress=np.zeros(5, np.uint8),
        instruction=np.zeros(0, np.int16),
        events=np.zeros((0, 2), np.int32),
        info=TrajectoryInfo(
            environment=SPEC.name,
            seed=seed,
            actor=0,
            split=split,
            cause="ended",
            wanted=False,
            policy_update=0,
            step=step,
            epsilon=0.0,
            game=game.name,
        ),
    )


def make_games_run(runs: Path, name: str, games: Sequence[Game] = GAMES, spec: EnvSpec = SPEC) -> RunPaths:
    """A finished run with rollouts of both splits, metrics and a report."""
    config = override(Config(), {"env.name": "own", "env.target": "games:make"}).model_dump(mode="json")
    paths = create_run(runs, name, config, {"command": "amago train games:make", "preset": "own"})
    write_state(paths, "finished", 1000)
    trained = [game for game in games if not game.held_out]
    rollouts = [played(trained[i % len(trained)], i / 20, i / 10, seed=2 * i, step=50 * (i + 1)) for i in range(20)]
    _store(paths, "train", rollouts, spec)
    metrics = MetricsWriter(paths, 0)
    for rollout in rollouts:
        values = game_values([outcome(spec, rollout)], spec.games)
        metrics.log(
            rollout.info.step, 0, {f"rollout/{key}": float(np.mean(each)) for key, each in values.items() if each}
        )
    metrics.close()
    episodes = [played(game, 0.25, 0.75, seed=2 * i + 1, split="eval") for game in games for i in range(3)]
    _store(paths, "eval", episodes, spec)
    paths.reports.mkdir()
    write_json(paths.reports / "eval-1000-games-20260101-000000.json", report_of(paths, episodes, spec))
    return paths


def report_of(paths: RunPaths, episodes: list[Trajectory], spec: EnvSpec = SPEC) -> dict[str, object]:
    """The report of an evaluation with these episodes, as JSON; the random policy played the same."""
    header = Header(
        checkpoint=str(paths.checkpoint(1000)),
        sha256={"weights.safetensors": "ab12" * 16},
        step=1000,
        rule="latest",
        policy="sampled",
        suite="games",
        episodes=3,
        seed=0,
        worlds="held-out worlds (odd seeds)",
        device="cpu",
        command="amago eval --checkpoint x",
        environment="own",
        settings={"target": "games:make"},
    )
    results = summarise(episodes, None, spec)
    return report_to_json(EvalReport(header, results, results))


def _store(paths: RunPaths, split: Split, rollouts: list[Trajectory], spec: EnvSpec) -> None:
    writer = RolloutWriter(paths, split, spec=spec.to_json())
    for rollout in rollouts:
        writer.append(rollout)
    writer.close()
