"""What a run takes of the machine."""

import os

import pytest

from agent.resources import spare_cores


@pytest.mark.parametrize(("usable", "spare"), [(1, 1), (2, 1), (8, 7)])
def test_one_core_is_left_to_those_who_play(monkeypatch, usable, spare):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(usable)), raising=False)
    assert spare_cores() == spare


def test_where_nobody_tells_which_cores_may_be_used(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    assert spare_cores() == 3
