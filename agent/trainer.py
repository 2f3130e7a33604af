"""A running training: the parts wired together, and the cycles in which they work.

A cycle is `collect.publish_every` updates and the collecting that goes with them; at its end the collector gets new
weights, metrics are logged, and a checkpoint is written when one is due. Every part can be read on its own.
"""

from __future__ import annotations

import platform
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch

from agent import checkpoint as checkpoints
from agent.archive import Archive
from agent.batch import ACTION_MASK
from agent.catalog import make_env
from agent.checkpoint import Checkpoint
from agent.clock import Clock
from agent.collate import as_batch
from agent.collector import advanced
from agent.config import Config
from agent.device import resolve_device
from agent.envs.base import EnvSpec
from agent.experience import Experience, InlineExperience, ProcessExperience
from agent.forward import build_model
from agent.heartbeat import Heartbeat
from agent.interface import interface_of
from agent.learner import Learner
from agent.nets.model import acting_tensors
from agent.pace import Pace
from agent.progress import Event, Listener, Progress
from agent.tallies import rollout_metrics
from store.errors import CheckpointError, StorageError
from store.layout import RunPaths
from store.metrics import MetricsWriter
from store.trajectory import Trajectory

_IDLE = 0.05  # seconds to wait for experience when no update is due


@dataclass(frozen=True)
class Outcome:
    """How a training run ended."""

    reason: str  # "steps", "minutes" or "stopped"
    step: int
    update: int
    elapsed: float  # seconds
    checkpoint: Path


