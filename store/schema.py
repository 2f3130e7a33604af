"""Versions of what our files contain: which ones this amago reads, and what it says of one it cannot read.

    1   first
    2   rollout shards may hold `diagnostics`, and their index says of which trajectories
    3   the index of a rollout shard names the game

Files are always written in the newest version. What changed inside a file is known where that file is read.
"""

from __future__ import annotations

from pathlib import Path

from store.errors import StorageError

SCHEMA_VERSION = 3
OLDEST_READABLE = 1


def check_schema(found: object, path: Path) -> int:
    """`found`, what a file says of its version, if this amago reads that one; StorageError with a clear line if not."""
    if not isinstance(found, int) or isinstance(found, bool) or found < OLDEST_READABLE:
        raise StorageError(f"{path} is damaged: {found!r} is no schema version")
    if found > SCHEMA_VERSION:
        raise StorageError(
            f"{path} was made by a newer amago: it has schema version {found}, "
            f"this one reads up to {SCHEMA_VERSION}; update amago"
        )
    return found
