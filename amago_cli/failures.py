"""Turns whatever a command raises into one clear line on stderr and an exit code."""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path

from amago_cli.exit_codes import ExitCode


def run_guarded(call: Callable[[], object], *, debug: bool) -> int:
    """Call, and return the exit code; `debug` prints the traceback of an unexpected error on the spot."""
    from store.errors import AmagoError

    try:
        call()
    except SystemExit as error:
        return _exit_code(error)
    except AmagoError as error:
        print(f"amago: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except MemoryError:
        print("amago: out of memory; a smaller replay.max_steps or fewer --actors need less", file=sys.stderr)
        return ExitCode.INTERNAL
    except Exception as error:
        _report_unexpected(error, debug)
        return ExitCode.INTERNAL
    finally:
        _flush_stdout()
    return ExitCode.OK


def _exit_code(error: SystemExit) -> int:
    if error.code is None:
        return ExitCode.OK
    return error.code if isinstance(error.code, int) else ExitCode.INTERNAL


def _report_unexpected(error: Exception, debug: bool) -> None:
    text = "".join(traceback.format_exception(error))
    if debug:
        print(text, file=sys.stderr)
        return
    descriptor, name = tempfile.mkstemp(prefix="amago-", suffix=".traceback.txt")
    os.close(descriptor)
    Path(name).write_text(text, "utf-8")
    summary = (str(error).strip() or "no message").splitlines()[0]
    print(f"amago: internal error: {type(error).__name__}: {summary}; traceback in {name}", file=sys.stderr)


def _flush_stdout() -> None:
    """A reader that closed the pipe early (`amago runs | head`) is no error worth a traceback at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