class Trainer:
    """The parts of a running training, wired together."""

    def __init__(
        self,
        config: Config,
        paths: RunPaths,
        saved: Checkpoint | None,
        heartbeat: Heartbeat,
        notify: Listener,
    ) -> None:
        self.config, self.paths = config, paths
        self._heartbeat, self._notify = heartbeat, notify
        compiled = " (the first time it is compiled: about half a minute)" if config.env.name == "crafter" else ""
        notify(Event("info", f"preparing {config.env.name}{compiled}"))
        self._spec = _environment_spec(config)
        if saved:
            checkpoints.require_environment(paths.checkpoint(saved.meta["step"]), saved.meta, self._spec)
        self._learner = _new_learner(self._spec, config, saved)
        self._archive = Archive(config, paths, self._spec)
        self._rng = np.random.default_rng((config.run.seed, 2))
        self._pace = Pace(config.replay.steps_per_update, 2 * config.collect.publish_every, config.replay.warmup_steps)
        self._best_score: float | None = None
        self._fresh: list[Trajectory] = []  # rollouts finished in this cycle
        self._losses: list[dict[str, float]] = []  # of the updates of this cycle
        self._sampling_seconds = 0.0
        try:
            experience = self._restore(saved.state) if saved else None
        except (KeyError, TypeError, AttributeError) as error:
            raise CheckpointError(f"the checkpoint's {checkpoints.STATE} is not what amago writes: {error!r}") from None
        self._metrics = MetricsWriter(paths, saved.meta["step"] if saved else 0)
        self._experience = self._new_experience(experience)  # last: nothing after it may fail and leave a process
        elapsed = saved.meta["elapsed"] if saved else 0.0
        self._clock = Clock(config.run, elapsed, self.step, self._learner.update_count)
        self._saved_at = self._clock.elapsed

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._experience.close()
        for writer in (self._archive, self._metrics):
            with suppress(StorageError):
                writer.close()

    @property
    def step(self) -> int:
        """Environment steps of the run so far."""
        return self._experience.step

    def run(self, stop: threading.Event) -> Outcome:
        """Cycle after cycle, until the budget is used up or `stop` is set; then save."""
        self._publish()
        path, step = self._save()  # from now on a killed run can be resumed
        reported = time.monotonic()
        reason = None
        while reason is None:
            for _ in self._cycle(stop):
                if time.monotonic() - reported >= self.config.run.log_every:
                    self._report()
                    reported = time.monotonic()
            self._end_cycle()
            reason = "stopped" if stop.is_set() else self._clock.finished(self.step)
            due = self._clock.elapsed - self._saved_at >= 60 * self.config.run.checkpoint_every
            if reason or due:
                path, step = self._save()
        self._report()
        return Outcome(reason, step, self._learner.update_count, self._clock.elapsed, path)

    def _cycle(self, stop: threading.Event) -> Iterator[None]:
        """`publish_every` updates and the collecting that goes with them; yields whenever there is time to report.

        A deterministic run always ends its cycle, so that it stops only where it can be continued exactly.
        """
        goal = self._learner.update_count + self.config.collect.publish_every
        hurried = not self.config.run.deterministic
        while self._learner.update_count < goal:
            if hurried and (stop.is_set() or self._clock.finished(self.step)):
                return
            ready = self._collect()
            if ready:
                self._update()
            yield

    def _collect(self) -> bool:
        """Take in what was collected; returns whether an update is due."""
        allowed = self._allowed_step()
        self._take(self._experience.poll(allowed, 0.0 if self._is_update_due() else _IDLE))
        if self.config.run.deterministic and self.step < allowed:
            return False  # the order of collecting and learning must not depend on the clock
        return self._is_update_due()

    def _is_update_due(self) -> bool:
        return self._archive.num_steps > 0 and self._pace.updates_due(self.step) > self._learner.update_count

    def _allowed_step(self) -> int:
        """Step up to which may be collected now: ahead of the learner by its lead, or until a first rollout ends."""
        allowed = self._pace.allowed_step(self._learner.update_count)
        deterministic = self.config.run.deterministic
        if not self._archive.num_steps:
            allowed = max(allowed, self.step + (1 if deterministic else self._pace.lead_steps))
        if self.config.run.steps and not deterministic:
            allowed = min(allowed, self.config.run.steps)
        return allowed

    def _take(self, trajectories: list[Trajectory]) -> None:
        for trajectory in trajectories:
            self._archive.add(trajectory)
        self._fresh += trajectories
        for incident in self._experience.incidents:
            self._notify(Event("warning", incident))
        self._experience.incidents.clear()

    def _update(self) -> None:
        begun = time.perf_counter()
        arrays = self._archive.sample(self.config.optimizer.batch_size, self._rng)
        self._sampling_seconds += time.perf_counter() - begun
        self._losses.append(self._learner.update(as_batch(arrays), self._rng))

    def _publish(self) -> None:
        self._experience.publish(acting_tensors(self._learner.model), self._learner.update_count)

    def _end_cycle(self) -> None:
        """Hand over the weights and log what the cycle brought."""
        self._publish()
        values = rollout_metrics(self._fresh, self._spec)
        if self._losses:
            values |= {f"train/{key}": float(np.mean([row[key] for row in self._losses])) for key in self._losses[0]}
            values["system/sampling_seconds"] = self._sampling_seconds
        self._metrics.log(self.step, self._learner.update_count, values)
        self._metrics.flush()
        self._fresh, self._losses, self._sampling_seconds = [], [], 0.0

    def _report(self) -> None:
        step, update = self.step, self._learner.update_count
        self._clock.mark(step, update)
        phase = "learning" if update else "warm-up"
        self._heartbeat.beat(step, update, phase)
        speeds = {
            "system/steps_per_second": self._clock.steps_per_second,
            "system/updates_per_second": self._clock.updates_per_second,
        }
        self._metrics.log(step, update, speeds)
        self._metrics.flush()
        self._notify(
            Progress(
                phase=phase,
                step=step,
                update=update,
                rollouts=self._archive.recent.count,
                steps_per_second=self._clock.steps_per_second,
                updates_per_second=self._clock.updates_per_second,
                elapsed=self._clock.elapsed,
                remaining=self._clock.remaining(step),
                fraction=self._clock.fraction(step),
                success=self._archive.recent.success,
                wanted=self._archive.recent.wanted,
                subgoals=self._archive.recent.subgoals,
                mean_return=self._archive.recent.mean_return,
                attempts=self._archive.recent.attempts,
                losses=self._losses[-1] if self._losses else {},
            )
        )

    def _new_experience(self, state: dict[str, Any] | None) -> Experience:
        if self.config.run.deterministic:
            return InlineExperience(self.config, state)
        return ProcessExperience(self.config, state, acting_tensors(self._learner.model))

    def _save(self) -> tuple[Path, int]:
        """Write a checkpoint, after everything that it has counted is stored; returns its path and its step."""
        experience, finished = self._experience.snapshot()
        self._take(finished)
        self._archive.seal()
        score = self._archive.recent.score
        is_best = score is not None and (self._best_score is None or score > self._best_score)
        if is_best:
            self._best_score = score
        state = {
            "experience": experience,
            "archive": self._archive.snapshot(),
            "rng": self._rng.bit_generator.state,
            "free_steps": self._pace.free_steps,
            "best_score": self._best_score,
        }
        meta = {
            "step": experience["collector"]["step"],
            "update": self._learner.update_count,
            "elapsed": self._clock.elapsed,
            "saved": time.time(),
            "config": self.config.model_dump(mode="json"),
            "environment": self._spec.to_json(),
            "versions": {
                "torch": torch.__version__,
                "numpy": np.__version__,
                "python": platform.python_version(),
            },
        }
        weights = {name: tensor.contiguous() for name, tensor in self._learner.model.state_dict().items()}
        path = checkpoints.save(self.paths, Checkpoint(weights, self._learner.state(), state, meta))
        if is_best:
            checkpoints.point(self.paths, "best", path)
        checkpoints.prune(self.paths, self.config.run.keep_checkpoints)
        self._saved_at = self._clock.elapsed
        self._notify(Event("checkpoint", f"checkpoint {path.name} written"))
        return path, meta["step"]

    def _restore(self, state: dict[str, Any]) -> dict[str, Any]:
        """Continue from `state`; returns the collector's part of it.

        Rollouts that were stored after the checkpoint count too, and their worlds are not played again.
        """
        later, problems = self._archive.restore(state["archive"])
        for problem in problems:
            self._notify(Event("warning", f"{problem}; its rollouts are left out"))
        self._rng.bit_generator.state = state["rng"]
        self._best_score = state["best_score"]
        self._pace = replace(self._pace, free_steps=state["free_steps"])
        missing = min(self.config.replay.warmup_steps, state["archive"]["num_steps"]) - self._archive.num_steps
        if missing > 0 and self._learner.update_count:
            self._notify(Event("warning", f"stored rollouts are missing: collecting {missing} steps before learning"))
            self._pace = self._pace.refilled(missing)
        return advanced(state["experience"], later)


def _environment_spec(config: Config) -> EnvSpec:
    """What the environment says of itself. Playing it here once compiles it for the processes that come."""
    env = make_env(config.env)()
    observation, _ = env.reset(seed=0)
    legal = observation.get(ACTION_MASK)
    env.step(env.action_space.sample() if legal is None else int(legal.argmax()))
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
