"""A Minari dataset as trajectories of ours, and the environment they are from, if it can be played here.

Episodes become rollouts of one attempt; what amago exported becomes the rollouts it was. Nothing that a dataset names
is imported or run: a Gymnasium id counts only if it is registered already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
from gymnasium import Space, spaces

from agent.catalog import make_env
from agent.config import Config, override
from agent.contents import require_possible, spec_from_json
from agent.envs.base import EnvSpec
from agent.envs.foreign_spaces import read_actions, read_states, space_of
from agent.envs.gym_spaces import Entry, flat_observation
from store.errors import AmagoError, StorageError
from store.minari_join import join_attempts
from store.minari_reader import MinariDataset, MinariEpisode, read_episodes, read_lengths
from store.trajectory import MAX_TEXT_BYTES, Trajectory, TrajectoryInfo

_ONLY_SHOWN = ("render_mode",)  # options of an environment that change nothing of what is played


@dataclass(frozen=True)
class Imported:
    """What a run is made of."""

    spec: EnvSpec
    env: dict[str, Any]  # the `env` section of the configuration, as changes to it: "env.name": ...
    unplayable: str  # why the environment cannot be played, so that nothing can be evaluated; empty if it can
    trajectories: Iterator[Trajectory]  # to be read once; StorageError at the first that is damaged


def import_dataset(dataset: MinariDataset, env_id: str | None) -> Imported:
    """The trajectories of `dataset`; `env_id` says which Gymnasium environment it is from, if the dataset does not.

    AmagoError if the agent can neither see what was observed nor do what was done, or if `env_id` does not fit.
    """
    if dataset.ours and env_id is None:
        return _import_ours(dataset)
    observed, acted = space_of(dataset.observation_space), space_of(dataset.action_space)
    if observed is None or acted is None:
        raise AmagoError(f"dataset {dataset.id} holds only text, which the agent cannot read")
    try:
        action_space, act = read_actions(acted)
        num_actions = int(action_space.n) if isinstance(action_space, spaces.Discrete) else None
        entries = flat_observation(observed, num_actions)
    except AmagoError as error:
        raise AmagoError(f"dataset {dataset.id}: {error}") from None
    stored = _stored_spec(dataset, entries, action_space)
    env, spec, unplayable = _environment(dataset, stored, env_id)
    return Imported(spec, env, unplayable, _convert(dataset, spec, entries, act))


def _import_ours(dataset: MinariDataset) -> Imported:
    spec = spec_from_json(dataset.ours.get("environment"))
    section = dataset.ours.get("env")
    env = {f"env.{key}": value for key, value in section.items()} if isinstance(section, dict) else {}
    unplayable = _cannot_be_named({"id": env.get("env.id")}) if env.get("env.name") == "gym" else ""
    if env.get("env.name") == "own":
        unplayable = "it is from an environment of somebody's own: no file chooses which program is called"
    if not unplayable:
        _, unplayable = _look_at(env, spec)
    if unplayable:
        env = _unknown(dataset)
    return Imported(spec, env, unplayable, _checked(join_attempts(read_episodes(dataset), "train"), spec))


def _checked(trajectories: Iterator[Trajectory], spec: EnvSpec) -> Iterator[Trajectory]:
    for trajectory in trajectories:
        require_possible(trajectory, spec)
        yield trajectory


def _stored_spec(dataset: MinariDataset, entries: dict[str, Entry], action_space: Space) -> EnvSpec:
    """What is known of an environment from its data alone."""
    return EnvSpec(
        name=f"minari:{dataset.id}".encode()[:MAX_TEXT_BYTES].decode(errors="ignore").replace("\0", ""),
        observation_space=spaces.Dict({name: entry.space for name, entry in entries.items()}),
        action_space=action_space,
        max_steps=max(read_lengths(dataset), default=1),
        max_instruction=0,
        vocabulary="",
        success_return=None,
    )


def _environment(dataset: MinariDataset, stored: EnvSpec, env_id: str | None) -> tuple[dict[str, Any], EnvSpec, str]:
    """The configuration of the environment, its spec, and why it cannot be played, if so."""
    reason = "" if env_id else _cannot_be_named(dataset.env_spec)
    if not reason:
        env = {"env.name": "gym", "env.id": env_id or dataset.env_spec["id"]}
        limit = dataset.env_spec.get("max_episode_steps")
        if isinstance(limit, int) and not isinstance(limit, bool) and limit > 0:
            env["env.max_steps"] = limit
        spec, reason = _look_at(env, stored)
        if spec is not None:
            return env, spec, ""
    if env_id:
        raise AmagoError(f"dataset {dataset.id} is not from {env_id}: {reason}")
    return _unknown(dataset), stored, reason


def _unknown(dataset: MinariDataset) -> dict[str, Any]:
    return {"env.name": "stored", "env.dataset": dataset.id[:200]}


def _cannot_be_named(env_spec: dict[str, Any]) -> str:
    """Why Gymnasium's own description of an environment is not enough to play it; empty if it is."""
    env_id = env_spec.get("id")
    if not isinstance(env_id, str):
        return "the dataset does not say which environment it is from"
    if env_id not in gymnasium.registry:
        return f"{env_id[:80]!r} is not registered here; if it is yours, give --id my_module:Name-v0"
    usual = gymnasium.registry[env_id].kwargs
    options = {**usual, **(env_spec.get("kwargs") or {})}
    changed = [key for key, value in options.items() if key not in _ONLY_SHOWN and value != usual.get(key)]
    if changed or env_spec.get("additional_wrappers"):
        return f"{env_id} was played with options or wrappers of its own"
    return ""


