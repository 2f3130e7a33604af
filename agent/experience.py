"""Where a training run's experience comes from: a collector in this process, or one that runs beside the learner.

Both have the same methods. The learner's process publishes weights and a step up to which may be collected; it gets
finished trajectories. Neither knows about learning or storage.
"""

from __future__ import annotations

import queue
import signal
import threading
import time
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from agent.collector import TrainingCollector
from agent.config import Config, from_mapping
from agent.envs.processes import die_with_parent, leave_stdout_alone, start_deaf
from agent.nets.model import acting_tensors
from store.errors import AmagoError
from store.trajectory import Trajectory

_PAUSE = 0.002  # seconds between two looks at whether collecting may go on
_INLINE_SLICE = 0.2  # seconds after which an inline collector lets its caller look after other things
_START_SECONDS = 300.0  # imports and compilation on a busy machine
_ANSWER_SECONDS = 120.0
_GOODBYE_SECONDS = 5.0


class CollectorError(AmagoError):
    """The collector's process was killed, crashed or hangs."""

    exit_code = 8


class Experience(Protocol):
    """A source of training trajectories."""

    incidents: list[str]  # lost workers, in words; the caller clears it

    @property
    def step(self) -> int:
        """Environment steps of the run so far."""
        ...

    def publish(self, tensors: dict[str, Tensor], update: int) -> None:
        """Act with these weights from now on."""
        ...

    def poll(self, allowed_step: int, timeout: float) -> list[Trajectory]:
        """Collect up to `allowed_step`; returns the rollouts finished meanwhile, after at most about `timeout` s."""
        ...

    def snapshot(self) -> tuple[dict[str, Any], list[Trajectory]]:
        """What a later collector needs to go on from here, and the rollouts finished before that moment."""
        ...

    def close(self) -> None:
        """End it; nothing is returned any more."""
        ...


class InlineExperience:
    """Collects in the caller's process and time: nothing overlaps, so a run repeats exactly."""

    def __init__(self, config: Config, state: dict[str, Any] | None) -> None:
        self._source = TrainingCollector(config, state)
        self.incidents = self._source.envs.incidents

    @property
    def step(self) -> int:
        return self._source.collector.step

    def publish(self, tensors: dict[str, Tensor], update: int) -> None:
        self._source.policy.load(tensors, update)

    def poll(self, allowed_step: int, timeout: float) -> list[Trajectory]:
        deadline = time.monotonic() + max(timeout, _INLINE_SLICE)
        finished: list[Trajectory] = []
        while self.step < allowed_step and time.monotonic() < deadline:
            finished += self._source.advance()
        return finished

    def snapshot(self) -> tuple[dict[str, Any], list[Trajectory]]:
        return self._source.snapshot(), []

    def close(self) -> None:
        self._source.envs.close()


class ProcessExperience:
    """Collects in a process of its own, while the caller learns."""

    def __init__(self, config: Config, state: dict[str, Any] | None, tensors: dict[str, Tensor]) -> None:
        """`tensors` tell the sizes of the weights that will be published."""
        context = get_context("spawn")
        self.incidents: list[str] = []
        self._finished: list[Trajectory] = []
        self._shared = _Shared(context, _num_bytes(tensors))
        self._connection, theirs = context.Pipe()
        arguments = (config.model_dump(mode="json"), state, self._shared, theirs)
        self._process = context.Process(target=_collect, args=arguments, name="collector")
        start_deaf(self._process)
        theirs.close()  # so that the end of the process is the end of the pipe, even in the middle of a message
        try:
            self._receive("ready", _START_SECONDS)
        except AmagoError:
            self.close()
            raise

    @property
    def step(self) -> int:
        return int(self._shared.step.value)

    def publish(self, tensors: dict[str, Tensor], update: int) -> None:
        packed = np.concatenate([_bytes(tensor) for tensor in tensors.values()])
        if not self._shared.lock.acquire(timeout=_ANSWER_SECONDS):  # a killed process keeps its locks
            raise CollectorError(self._obituary())
        self._shared.weights()[:] = packed
        self._shared.update.value = update
        self._shared.lock.release()

    def poll(self, allowed_step: int, timeout: float) -> list[Trajectory]:
        self._shared.allowed.value = allowed_step
        deadline = time.monotonic() + timeout
        while self._take(max(deadline - time.monotonic(), 0.0)):
            pass
        finished, self._finished = self._finished, []
        return finished

    def snapshot(self) -> tuple[dict[str, Any], list[Trajectory]]:
        with suppress(OSError):  # a collector that is gone is noticed while waiting for its answer
            self._connection.send("snapshot")
        state = self._receive("snapshot", _ANSWER_SECONDS)
        finished, self._finished = self._finished, []
        return state, finished

    def close(self) -> None:
        self._connection.close()  # the collector ends when its pipe does
        self._process.join(_GOODBYE_SECONDS)
        self._process.kill()
        self._process.join()

    def _take(self, timeout: float) -> tuple[str, Any] | None:
        """Handle one message: trajectories and incidents are kept, others returned. None when there is none."""
        try:
            if not self._connection.poll(timeout):
                return None
            kind, content = self._connection.recv()
        except (EOFError, OSError):
            raise CollectorError(self._obituary()) from None
        if kind == "trajectory":
            self._finished.append(content)
        elif kind == "incident":
            self.incidents.append(content)
        elif kind == "error":
            raise content
        return kind, content

    def _receive(self, kind: str, timeout: float) -> Any:
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            message = self._take(0.2)
            if message and message[0] == kind:
                return message[1]
        raise CollectorError(f"the collector did not answer within {timeout:g} s")

    def _obituary(self) -> str:
        self._process.join(_GOODBYE_SECONDS)
        code = self._process.exitcode or 0
        how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        hint = " (often out of memory: lower collect.actors or replay.max_bytes)" if code == -signal.SIGKILL else ""
        return f"the collector process {how}{hint}; resume the run to go on from its last checkpoint"


