"""A worker process as its caller sees it: started, sent orders, waited for, and questioned when it fails.

Knows processes and pipes; which environments it holds and what becomes of them after a failure is its
caller's business.
"""

import select
import signal
from contextlib import suppress
from multiprocessing import get_context

from agent.envs.block import MakeEnv, Orders, serve
from agent.envs.processes import start_deaf
from agent.envs.shared import SharedSteps

_STARTUP_SECONDS = 120.0  # imports, compilation and construction, on a machine that may be busy
_GOODBYE_SECONDS = 2.0


class Worker:
    """One process with the environments of `rows`; starts at once and gets ready in the background."""

    def __init__(self, make_env: MakeEnv, shared: SharedSteps, rows: range):
        self.rows = rows
        context = get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs, make_env, shared, rows), daemon=True)
        start_deaf(self._process)
        theirs.close()  # so that the end of the process is the end of the pipe
        self._answers = select.poll()
        self._answers.register(self._connection, select.POLLIN)
        self._ready = False

    @property
    def pid(self) -> int | None:
        """Process id."""
        return self._process.pid

    def send(self, orders: Orders) -> None:
        """Hand over orders; a process that is already gone is noticed by `wait`."""
        with suppress(ConnectionError):
            self._connection.send(orders)

    def wait(self, timeout: float) -> str:
        """Wait until the orders are carried out; returns what went wrong ("": nothing), then kill it."""
        if not self._ready:
            failure = self._answer(_STARTUP_SECONDS)
            if failure:
                return failure
            self._ready = True
        return self._answer(timeout)

    def kill(self) -> None:
        """End the process at once and wait until it is gone."""
        self._process.kill()
        self._process.join()
        self._connection.close()

    def close(self) -> None:
        """Let the process end by itself, or kill it if it does not soon."""
        self._connection.close()
        self._process.join(_GOODBYE_SECONDS)
        self._process.kill()
        self._process.join()

    def _answer(self, timeout: float) -> str:
        if not self._answers.poll(1000 * timeout):
            return f"did not answer within {timeout:g} s"
        try:
            return self._connection.recv() or ""
        except (EOFError, ConnectionError):
            return self._describe_exit()

    def _describe_exit(self) -> str:
        self._process.join(_GOODBYE_SECONDS)
        code = self._process.exitcode
        if code is None:
            return "closed its pipe without ending"
        if code >= 0:
            return f"exited with code {code}"
        hint = ", often out of memory" if -code == signal.SIGKILL else ""
        return f"was killed by signal {-code}{hint}"
