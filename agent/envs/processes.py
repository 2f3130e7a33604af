"""Child processes that end with their caller and leave signals to it."""

import os
import signal
import threading
from multiprocessing import parent_process, resource_tracker
from multiprocessing.process import BaseProcess

_SIGNALS = {signal.SIGINT, signal.SIGTERM}


def start_deaf(process: BaseProcess) -> None:
    """Start a process that never hears Ctrl-C or SIGTERM, which may be sent to the whole group: its caller decides.

    The process inherits what is blocked here, so it is deaf already while it imports its modules.
    """
    resource_tracker.ensure_running()  # else started by the process's start, which would lift the block
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def die_with_parent() -> None:
    """End this process as soon as its caller is gone, even one killed with -9."""
    threading.Thread(target=_wait_and_exit, daemon=True).start()


def leave_stdout_alone() -> None:
    """What this process prints goes to stderr: the caller's stdout may be read by a program."""
    os.dup2(2, 1)


def _wait_and_exit() -> None:
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
