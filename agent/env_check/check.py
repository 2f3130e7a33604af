"""All checks of an environment, from a few hundred random steps in this process and some in a worker."""

from __future__ import annotations

import math
from collections.abc import Iterator

from agent.env_check import checks, told
from agent.env_check.finding import Finding, found
from agent.env_check.plays import Play, Subject
from agent.envs.adapted import error_line
from agent.envs.base import EnvSpec, Task
from agent.envs.block import MakeEnv
from agent.envs.gym import GymEnv
from agent.envs.vector import VectorEnv
from store.errors import AmagoError

_ATTEMPTS = ((0, 0), (0, 1), *((seed, 0) for seed in range(1, 30)))  # seed and number, begun while steps are missing
_MIN_ATTEMPTS, _MIN_STEPS = 4, 400
_STEPS = 100  # of each attempt
_LONGEST = 1000  # steps played to see the end of an attempt
_SECONDS = 5.0  # of each attempt
_GAME_STEPS, _GAME_SECONDS, _MAX_GAMES = 5, 1.0, 20
_WORKER_STEPS, _WORKER_SECONDS = 10, 60.0


def check_environment(make_env: MakeEnv) -> tuple[EnvSpec | None, list[Finding]]:
    """What the environment says of itself, None if it cannot be made, and what the checks found.

    `make_env` makes one attempt's environment. Something of an environment that fails is not checked further.
    """
    try:
        env = make_env()
        spec = EnvSpec.from_env(env)
    except AmagoError as error:
        return None, [Finding("made", False, str(error))]
    subject = Subject(env)
    try:
        return spec, list(_check(make_env, spec, subject))
    finally:
        env.close()


def _check(make_env: MakeEnv, spec: EnvSpec, subject: Subject) -> Iterator[Finding]:
    yield Finding("made", True, spec.name)
    yield from checks.encoders(spec)
    yield checks.actions(spec)
    plays = _play(spec, subject)
    yield checks.runs(plays)
    yield checks.inside(subject.original_space, plays)
    yield checks.types(subject.original_space, plays)
    yield checks.rewards(plays)
    yield checks.ends(spec, plays)
    if not isinstance(subject.env, GymEnv):  # of whose info nothing is kept
        yield told.info(spec, plays)
    yield told.masks(spec, plays)
    tried = [
        subject.play(0, game=game.name, most=_GAME_STEPS, seconds=_GAME_SECONDS) for game in spec.games[:_MAX_GAMES]
    ]
    yield checks.games(spec, tried)
    once = max((play for play in plays if not play.attempt), key=lambda play: len(play.actions))
    if not any(play.error for play in plays):
        again = subject.play(once.seed, game=once.game, most=0, seconds=math.inf, actions=once.actions)
        yield from checks.repeats(once, again)
        yield _in_a_worker(make_env, once)
        yield checks.speed(plays)


def _play(spec: EnvSpec, subject: Subject) -> list[Play]:
    """The attempts that most checks look at; the first goes on to its end if that can be near."""
    game = next((game.name for game in spec.games if not game.held_out), "")
    most = spec.max_steps if spec.max_steps <= _LONGEST else _STEPS
    plays: list[Play] = []
    for seed, attempt in _ATTEMPTS:
        plays.append(subject.play(seed, game=game, attempt=attempt, most=most, seconds=_SECONDS))
        most = _STEPS
        if len(plays) >= _MIN_ATTEMPTS and sum(len(play.actions) for play in plays) >= _MIN_STEPS:
            break
    return plays


def _in_a_worker(make_env: MakeEnv, once: Play) -> Finding:
    """Whether the environment can be made in another process, and is the same there."""
    try:
        with VectorEnv(make_env, 1, 1, timeout=_WORKER_SECONDS) as worker:
            worker.reset([0], [Task(once.seed, game=once.game)])
            same = [_same_row(worker, once.seen[0])]
            for action, seen in zip(once.actions[:_WORKER_STEPS], once.seen[1:], strict=False):
                worker.step([action])
                same.append(_same_row(worker, seen))
            problem = worker.incidents[0].splitlines()[0] if worker.incidents else ""
    except Exception as error:
        return Finding("workers", False, f"it cannot be made in another process: {error_line(error)}")
    if not problem and not all(same):
        problem = f"another process saw something else at step {same.index(False)}: what is drawn there has no seed"
    return found("workers", problem, "another process plays the same")


def _same_row(worker: VectorEnv, seen: dict) -> bool:
    return all(checks.same(worker.observations[name][0], value) for name, value in seen.items())
