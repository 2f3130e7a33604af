"""Orders to a running trainer: one small file each, which the trainer takes away.

Whoever may write into the run's directory may give orders. It does not know what a trainer makes of them.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress

from store.atomic import write_text
from store.errors import storage_guard
from store.layout import RunPaths

ORDERS = ("pause", "resume", "checkpoint", "evaluate", "stop")


def give_order(paths: RunPaths, order: str) -> None:
    """Leave an order for the trainer of the run, which looks a few times a second. Raises StorageError."""
    assert order in ORDERS, order
    with storage_guard(paths.orders, paths.name):
        paths.orders.mkdir(exist_ok=True)
    name = f"{time.time_ns():020d}-{os.getpid()}-{order}"
    write_text(paths.orders / name, "", durable=False, run=paths.name)


def take_orders(paths: RunPaths, since: float = 0.0) -> list[str]:
    """The orders that were given, oldest first; they are removed. For the trainer alone, which holds the run's lock.

    An order from before `since` (seconds since 1970) is removed without being returned: it was for another trainer.
    Other files are left alone, and what cannot be read or removed is no order.
    """
    taken = []
    for name in _names(paths):
        given, _, order = name.split("-")
        with suppress(OSError):
            (paths.orders / name).unlink()
            if int(given) >= since * 1e9:
                taken.append(order)
    return taken


def _names(paths: RunPaths) -> list[str]:
    """The names of the files that are orders, oldest first: times have the same number of digits."""
    try:
        return sorted(path.name for path in paths.orders.iterdir() if _is_order(path.name))
    except OSError:
        return []


def _is_order(name: str) -> bool:
    given, _, rest = name.partition("-")
    pid, _, order = rest.partition("-")
    return given.isdecimal() and pid.isdecimal() and order in ORDERS
