"""What a running training says of itself: to its listener, in status.json, in events.jsonl and in the metrics.

Knows where it is written, not how it comes about.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

import torch

from agent.heartbeat import Heartbeat
from agent.progress import Event, Listener, Progress
from agent.resources import device_name, gpu_bytes, memory_bytes
from store.errors import StorageError
from store.events import EventKind, EventLog
from store.layout import RunPaths
from store.metrics import MetricsWriter
from store.status import State

_IN_STATUS = ("phase", "step", "update", "rollouts", "steps_per_second", "updates_per_second", "elapsed")


class Logbook:
    """One lifetime of a run, whose lock the caller holds."""

    def __init__(self, paths: RunPaths, notify: Listener) -> None:
        self.notify = notify
        self._paths = paths
        self._heartbeat = Heartbeat(paths)
        self._events = EventLog(paths)
        self._metrics: MetricsWriter | None = None
        self._device = torch.device("cpu")
        self._step, self._update = self._heartbeat.status.step, self._heartbeat.status.update

    def stands_at(self, step: int, update: int) -> None:
        """What follows is of this moment: after so many environment steps and optimiser steps."""
        self._step, self._update = step, update

    def open(self, device: torch.device) -> None:
        """Training on `device` begins, or goes on, from here: metrics of later steps never happened."""
        self._device = device
        self._heartbeat.beat(step=self._step, update=self._update, device=device_name(device))
        self._metrics = MetricsWriter(self._paths, self._step)

    def record(self, kind: EventKind, text: str) -> None:
        """Something that belongs to the history of the run. Raises StorageError."""
        self._events.append(kind, text, self._step, self._update)

    def event(self, kind: EventKind, text: str) -> None:
        """The same, and something that the listener does not know yet."""
        self.record(kind, text)
        self.notify(Event(kind, text))

    def metrics(self, values: Mapping[str, float]) -> None:
        """Numbers of this moment, visible to readers at once. Raises StorageError."""
        assert self._metrics is not None
        self._metrics.log(self._step, self._update, values)
        self._metrics.flush()

    def progress(self, progress: Progress) -> None:
        """A regular report: everybody is told, and what the run takes of the machine is measured."""
        usage = {"memory_bytes": memory_bytes()}
        if self._device.type == "cuda":
            usage["gpu_bytes"] = gpu_bytes(self._device)
        self._heartbeat.beat(
            **{key: getattr(progress, key) for key in _IN_STATUS},
            remaining=-1.0 if progress.remaining is None else progress.remaining,
            fraction=-1.0 if progress.fraction is None else progress.fraction,
            **usage,
        )
        speeds = {key: getattr(progress, key) for key in ("steps_per_second", "updates_per_second")}
        self.metrics({f"system/{key}": value for key, value in {**speeds, **usage}.items()})
        self.notify(progress)

    def alive(self, phase: str) -> None:
        """The run does something else than training, where only time passes."""
        self._heartbeat.beat(phase=phase)

    def close(self) -> None:
        """Make the metrics survive a power failure; a disk that does not let us is no error any more."""
        if self._metrics is not None:
            with suppress(StorageError):
                self._metrics.close()

    def end(self, state: State, reason: str, text: str) -> None:
        """The last words: `reason` for the status, `text` for the history; a full disk is no error any more."""
        with suppress(StorageError):
            self.record("end", text)
        self._heartbeat.end(state, reason)
