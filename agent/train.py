"""A training run from its first step, or from its last checkpoint, to its budget.

Wires the parts together and keeps the clock; every part can be read on its own. A run proceeds in cycles of
`collect.publish_every` updates; at the end of each the collector gets new weights, metrics are logged, and checkpoints
are written when they are due.
"""

from __future__ import annotations

import os
import platform
import sys
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
from agent.catalog import ENVIRONMENTS
from agent.checkpoint import Checkpoint
from agent.clock import Clock
from agent.collate import as_batch
from agent.collector import Experience, InlineExperience, ProcessExperience
from agent.config import Config
from agent.device import resolve_device
from agent.envs.base import EnvSpec
from agent.forward import build_model
from agent.goals.grammar import parse_instruction
from agent.goals.vocabulary import NUM_GOALS
from agent.interface import interface_of
from agent.learner import Learner
from agent.nets.model import acting_tensors
from agent.pace import Pace
from agent.progress import Event, Listener, Progress
from agent.relabel import GoalStatistics
from agent.replay import Replay
from agent.tallies import RecentRollouts, rollout_metrics
from store.errors import AmagoError, DivergedError, StorageError
from store.layout import RunPaths
from store.metrics import MetricsWriter
from store.rollouts import RolloutReader, RolloutWriter
from store.status import State, Status, write_status
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


def train(config: Config, paths: RunPaths, *, resume: bool, notify: Listener, stop: threading.Event) -> Outcome:
    """Train until the budget is used up or `stop` is set, then write a checkpoint.

    The caller holds the run's lock. Errors leave the last checkpoint as it is and are told in status.json.
    """
    torch.set_num_threads(config.run.threads or os.cpu_count() or 1)
    torch.set_flush_denormal(True)  # probabilities of far value bins underflow, and denormals are slow
    saved = _load_latest(config, paths, notify) if resume else None
    heartbeat = Heartbeat(paths)
    try:
        with Trainer(config, paths, saved, heartbeat, notify) as trainer:
            outcome = trainer.run(stop)
    except BaseException as error:
        heartbeat.end("diverged" if isinstance(error, DivergedError) else "crashed", str(error) or repr(error))
        raise
    heartbeat.end("stopped" if outcome.reason == "stopped" else "finished", outcome.reason)
    return outcome


