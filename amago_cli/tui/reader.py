"""Threads that read for the screen, so that a slow disk never stops it.

They are daemons: a disk that hangs must not keep the process alive after the person has left.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from amago_cli.tui.feed import Feed
from amago_cli.tui.snapshot import Snapshot
from store.layout import RunPaths

INTERVAL = 0.5  # seconds between two reads

Value = TypeVar("Value")


class FeedThread:
    """Reads one run after another and delivers each snapshot, from its own thread."""

    def __init__(self, deliver: Callable[[Snapshot], object]) -> None:
        self._deliver = deliver
        self._feed: Feed | None = None
        self._wake = threading.Event()
        self._ended = False
        threading.Thread(target=self._loop, name="amago-feed", daemon=True).start()

    def follow(self, paths: RunPaths) -> None:
        """From now on read this run."""
        self._feed = Feed(paths)
        self._wake.set()

    def stop(self) -> None:
        """Read no more; does not wait for a read in progress."""
        self._ended = True
        self._wake.set()

    def _loop(self) -> None:
        while not self._ended:
            self._wake.clear()
            feed = self._feed
            if feed is not None:
                snapshot = feed.read()
                if not self._ended and feed is self._feed:
                    self._deliver(snapshot)
            self._wake.wait(INTERVAL)


class Loader:
    """Does one piece of work at a time in its own thread; of those asked for meanwhile only the newest."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._next: Callable[[], object] | None = None
        self._busy = False

    def ask(self, work: Callable[[], Value], deliver: Callable[[Value], object]) -> None:
        """Soon hand what `work` returns to `deliver`, in the loader's thread. Neither may raise."""
        with self._lock:
            self._next = lambda: deliver(work())
            if not self._busy:
                self._busy = True
                threading.Thread(target=self._loop, name="amago-loader", daemon=True).start()

    def _loop(self) -> None:
        while True:
            with self._lock:
                job, self._next = self._next, None
                self._busy = job is not None
            if job is None:
                return
            job()
