"""Some environments stepped in turn, writing into shared arrays; and the process that does only that.

The process answers each order with None when it is carried out, or with a line about what went wrong before it gives
up. It ends when its caller does, even a caller killed with -9 and even in the middle of an environment that hangs.
"""

import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import gymnasium

from agent.envs.adapted import error_line
from agent.envs.base import Task
from agent.envs.processes import die_with_parent, leave_stdout_alone
from agent.envs.shared import MAX_ACHIEVED, SharedSteps, StepArrays

MakeEnv = Callable[[], gymnasium.Env]
Orders = list[tuple[int, Task]] | None
"""What a worker is asked to do: reset these rows with these tasks, or (None) step those that are playing."""


class EnvBlock:
    """The environments behind consecutive rows of the shared arrays."""

    def __init__(self, make_env: MakeEnv, arrays: StepArrays, rows: range):
        self._arrays = arrays
        self._envs = {row: make_env() for row in rows}

    def reset(self, tasks: Iterable[tuple[int, Task]]) -> None:
        """Begin an attempt in each of the given rows."""
        for row, task in tasks:
            self._arrays.busy[row] = True
            options = {"instruction": task.instruction, "game": task.game}
            observation, info = self._envs[row].reset(seed=task.seed, options=options)
            self._write(row, observation, 0.0, False, False, info)
            self._arrays.busy[row] = False

    def step(self) -> None:
        """Step every environment that is playing with its row of the actions."""
        actions, busy, playing = self._arrays.actions, self._arrays.busy, self._arrays.playing
        for row, env in self._envs.items():
            if not playing[row]:
                continue
            busy[row] = True
            self._write(row, *env.step(actions[row]))
            busy[row] = False

    def close(self) -> None:
        """Close every environment."""
        for env in self._envs.values():
            env.close()

    def _write(
        self, row: int, observation: Any, reward: Any, terminated: bool, truncated: bool, info: dict[str, Any]
    ) -> None:
        arrays = self._arrays
        for key, array in arrays.observations.items():
            array[row] = observation[key]
        arrays.rewards[row] = reward
        arrays.terminated[row] = terminated
        arrays.truncated[row] = truncated
        arrays.is_first[row] = info.get("is_first", False)
        arrays.progress[row] = info.get("progress", 0)
        achieved = info.get("achieved", ())
        assert len(achieved) <= MAX_ACHIEVED, achieved
        arrays.num_achieved[row] = len(achieved)
        arrays.achieved[row, : len(achieved)] = achieved
        if terminated or truncated:
            arrays.cause[row] = info.get("cause", "").encode()


def serve(connection: Connection, make_env: MakeEnv, shared: SharedSteps, rows: range) -> None:
    """Main function of a worker process: report readiness, then obey until the caller hangs up."""
    die_with_parent()
    leave_stdout_alone()
    with suppress(ConnectionError):  # the caller is gone: there is nobody left to tell
        try:
            block = EnvBlock(make_env, shared.arrays(), rows)
            connection.send(None)
            while (orders := _receive(connection)) is not _HUNG_UP:
                block.step() if orders is None else block.reset(orders)
                connection.send(None)
            block.close()
        except ConnectionError:
            raise
        except Exception as error:
            connection.send(_in_a_line(error))


def _in_a_line(error: Exception) -> str:
    """What went wrong, and where: 'ZeroDivisionError: division by zero (my_game.py, line 42)'."""
    first: BaseException = error
    while first.__cause__:
        first = first.__cause__
    frames = traceback.extract_tb(first.__traceback__)
    said = error_line(error)
    return f"{said} ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else said


_HUNG_UP = ()


def _receive(connection: Connection) -> Any:
    """The next orders, _HUNG_UP if the caller will send no more."""
    try:
        return connection.recv()
    except (EOFError, ConnectionError):
        return _HUNG_UP
