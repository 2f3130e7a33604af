"""The orders that reach a running trainer, in the order in which they are carried out."""

from __future__ import annotations

import threading
import time
from collections import deque

import psutil

from store.control import take_orders
from store.layout import RunPaths

_LOOK_EVERY = 0.2  # seconds


class Inbox:
    """Orders of this process's lifetime. "stop" does not wait for its turn: it sets `stop`."""

    def __init__(self, paths: RunPaths, stop: threading.Event) -> None:
        self.stop = stop
        self._paths = paths
        self._since = psutil.Process().create_time()
        self._waiting: deque[str] = deque()
        self._looked = 0.0

    def look(self) -> bool:
        """Whether an order waits. Cheap enough to be called all the time."""
        now = time.monotonic()
        if now - self._looked >= _LOOK_EVERY:
            self._looked = now
            orders = take_orders(self._paths, self._since)
            if "stop" in orders:
                self.stop.set()
            self._waiting.extend(order for order in orders if order != "stop")
        return bool(self._waiting)

    def next(self) -> str | None:
        """The next order; None when none waits, or a stop has made them idle."""
        return self._waiting.popleft() if self.look() and not self.stop.is_set() else None
