"""The exit codes of `amago`, one meaning each. Those of failures are the ones that `store.errors` gives."""

from enum import IntEnum


class ExitCode(IntEnum):
    """What a script can tell from how `amago` ended."""

    OK = 0
    INTERNAL = 1  # a bug of ours
    BAD_INPUT = 2
    RUN_BUSY = 3
    BAD_CHECKPOINT = 4
    STORAGE = 5
    DIVERGED = 6
    BELOW_THRESHOLD = 7  # `amago eval --fail-under`
    PROCESS_LOST = 8  # the collector died, or environments keep failing
    INTERRUPTED = 130  # 128 + SIGINT
    TERMINATED = 143  # 128 + SIGTERM
