"""Many environments stepped together, spread over worker processes that may fail without ending the run.

The caller sees arrays with one row per environment, valid until the next call. Nothing is reset behind its
back: an environment whose attempt has ended, or that was lost with its worker, rests until it is reset.
"""

from collections.abc import Sequence
from types import TracebackType

import numpy as np
from numpy.typing import ArrayLike

from agent.envs.base import EnvSpec, Task
from agent.envs.block import EnvBlock, MakeEnv, Orders
from agent.envs.shared import SharedSteps
from agent.envs.worker import Worker
from store.errors import AmagoError

_MAX_FAILURES = 5  # of one worker in a row, without an attempt finished between them


class WorkerError(AmagoError):
    """An environment fails again and again, so replacing its worker does not help."""

    exit_code = 8


class VectorEnv:
    """`num_envs` environments in `num_workers` processes, or (0) in this one, where their errors are raised.

    `make_env` is picklable and makes one environment. A worker that crashes, raises or does not answer within
    `timeout` seconds is killed and replaced; `lost` marks its environments and `incidents` tells what
    happened. After several failures in a row `reset` and `step` raise WorkerError.
    """

    def __init__(self, make_env: MakeEnv, num_envs: int, num_workers: int, timeout: float = 60.0):
        assert num_envs > 0 and num_workers >= 0, (num_envs, num_workers)
        env = make_env()
        self.spec = EnvSpec.from_env(env)
        env.close()
        self.num_envs = num_envs
        self.incidents: list[str] = []
        """What happened to lost workers, in order; nobody but the caller clears it."""
        self._make_env = make_env
        self._timeout = timeout
        self._shared = SharedSteps(self.spec, num_envs)
        self._expose()
        self._tasks: list[Task | None] = [None] * num_envs
        self._steps = np.zeros(num_envs, np.int64)
        self._block = EnvBlock(make_env, self._arrays, range(num_envs)) if num_workers == 0 else None
        parts = np.array_split(np.arange(num_envs), min(num_workers, num_envs)) if num_workers else []
        self._workers = [Worker(make_env, self._shared, range(part[0], part[-1] + 1)) for part in parts]
        self._failures = [0] * len(self._workers)

    def _expose(self) -> None:
        """Make the arrays of the last call public."""
        arrays = self._arrays = self._shared.arrays()
        self.observations = arrays.observations
        """By key, each (N, ...) in the space's dtype."""
        self.rewards = arrays.rewards
        """(N,) float32."""
        self.terminated = arrays.terminated
        """(N,) bool, ended by the task or by death."""
        self.truncated = arrays.truncated
        """(N,) bool, ended by the time limit."""
        self.is_first = arrays.is_first
        """(N,) bool, the observation begins a new attempt at the same task."""
        self.progress = arrays.progress
        """(N,) uint8, finished subgoals."""
        self.achieved: list[tuple[int, ...]] = [()] * self.num_envs
        """Goal ids reached by the last step, wanted or not."""
        self.playing = arrays.playing
        """(N,) bool, whether an attempt is under way; the rows of the others tell of their last one."""
        self.cause = [""] * self.num_envs
        """Why the attempt ended, "" where it did not."""
        self.lost = np.zeros(self.num_envs, bool)
        """(N,) bool, whether the last call lost the environment; the rest of its row is then void."""

    @property
    def worker_pids(self) -> list[int | None]:
        """Process ids of the workers, in order of the rows they hold."""
        return [worker.pid for worker in self._workers]

    def reset(self, indices: Sequence[int], tasks: Sequence[Task]) -> None:
        """Begin `tasks[k]` in environment `indices[k]`; the others keep their state and their rows."""
        orders = dict(zip(indices, tasks, strict=True))
        for index, task in orders.items():
            self._tasks[index], self._steps[index], self.playing[index] = task, 0, True
        if self._block:
            self._block.reset(orders.items())
        else:
            self._give(
                {
                    number: [(row, orders[row]) for row in worker.rows if row in orders]
                    for number, worker in enumerate(self._workers)
                    if any(row in orders for row in worker.rows)
                }
            )
        self._collect()

    def step(self, actions: ArrayLike) -> None:
        """Step every environment that is playing; `actions` is (N, ...) in the action space's shape."""
        self._arrays.actions[:] = actions
        self._steps += self.playing
        if self._block:
            self._block.step()
        else:
            self._give(dict.fromkeys(range(len(self._workers))))
        self._collect()

    def close(self) -> None:
        """End every worker and close every environment."""
        if self._block:
            self._block.close()
        for worker in self._workers:
            worker.close()
        self._workers = []

    def __enter__(self) -> "VectorEnv":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _collect(self) -> None:
        """Turn what the environments wrote into Python's own types where the caller wants them."""
        arrays = self._arrays
        self.achieved = [()] * self.num_envs
        for row in np.flatnonzero(arrays.num_achieved).tolist():
            self.achieved[row] = tuple(arrays.achieved[row, : arrays.num_achieved[row]].tolist())
        self.cause = [""] * self.num_envs
        for row in np.flatnonzero(arrays.terminated | arrays.truncated).tolist():
            self.cause[row] = bytes(arrays.cause[row]).decode()
            self.playing[row] = False

    def _give(self, orders: dict[int, Orders]) -> None:
        """Have workers carry out orders, all at the same time; replace those that fail."""
        self.lost[:] = False
        for number, order in orders.items():
            self._workers[number].send(order)
        for number, order in orders.items():
            failure = self._workers[number].wait(self._timeout)
            if failure:
                self._replace(number, failure)
            elif order is None and self._has_finished(self._workers[number].rows):
                self._failures[number] = 0

    def _has_finished(self, rows: range) -> bool:
        """Whether the step that was just made ended an attempt in one of the rows."""
        part, arrays = slice(rows.start, rows.stop), self._arrays
        return bool((self.playing[part] & (arrays.terminated[part] | arrays.truncated[part])).any())

    def _replace(self, number: int, failure: str) -> None:
        worker = self._workers[number]
        worker.kill()
        self.incidents.append(self._describe(worker.rows, failure))
        self._failures[number] += 1
        if self._failures[number] > _MAX_FAILURES:
            last = self.incidents[-1]
            raise WorkerError(f"environments keep failing, so the run cannot go on; the last failure: {last}")
        self._void(worker.rows)
        self._workers[number] = Worker(self._make_env, self._shared, worker.rows)

    def _void(self, rows: range) -> None:
        """Mark environments as lost and empty their rows."""
        part, arrays = slice(rows.start, rows.stop), self._arrays
        self.lost[part], self.playing[part] = True, False
        for array in (
            arrays.terminated,
            arrays.truncated,
            arrays.is_first,
            arrays.num_achieved,
            arrays.rewards,
            arrays.busy,
        ):
            array[part] = 0

    def _describe(self, rows: range, failure: str) -> str:
        """One incident in words: who was at work, in which world, at which step, and what happened."""
        where = "while none of them was at work"
        for row in rows:
            task = self._tasks[row]
            if self._arrays.busy[row] and task:
                where = f"in environment {row} (seed {task.seed}, step {self._steps[row]})"
        return f"worker of environments {rows.start}-{rows.stop - 1} lost {where}: {failure}"
