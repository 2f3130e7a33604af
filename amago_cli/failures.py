"""Turns whatever a command raises into one clear line on stderr and an exit code."""

from __future__ import annotations

import errno
import os
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path

from amago_cli.exit_codes import ExitCode

_OUT_OF_MEMORY = ("out of memory", "alloc_cpu")  # in the messages of torch's RuntimeErrors


def run_guarded(call: Callable[[], object], *, debug: bool) -> int:
    """Call, and return the exit code; `debug` prints the traceback of an unexpected error on the spot."""
    code = _call(call, debug)
    flushed = _flush_stdout()
    return code or flushed


def _call(call: Callable[[], object], debug: bool) -> int:
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
    except Exception as error:
        return _explain(error, debug)
    return ExitCode.OK


def _explain(error: Exception, debug: bool) -> int:
    """The line for an error that is not the caller's."""
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        print(f"amago: cannot write: {error.strerror}; free space and try again", file=sys.stderr)
        return ExitCode.STORAGE
    if _is_out_of_memory(error):
        print("amago: out of memory; a smaller replay.max_bytes or fewer --actors need less", file=sys.stderr)
    else:
        _report_unexpected(error, debug)
    return ExitCode.INTERNAL


def _is_out_of_memory(error: Exception) -> bool:
    """Torch is known by its words: importing it for this would cost seconds."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    return isinstance(error, RuntimeError) and any(words in str(error) for words in _OUT_OF_MEMORY)


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


def _flush_stdout() -> int:
    """A reader that closed the pipe early (`amago runs | head`) is no error; a full disk is one."""
    try:
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python fails again at its end
        if not isinstance(error, BrokenPipeError):
            print(f"amago: cannot write the output: {error.strerror}", file=sys.stderr)
            return ExitCode.STORAGE
    return ExitCode.OK
