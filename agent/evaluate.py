"""Playing fixed instructions, or the environment's own tasks, on held-out worlds, a fixed number of episodes each.

Counts episodes, never steps, so that short episodes are not over-represented. Reports are made elsewhere.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import torch

from agent.catalog import make_env
from agent.checkpoint import load_model, read_meta
from agent.config import Config, from_mapping
from agent.device import resolve_device
from agent.env_config import EnvConfig
from agent.envs.base import EnvSpec
from agent.envs.vector import VectorEnv
from agent.interface import context_of
from agent.notes import Notebook
from agent.policy import ActionSource, Policy, UniformPolicy
from agent.progress import EvalProgress, Event, Listener
from agent.rollout import Collector
from agent.tasks import EvaluationTasks, make_sampler
from store.trajectory import Trajectory

_PROGRESS_EVERY = 0.5  # seconds


def evaluate(
    checkpoint: Path | None,
    config: Config,
    instructions: Sequence[tuple[int, ...]] | None,
    *,
    episodes: int,
    seed: int,
    device: str,
    greedy: bool,
    notify: Listener,
    stop: threading.Event,
    games: Sequence[str] = (),
    finished: Callable[[Trajectory], None] = lambda trajectory: None,
) -> list[Trajectory]:
    """Play every instruction `episodes` times; a uniformly random policy plays when `checkpoint` is None.

    Without `instructions` each of `episodes` worlds is played once, with an instruction drawn for it where the
    environment takes any; or, where the environment has several games, each of those worlds in each of `games`.

    `config` describes the environment and how many actors play at once. The trajectories come ordered by instruction,
    game, then world, whatever the timing; all of them unless `stop` is set meanwhile. `finished` is told of each one as
    soon as it is over. CheckpointError for a checkpoint that is damaged or made for another environment.
    """
    torch.set_num_threads(1)  # one step of a few actors is too small a job to share
    make = make_env(config.env)
    actors = min(config.collect.actors, episodes * len(instructions or games or (None,)))
    with VectorEnv(make, actors, config.collect.workers, config.collect.worker_timeout) as envs:
        policy = _policy(checkpoint, config.env, envs.spec, actors, device, greedy)
        tasks = EvaluationTasks(instructions, episodes, seed, make_sampler(config, envs.spec), games)
        collector = Collector(envs, policy, tasks, retry_lost=True)
        played = _play(collector, envs, len(tasks), notify, stop, finished)
    by_instruction = {instruction: row for row, instruction in reversed(list(enumerate(instructions or ())))}
    by_game = {game: row for row, game in enumerate(games)}
    return sorted(
        played,
        key=lambda t: (
            by_instruction.get(tuple(t.instruction.tolist()), 0),
            by_game.get(t.info.game, 0),
            t.info.seed,
        ),
    )


def _play(
    collector: Collector,
    envs: VectorEnv,
    total: int,
    notify: Listener,
    stop: threading.Event,
    finished: Callable[[Trajectory], None],
) -> list[Trajectory]:
    played: list[Trajectory] = []
    started = told = time.monotonic()
    while len(played) < total and not stop.is_set():
        for trajectory in collector.advance():
            played.append(trajectory)
            finished(trajectory)
        for incident in envs.incidents:
            notify(Event("warning", incident))
        envs.incidents.clear()
        if time.monotonic() - told >= _PROGRESS_EVERY:
            told = time.monotonic()
            notify(EvalProgress(len(played), total, told - started))
    notify(EvalProgress(len(played), total, time.monotonic() - started))
    return played


def _policy(
    checkpoint: Path | None, env: EnvConfig, spec: EnvSpec, num_actors: int, device: str, greedy: bool
) -> ActionSource:
    if checkpoint is None:
        return UniformPolicy(spec.action_space)
    trained_spec = _with_trained_length(checkpoint, env, spec)
    model, trained = load_model(checkpoint, trained_spec)
    context = context_of(trained.model, trained_spec)
    model = model.to(resolve_device(device))
    notebook = Notebook(model, trained.loss, num_actors)
    return Policy(model, num_actors, context, greedy=greedy, notebook=notebook)


def _with_trained_length(checkpoint: Path, env: EnvConfig, spec: EnvSpec) -> EnvSpec:
    """`spec` with rollouts as in training, where the evaluation asks for another number of attempts.

    The networks never see how long a rollout may be, and the window they remember stays that of training.
    """
    meta = read_meta(checkpoint)
    trained = from_mapping(meta["config"]).env
    if (trained.attempts, trained.horizon) == (env.attempts, env.horizon):
        return spec
    said = meta["environment"]
    return replace(spec, max_steps=said.get("max_steps"), free_attempts=said.get("free_attempts", 0))