def _look_at(changes: dict[str, Any], stored: EnvSpec) -> tuple[EnvSpec | None, str]:
    """The spec of the environment that `changes` configure; None and the reason if it is not that of the data."""
    try:
        env = make_env(override(Config(), changes).env)()
        spec = EnvSpec.from_env(env)
        env.close()
    except AmagoError as error:
        return None, str(error)
    pairs = [(stored.observation_space, spec.observation_space), (stored.action_space, spec.action_space)]
    if any(ours != theirs for ours, theirs in pairs):
        return None, f"what {spec.name} observes or does is not what the dataset holds"
    return spec, ""


def _convert(
    dataset: MinariDataset, spec: EnvSpec, entries: dict[str, Entry], act: Callable[[np.ndarray], np.ndarray]
) -> Iterator[Trajectory]:
    step = 0
    for number, episode in enumerate(read_episodes(dataset)):
        step += episode.length
        try:
            trajectory = _trajectory(episode, spec, entries, act, step)
        except (ValueError, TypeError, IndexError, KeyError, OverflowError) as error:
            raise StorageError(f"episode {number} of dataset {dataset.id} is damaged: {error}") from None
        require_possible(trajectory, spec)
        yield trajectory


def _trajectory(
    episode: MinariEpisode,
    spec: EnvSpec,
    entries: dict[str, Entry],
    act: Callable[[np.ndarray], np.ndarray],
    step: int,
) -> Trajectory:
    """One rollout of one attempt; an episode without an end counts as cut off by time."""
    length, truncated = episode.length, episode.truncations & ~episode.terminations
    truncated[-1] |= not episode.terminations[-1]
    return Trajectory(
        observations={name: read_states(entry, episode.observations) for name, entry in entries.items()},
        actions=act(np.asarray(episode.actions)),
        rewards=episode.rewards.astype(np.float32),
        terminated=episode.terminations,
        truncated=truncated,
        is_first=np.arange(length + 1) == 0,
        progress=np.zeros(length + 1, np.uint8),
        instruction=np.zeros(0, np.int16),
        events=np.zeros((0, 2), np.int32),
        info=TrajectoryInfo(
            environment=spec.name,
            seed=episode.seed,
            actor=0,
            split="train",
            cause="ended" if episode.terminations[-1] else "time limit",
            wanted=False,
            policy_update=0,
            step=step,
            epsilon=0.0,
        ),
    )
