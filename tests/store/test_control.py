"""Orders arrive once, in order, and only at the trainer that they were given to."""

import time

import pytest

from store.control import ORDERS, give_order, take_orders
from store.errors import StorageError
from store.layout import RunPaths


@pytest.fixture
def paths(tmp_path):
    return RunPaths(tmp_path)


def test_orders_are_taken_once_and_oldest_first(paths):
    assert take_orders(paths) == []
    for order in reversed(ORDERS):
        give_order(paths, order)
    assert take_orders(paths) == list(reversed(ORDERS))
    assert take_orders(paths) == []


def test_an_order_for_an_earlier_trainer_is_dropped(paths):
    give_order(paths, "stop")
    assert take_orders(paths, since=time.time() + 1) == []
    assert list(paths.orders.iterdir()) == []


def test_what_is_no_order_is_left_alone(paths):
    give_order(paths, "pause")
    alien = ["README", "1-2-dance", "x-2-stop", "00000000000000000001-7-stop.tmp", "1-stop", "1-2-3-stop"]
    for name in alien:
        (paths.orders / name).write_text("")
    (paths.orders / "00000000000000000001-7-stop").mkdir()  # cannot be taken away, so it would come again and again
    assert take_orders(paths) == ["pause"]
    assert sorted(path.name for path in paths.orders.iterdir()) == sorted([*alien, "00000000000000000001-7-stop"])


def test_a_run_that_is_gone_gets_no_order(tmp_path):
    with pytest.raises(StorageError, match="orders"):
        give_order(RunPaths(tmp_path / "gone"), "stop")
