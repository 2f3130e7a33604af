"""The state of a training run, and the cycles in which it advances.

A cycle is `collect.publish_every` updates and the collecting that goes with them; at its end the collector gets new
weights. When a run is saved, evaluated or stopped is not decided here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from agent import checkpoint as checkpoints
from agent.archive import Archive
from agent.catalog import make_env
from agent.checkpoint import Checkpoint
from agent.collate import as_batch
from agent.collector import advanced
from agent.config import Config
from agent.device import resolve_device
from agent.envs.base import EnvSpec
from agent.envs.rehearsal import rehearse
from agent.experience import Experience, InlineExperience, ProcessExperience
from agent.forward import build_model
from agent.goals.vocabularies import vocabulary
from agent.interface import interface_of
from agent.learner import Learner
from agent.logbook import Logbook
from agent.nets.model import acting_tensors
from agent.offline import StoredExperience, offline_pace, stored_spec
from agent.pace import Pace
from agent.progress import Event
from agent.tallies import RecentRollouts, rollout_metrics
from store.errors import CheckpointError, StorageError
from store.layout import RunPaths
from store.trajectory import Trajectory

_IDLE = 0.05  # seconds to wait for experience when no update is due


class Cycles:
    """The parts that collect and learn, wired together."""

    def __init__(self, config: Config, paths: RunPaths, saved: Checkpoint | None, logbook: Logbook) -> None:
        self.config = config
        self._logbook = logbook
        self.spec = self._prepare(paths)
        if saved:
            checkpoints.require_environment(paths.checkpoint(saved.meta["step"]), saved.meta, self.spec)
        self.learner = _new_learner(self.spec, config, saved)
        self._archive = Archive(config, paths, self.spec)
        self._rng = np.random.default_rng((config.run.seed, 2))
        self._pace = _pace(config)
        self._fresh: list[Trajectory] = []  # rollouts finished in this cycle
        self._losses: list[dict[str, float]] = []  # of the updates of this cycle
        self._sampling_seconds = 0.0
        try:
            experience = self._restore(saved.state) if saved else self._begin()
        except (KeyError, TypeError, AttributeError) as error:
            raise CheckpointError(f"the checkpoint's {checkpoints.STATE} is not what amago writes: {error!r}") from None
        logbook.open(resolve_device(config.run.device))
        self._experience = self._new_experience(experience)  # last: nothing after it may fail and leave a process

    def close(self) -> None:
        """End the collecting; what has been collected is put on disk if that is possible."""
        self._experience.close()
        with suppress(StorageError):
            self._archive.close()

    @property
    def step(self) -> int:
        """Environment steps of the run so far."""
        return self._experience.step

    @property
    def update(self) -> int:
        """Optimiser steps of the run so far."""
        return self.learner.update_count

    @property
    def recent(self) -> RecentRollouts:
        """The newest rollouts."""
        return self._archive.recent

    @property
    def newest_losses(self) -> dict[str, float]:
        """Of the newest update in this cycle; empty before it."""
        return self._losses[-1] if self._losses else {}

    def publish(self) -> None:
        """Hand the weights to the collector."""
        self._experience.publish(acting_tensors(self.learner.model), self.update)

    def run(self, is_over: Callable[[], bool]) -> Iterator[None]:
        """One cycle, then the hand-over of weights and metrics; yields whenever there is time for something else.

        A deterministic run always ends its cycle, so that whatever comes after it finds a state that can be continued
        exactly; any other ends it early once it `is_over`.
        """
        goal = self.update + self.config.collect.publish_every
        hurried = not self.config.run.deterministic
        while self.update < goal and not (hurried and is_over()):
            if self._collect():
                self._learn()
            yield
        self.publish()
        self._log()

    def hold(self) -> None:
        """Collect no further for now; take in what is finished."""
        self._take(self._experience.poll(self.step, 0.0))

    def snapshot(self) -> dict[str, Any]:
        """All but the learner's state, as JSON's own types; everything that it counts is stored before."""
        experience, finished = self._experience.snapshot()
        self._take(finished)
        self._archive.seal()
        return {
            "experience": experience,
            "archive": self._archive.snapshot(),
            "rng": self._rng.bit_generator.state,
            "free_steps": self._pace.free_steps,
        }

    def _prepare(self, paths: RunPaths) -> EnvSpec:
        """What is known of the environment before anything is built."""
        if self.config.replay.offline:
            self._logbook.notify(Event("info", "reading the stored rollouts: nothing is played"))
            return stored_spec(paths)
        name = self.config.env.name
        compiled = " (the first time it is compiled: about half a minute)" if name == "crafter" else ""
        self._logbook.notify(Event("info", f"preparing {name}{compiled}"))
        return _environment_spec(self.config)

    def _begin(self) -> None:
        """A run that plays nothing begins with what is stored, any other with nothing."""
        if not self.config.replay.offline:
            return
        stored, problems = self._archive.take_stored()
        self._tell_damage(problems)
        if stored > self._archive.num_steps:
            fit = f"the newest {self._archive.num_steps:,} of {stored:,} stored steps"
            self._logbook.event("warning", f"only {fit} are learned from: replay.max_steps allows no more")

    def _tell_damage(self, problems: list[str]) -> None:
        for problem in problems:
            self._logbook.event("warning", f"{problem}; its rollouts are left out")

    def _restore(self, state: dict[str, Any]) -> dict[str, Any]:
        """Continue from `state`; returns the collector's part of it.

        Rollouts that were stored after the checkpoint count too, and their worlds are not played again.
        """
        later, problems = self._archive.restore(state["archive"])
        self._tell_damage(problems)
        self._rng.bit_generator.state = state["rng"]
        self._pace = replace(self._pace, free_steps=state["free_steps"])
        missing = min(self.config.replay.warmup_steps, state["archive"]["num_steps"]) - self._archive.num_steps
        if missing > 0 and self.update and not self.config.replay.offline:
            self._logbook.event("warning", f"stored rollouts are missing: collecting {missing} steps before learning")
            self._pace = self._pace.refilled(missing)
        return advanced(state["experience"], later)

    def _new_experience(self, state: dict[str, Any] | None) -> Experience:
        if self.config.replay.offline:
            return StoredExperience(state)
        if self.config.run.deterministic:
            return InlineExperience(self.config, state)
        return ProcessExperience(self.config, state, acting_tensors(self.learner.model))

    def _collect(self) -> bool:
        """Take in what was collected; returns whether an update is due."""
        allowed = self._allowed_step()
        self._take(self._experience.poll(allowed, 0.0 if self._is_update_due() else _IDLE))
        if self.config.run.deterministic and self.step < allowed:
            return False  # the order of collecting and learning must not depend on the clock
        return self._is_update_due()

    def _is_update_due(self) -> bool:
        return self._archive.num_steps > 0 and self._pace.updates_due(self.step) > self.update

    def _allowed_step(self) -> int:
        """Step up to which may be collected now: ahead of the learner by its lead, or until a first rollout ends."""
        allowed = self._pace.allowed_step(self.update)
        deterministic = self.config.run.deterministic
        if not self._archive.num_steps:
            allowed = max(allowed, self.step + (1 if deterministic else self._pace.lead_steps))
        if self.config.run.steps and not deterministic:
            allowed = min(allowed, self.config.run.steps)
        return allowed

    def _take(self, trajectories: list[Trajectory]) -> None:
        self._logbook.stands_at(self.step, self.update)
        for trajectory in trajectories:
            known = self._archive.reached
            self._archive.add(trajectory)
            self._celebrate(self._archive.reached - known)
        self._fresh += trajectories
        for incident in self._experience.incidents:
            self._logbook.event("warning", incident)
        self._experience.incidents.clear()

    def _celebrate(self, goals: frozenset[int]) -> None:
        """Note what no rollout of the run has reached before."""
        known = vocabulary(self.spec.vocabulary)
        for goal in sorted(goals & known.milestones):
            self._logbook.event("achievement", f"{known.names[goal]} for the first time")

    def _learn(self) -> None:
        begun, known_lost = time.perf_counter(), self._archive.num_lost
        arrays = self._archive.sample(self.config.optimizer.batch_size, self._rng)
        self._sampling_seconds += time.perf_counter() - begun
        if lost := self._archive.num_lost - known_lost:
            self._logbook.event("warning", f"rollouts have vanished from the disk: {lost} fewer are replayed")
        self._losses.append(self.learner.update(as_batch(arrays), self._rng))

    def _log(self) -> None:
        """The metrics of this cycle."""
        values = rollout_metrics(self._fresh, self.spec)
        if (score := self._archive.crafter_score) is not None:
            values["rollout/crafter_score"] = score
        if self._losses:
            values |= {f"train/{key}": float(np.mean([row[key] for row in self._losses])) for key in self._losses[0]}
            values["system/sampling_seconds"] = self._sampling_seconds
        self._logbook.stands_at(self.step, self.update)
        self._logbook.metrics(values)
        self._fresh, self._losses, self._sampling_seconds = [], [], 0.0


def _pace(config: Config) -> Pace:
    if config.replay.offline:
        return offline_pace(config.collect.publish_every)
    return Pace(config.replay.steps_per_update, 2 * config.collect.publish_every, config.replay.warmup_steps)


def _environment_spec(config: Config) -> EnvSpec:
    """What the environment says of itself. Playing it here once compiles it for the processes that come."""
    env = make_env(config.env)()
    rehearse(env)
    env.close()
    return EnvSpec.from_env(env)


def _new_learner(spec: EnvSpec, config: Config, saved: Checkpoint | None) -> Learner:
    torch.manual_seed(config.run.seed)
    model = build_model(interface_of(spec), config).to(resolve_device(config.run.device))
    learner = Learner(model, config)
    if saved:
        checkpoints.load_weights(model, saved.weights)
        learner.load_state(saved.optimizer, saved.meta["update"])
    return learner