class Heartbeat:
    """Keeps status.json up to date."""

    def __init__(self, paths: RunPaths) -> None:
        now = time.time()
        command = " ".join(Path(word).name if i == 0 else word for i, word in enumerate(sys.argv))
        self._paths = paths
        self._status = Status(
            state="running",
            pid=os.getpid(),
            host=platform.node(),
            started=now,
            heartbeat=now,
            command=command,
        )
        write_status(paths, self._status)

    def beat(self, step: int, update: int, phase: str) -> None:
        """Say that the run is alive, and where it is."""
        self._status = replace(self._status, heartbeat=time.time(), step=step, update=update, phase=phase)
        write_status(self._paths, self._status)

    def end(self, state: State, message: str) -> None:
        """Say how the run ended, if the disk still lets us."""
        with suppress(StorageError):
            write_status(self._paths, replace(self._status, heartbeat=time.time(), state=state, message=message))


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
        notify(Event("info", f"preparing {config.env.name} (the first time it is compiled: about half a minute)"))
        self._spec = _environment_spec(config)
        self._learner = _new_learner(self._spec, config, saved)
        self._statistics = GoalStatistics(NUM_GOALS)
        wanted = parse_instruction(config.task.goals) if config.task.goals else ()
        self._recent = RecentRollouts(wanted)
        self._replay = Replay(config.replay.max_steps, config.model.context, self._spec.max_instruction)
        self._rng = np.random.default_rng((config.run.seed, 2))
        self._pace = Pace(config.replay.steps_per_update, 2 * config.collect.publish_every, config.replay.warmup_steps)
        self._best_score = -1.0
        self._stored = 0  # number of the last rollout handed to the store
        self._fresh: list[Trajectory] = []  # rollouts finished in this cycle
        self._losses: list[dict[str, float]] = []  # of the updates of this cycle
        self._sampling_seconds = 0.0
        experience = self._restore(saved.state) if saved else None
        self._writer = RolloutWriter(paths, "train", spec=self._spec.to_json())
        self._metrics = MetricsWriter(paths, saved.meta["step"] if saved else 0)
        self._experience = self._new_experience(experience)  # last: nothing after it may fail and leave a process
        elapsed = saved.meta["elapsed"] if saved else 0.0
        self._clock = Clock(config.run, elapsed, self.step, self._learner.update_count)
        self._saved_at = self._clock.elapsed

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._experience.close()
        for writer in (self._writer, self._metrics):
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
        due = self._pace.updates_due(self.step) > self._learner.update_count and self._replay.num_steps > 0
        self._take(self._experience.poll(allowed, 0.0 if due else _IDLE))
        if self.config.run.deterministic and self.step < allowed:
            return False  # the order of collecting and learning must not depend on the clock
        return self._pace.updates_due(self.step) > self._learner.update_count and self._replay.num_steps > 0

    def _allowed_step(self) -> int:
        """Step up to which may be collected now: ahead of the learner by its lead, or until a first rollout ends."""
        allowed = self._pace.allowed_step(self._learner.update_count)
        deterministic = self.config.run.deterministic
        if not self._replay.num_steps:
            allowed = max(allowed, self.step + (1 if deterministic else self._pace.lead_steps))
        if self.config.run.steps and not deterministic:
            allowed = min(allowed, self.config.run.steps)
        return allowed

    def _take(self, trajectories: list[Trajectory]) -> None:
        for trajectory in trajectories:
            self._stored = self._writer.append(trajectory)
            self._admit(replace(trajectory, info=replace(trajectory.info, number=self._stored)))
        self._fresh += trajectories
        for incident in self._experience.incidents:
            self._notify(Event("warning", incident))
        self._experience.incidents.clear()

    def _admit(self, trajectory: Trajectory) -> None:
        """Learn from this rollout from now on."""
        self._replay.add(trajectory)
        self._statistics.observe(trajectory)
        self._recent.add(trajectory)

    def _update(self) -> None:
        begun = time.perf_counter()
        arrays = self._replay.sample(
            self.config.optimizer.batch_size, self._rng, self.config.replay.relabel, self._statistics
        )
        self._sampling_seconds += time.perf_counter() - begun
        self._losses.append(self._learner.update(as_batch(arrays), self._rng))

    def _publish(self) -> None:
        self._experience.publish(acting_tensors(self._learner.model), self._learner.update_count)

    def _end_cycle(self) -> None:
        """Hand over the weights and log what the cycle brought."""
        self._publish()
        values = rollout_metrics(self._fresh)
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
                rollouts=self._recent.count,
                steps_per_second=self._clock.steps_per_second,
                updates_per_second=self._clock.updates_per_second,
                elapsed=self._clock.elapsed,
                remaining=self._clock.remaining(step),
                fraction=self._clock.fraction(step),
                success=self._recent.success,
                wanted=self._recent.wanted,
                subgoals=self._recent.subgoals,
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
        self._writer.seal()
        model, score = self._learner.model, self._recent.score
        state = {
            "experience": experience,
            "statistics": self._statistics.state(),
            "recent": self._recent.snapshot(),
            "rng": self._rng.bit_generator.state,
            "free_steps": self._pace.free_steps,
            "best_score": max(self._best_score, score if score is not None else -1.0),
            "stored": self._stored,
            "replay_steps": self._replay.num_steps,
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
        weights = {name: tensor.contiguous() for name, tensor in model.state_dict().items()}
        path = checkpoints.save(self.paths, Checkpoint(weights, self._learner.state(), state, meta))
        if score is not None and score > self._best_score:
            self._best_score = score
            checkpoints.point(self.paths, "best", path)
        checkpoints.prune(self.paths, self.config.run.keep_checkpoints)
        self._saved_at = self._clock.elapsed
        self._notify(Event("checkpoint", f"checkpoint {path.name} written"))
        return path, meta["step"]

    def _restore(self, state: dict[str, Any]) -> dict[str, Any]:
        """Continue from `state`; returns the collector's part of it.

        Rollouts that were stored after the checkpoint count too, and their worlds are not played again.
        """
        self._statistics.load(state["statistics"])
        self._recent.restore(state["recent"])
        self._rng.bit_generator.state = state["rng"]
        self._best_score = state["best_score"]
        reader = RolloutReader(self.paths.rollouts("train"))
        later: list[Trajectory] = []
        for trajectory in reader:
            if trajectory.info.number <= state["stored"]:
                self._replay.add(trajectory)
            else:
                self._admit(trajectory)
                later.append(trajectory)
            self._stored = max(self._stored, trajectory.info.number)
        for problem in reader.problems:
            self._notify(Event("warning", f"{problem}; its rollouts are left out"))
        self._pace = replace(self._pace, free_steps=state["free_steps"])
        missing = min(self.config.replay.warmup_steps, state["replay_steps"]) - self._replay.num_steps
        if missing > 0 and self._learner.update_count:
            self._notify(Event("warning", f"stored rollouts are missing: collecting {missing} steps before learning"))
            self._pace = self._pace.refilled(missing)
        return _advanced(state["experience"], later)


def _advanced(experience: dict[str, Any], later: list[Trajectory]) -> dict[str, Any]:
    """The collector's state with the rollouts counted that were finished after it was saved.

    The first of them for each actor is the one that it was playing then: that one's steps are counted in part.
    """
    begun = list(experience["tasks"]["begun"])
    collector = experience["collector"]
    for trajectory in later:
        begun[trajectory.info.actor] += 1
    actors = {trajectory.info.actor for trajectory in later}
    counted = sum(len(rollout["actions"]) for rollout in collector["rollouts"] if rollout["actor"] in actors)
    return {
        "tasks": {**experience["tasks"], "begun": begun},
        "collector": {
            "step": collector["step"] + sum(trajectory.length for trajectory in later) - counted,
            "rollouts": [rollout for rollout in collector["rollouts"] if rollout["actor"] not in actors],
        },
    }


def _environment_spec(config: Config) -> EnvSpec:
    """What the environment says of itself. Playing it here once compiles it for the processes that come."""
    env = ENVIRONMENTS[config.env.name].factory(config.env)()
    env.reset(seed=0)
    env.step(env.action_space.sample())
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


def _load_latest(config: Config, paths: RunPaths, notify: Listener) -> Checkpoint | None:
    """The newest sound checkpoint of a run that goes on; None to begin it anew."""
    checkpoints.discard_partial(paths)
    path, problems = checkpoints.newest(paths)
    for problem in problems:
        notify(Event("warning", f"{problem}; using an earlier one"))
    if path is None:
        notify(Event("warning", f"run {paths.name} has no checkpoint yet: it starts from the beginning"))
        return None
    saved = checkpoints.load(path)
    used = Clock(config.run, saved.meta["elapsed"], 0, 0).finished(saved.meta["step"])
    if used:
        raise AmagoError(
            f"run {paths.name} has used up its {used}; say how long it may go on in all, for example "
            f"`amago train --resume {paths.name} --{used} {2 * getattr(config.run, used):g}`"
        )
    notify(Event("info", f"resuming from checkpoint {path.name}: update {saved.meta['update']}"))
    return saved
