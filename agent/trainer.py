"""A running training from cycle to cycle: what is reported, saved, evaluated and ordered in between."""

from __future__ import annotations

import platform
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch

from agent import checkpoint as checkpoints
from agent import interim
from agent.checkpoint import Checkpoint
from agent.clock import Clock
from agent.config import Config
from agent.cycles import Cycles
from agent.logbook import Logbook
from agent.orders import Inbox
from agent.progress import EvalProgress, Event, Progress
from store.errors import AmagoError
from store.layout import RunPaths

_HOLD = 0.1  # seconds between two looks at the orders of a paused run


@dataclass(frozen=True)
class Outcome:
    """How a training run ended."""

    reason: str  # one of `agent.progress.REASONS`
    step: int
    update: int
    elapsed: float  # seconds
    checkpoint: Path


class Trainer:
    """Runs cycle after cycle until the budget is used up or a stop is asked for."""

    def __init__(
        self,
        config: Config,
        paths: RunPaths,
        saved: Checkpoint | None,
        logbook: Logbook,
        stop: threading.Event,
    ) -> None:
        self.config, self.paths = config, paths
        self._logbook = logbook
        self._stop = stop
        self._orders = Inbox(paths, stop)
        self._best_score: float | None = saved.state.get("best_score") if saved else None
        self._cycles = Cycles(config, paths, saved, logbook)
        elapsed = saved.meta["elapsed"] if saved else 0.0
        self._clock = Clock(config.run, elapsed, self._cycles.step, self._cycles.update)
        self._saved_at = self._evaluated_at = self._clock.elapsed
        self._reported = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._cycles.close()

    def run(self) -> Outcome:
        """Cycle after cycle, then a last checkpoint."""
        self._cycles.publish()
        path, step = self._save()  # from now on a killed run can be resumed
        self._logbook.alive(self._phase)
        reason = None
        while reason is None:
            for _ in self._cycles.run(self._is_cycle_over):
                if self._is_report_due():
                    self._report()
            self._between_cycles()
            reason = self._reason_to_end()
            if reason or self._has_passed(self.config.run.checkpoint_every, self._saved_at):
                path, step = self._save()
        self._report()
        return Outcome(reason, step, self._cycles.update, self._clock.elapsed, path)

    def _is_cycle_over(self) -> bool:
        """Whether something is to be done that a cycle should not keep waiting."""
        return self._orders.look() or self._reason_to_end() is not None

    def _reason_to_end(self) -> str | None:
        return "stopped" if self._stop.is_set() else self._clock.finished(self._cycles.step, self._cycles.update)

    def _has_passed(self, minutes: float | None, since: float) -> bool:
        """Whether so much training time has passed since then; never for None."""
        return minutes is not None and self._clock.elapsed - since >= 60 * minutes

    def _between_cycles(self) -> None:
        """What was ordered, and the evaluation that is due."""
        while order := self._orders.next():
            if order == "pause":
                self._pause()
            else:
                self._obey(order, self._phase)
        if self._reason_to_end() is None and self._has_passed(self.config.run.evaluate_every, self._evaluated_at):
            self._obey("evaluate", self._phase)

    def _obey(self, order: str, phase: str) -> None:
        """Carry out an order that can come in any `phase`, and return to that; other orders mean nothing here."""
        if order == "checkpoint":
            self._save()
        elif order == "evaluate":
            self._evaluate()
            self._announce(phase)

    def _pause(self) -> None:
        """Hold still until told to go on, or to stop."""
        began = time.monotonic()
        self._logbook.event("paused", "paused")
        with self._clock.standing_still():
            self._announce("paused")
            while (order := self._orders.next()) != "resume" and not self._stop.is_set():
                if order is not None:
                    self._obey(order, "paused")
                self._cycles.hold()
                self._stay_alive("paused")
                self._stop.wait(_HOLD)
        if not self._stop.is_set():
            self._logbook.event("resumed", f"resumed after {time.monotonic() - began:.0f} s")
            self._announce(self._phase)

    def _evaluate(self) -> None:
        """Play a short evaluation of what has been learned, while training waits."""
        path, step = self._save()
        self._evaluated_at = self._clock.elapsed
        update = self._cycles.update
        self._cycles.hold()
        with self._clock.standing_still():
            self._announce("evaluating")
            try:
                played = interim.play(path, self.config, self._during_evaluation, self._stop)
            except AmagoError as error:  # workers that keep dying, or an environment of which there are only rollouts
                self._logbook.event("warning", f"evaluation given up: {error}")
                return
        if self._stop.is_set():
            return  # some of the episodes would be a biased sample: the short ones
        interim.store(played, self.paths, self._cycles.spec, step, update)
        figures = interim.summarise(played, self._cycles.spec)
        self._logbook.stands_at(step, update)
        self._logbook.metrics(figures.metrics())
        self._logbook.event("evaluation", str(figures))

    def _during_evaluation(self, report: Progress | Event | EvalProgress) -> None:
        """Hand on what an evaluation tells; the run stays alive, and a stop is heard."""
        if isinstance(report, Event) and report.kind == "warning":
            self._logbook.event("warning", report.text)
        else:
            self._logbook.notify(report)
        self._orders.look()
        self._stay_alive("evaluating")

    @property
    def _phase(self) -> str:
        return "learning" if self._cycles.update else "warm-up"

    def _is_report_due(self) -> bool:
        return time.monotonic() - self._reported >= self.config.run.log_every

    def _report(self) -> None:
        """Where the run stands, how fast it goes and what it takes."""
        self._reported = time.monotonic()
        step, update = self._cycles.step, self._cycles.update
        self._logbook.stands_at(step, update)
        self._clock.mark(step, update)
        self._logbook.progress(self._progress(self._phase))

    def _announce(self, phase: str) -> None:
        """The run does something else from now on."""
        self._logbook.alive(phase)
        self._logbook.notify(self._progress(phase))

    def _stay_alive(self, phase: str) -> None:
        """A sign of life, as often as reports come while training."""
        if self._is_report_due():
            self._reported = time.monotonic()
            self._logbook.alive(phase)

    def _progress(self, phase: str) -> Progress:
        step, update, recent = self._cycles.step, self._cycles.update, self._cycles.recent
        return Progress(
            phase=phase,
            step=step,
            update=update,
            rollouts=recent.count,
            steps_per_second=self._clock.steps_per_second,
            updates_per_second=self._clock.updates_per_second,
            elapsed=self._clock.elapsed,
            remaining=self._clock.remaining(step, update),
            fraction=self._clock.fraction(step, update),
            success=recent.success,
            wanted=recent.wanted,
            subgoals=recent.subgoals,
            mean_return=recent.mean_return,
            attempts=recent.attempts,
            normalised=recent.normalised,
            losses=self._cycles.newest_losses,
        )

    def _save(self) -> tuple[Path, int]:
        """Write a checkpoint, after everything that it has counted is stored; returns its path and its step."""
        state = self._cycles.snapshot()
        score = self._cycles.recent.score
        is_best = score is not None and (self._best_score is None or score > self._best_score)
        if is_best:
            self._best_score = score
        learner, step = self._cycles.learner, state["experience"]["collector"]["step"]
        weights = {name: tensor.contiguous() for name, tensor in learner.model.state_dict().items()}
        state = {**state, "best_score": self._best_score}
        path = checkpoints.save(self.paths, Checkpoint(weights, learner.state(), state, self._meta(step)))
        if is_best:
            checkpoints.point(self.paths, "best", path)
        checkpoints.prune(self.paths, self.config.run.keep_checkpoints)
        self._saved_at = self._clock.elapsed
        self._logbook.stands_at(step, self._cycles.update)
        self._logbook.event("checkpoint", f"checkpoint {path.name} written")
        return path, step

    def _meta(self, step: int) -> dict[str, Any]:
        """What a checkpoint says of itself."""
        return {
            "step": step,
            "update": self._cycles.update,
            "elapsed": self._clock.elapsed,
            "saved": time.time(),
            "config": self.config.model_dump(mode="json"),
            "environment": self._cycles.spec.to_json(),
            "versions": {"torch": torch.__version__, "numpy": np.__version__, "python": platform.python_version()},
        }
