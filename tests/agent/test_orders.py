"""Orders wait for their turn, but for "stop", and those of an earlier trainer never come."""

import threading

from agent import orders as orders_module
from agent.orders import Inbox
from store.control import give_order
from store.layout import RunPaths


def test_a_stop_does_not_wait(tmp_path, monkeypatch):
    monkeypatch.setattr(orders_module, "_LOOK_EVERY", 0.0)
    paths, stop = RunPaths(tmp_path), threading.Event()
    inbox = Inbox(paths, stop)
    assert not inbox.look() and inbox.next() is None
    for order in ("pause", "checkpoint"):
        give_order(paths, order)
    assert inbox.look() and inbox.next() == "pause" and inbox.look()
    give_order(paths, "stop")
    assert inbox.next() is None and stop.is_set()


def test_an_order_older_than_this_process_is_dropped(tmp_path):
    paths = RunPaths(tmp_path)
    paths.orders.mkdir()
    (paths.orders / "00000000000000000001-7-stop").write_text("")
    stop = threading.Event()
    assert not Inbox(paths, stop).look()
    assert not stop.is_set() and list(paths.orders.iterdir()) == []