class _Shared:
    """Memory that both processes see."""

    def __init__(self, context: Any, num_bytes: int) -> None:
        self.lock = context.Lock()
        self.step = context.RawValue("q", 0)
        self.allowed = context.RawValue("q", 0)
        self.update = context.RawValue("q", -1)  # of the weights in memory; -1 before the first
        self._weights = context.RawArray("B", num_bytes)

    def weights(self) -> np.ndarray:
        return np.frombuffer(self._weights, np.uint8)


class _Outbox:
    """Sends messages from a thread of its own, so that playing never waits until the learner reads them."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._waiting: queue.SimpleQueue[tuple[str, Any] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._send, daemon=True)
        self._thread.start()

    def put(self, kind: str, content: Any = None) -> None:
        """Send a message when its turn comes; `content` must not change any more."""
        self._waiting.put((kind, content))

    def close(self) -> None:
        """Send what waits, and no more."""
        self._waiting.put(None)
        self._thread.join(_GOODBYE_SECONDS)

    def _send(self) -> None:
        with suppress(OSError):  # the learner has hung up
            while (message := self._waiting.get()) is not None:
                self._connection.send(message)


def _collect(config_record: dict[str, Any], state: dict[str, Any] | None, shared: _Shared, link: Connection) -> None:
    """Main function of the collector's process: play until the learner's end of the pipe closes."""
    die_with_parent()
    leave_stdout_alone()
    torch.set_num_threads(1)
    outbox = _Outbox(link)
    try:
        source = TrainingCollector(from_mapping(config_record), state)
        shared.step.value = source.collector.step
        outbox.put("ready")
        _play(source, shared, outbox, link)
        source.envs.close()
    except AmagoError as error:
        outbox.put("error", error)
    outbox.close()


def _play(source: TrainingCollector, shared: _Shared, outbox: _Outbox, link: Connection) -> None:
    template = acting_tensors(source.policy.model)
    loaded = -1
    while True:
        waiting = shared.update.value < 0 or shared.step.value >= shared.allowed.value
        if link.poll(_PAUSE if waiting else 0):
            try:
                link.recv()
            except (EOFError, OSError):
                return
            outbox.put("snapshot", source.snapshot())
        if waiting:
            continue
        if shared.update.value != loaded:
            with shared.lock:
                loaded = shared.update.value
                packed = shared.weights().copy()
            source.policy.load(_unpack(packed, template), loaded)
        for trajectory in source.advance():
            outbox.put("trajectory", trajectory)
        for incident in source.envs.incidents:
            outbox.put("incident", incident)
        source.envs.incidents.clear()
        shared.step.value = source.collector.step


def _bytes(tensor: Tensor) -> np.ndarray:
    return tensor.detach().cpu().contiguous().numpy().reshape(-1).view(np.uint8)


def _num_bytes(tensors: dict[str, Tensor]) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors.values())


def _unpack(packed: np.ndarray, template: dict[str, Tensor]) -> dict[str, Tensor]:
    tensors, offset = {}, 0
    for name, like in template.items():
        size = like.numel() * like.element_size()
        part = torch.from_numpy(packed[offset : offset + size]).view(like.dtype)
        tensors[name], offset = part.view(like.shape), offset + size
    return tensors
