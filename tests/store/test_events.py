"""The history of a run is readable whatever happened to its writer."""

import json

import pytest

from store.errors import StorageError
from store.events import EventLog, read_events
from store.layout import RunPaths


@pytest.fixture
def paths(tmp_path):
    return RunPaths(tmp_path)


def texts(paths: RunPaths, last: int = 200) -> list[str]:
    return [event.text for event in read_events(paths, last)]


def test_events_come_back_in_order(paths):
    assert read_events(paths) == []
    log = EventLog(paths)
    log.append("start", "training on crafter", 0, 0)
    log.append("achievement", "größe for the first time", 120, 3)
    first, second = read_events(paths)
    assert (first.kind, first.text, first.step, first.update) == ("start", "training on crafter", 0, 0)
    assert (second.kind, second.text, second.step, second.update) == ("achievement", "größe for the first time", 120, 3)
    assert 0 < first.time <= second.time


def test_only_the_last_ones_are_asked_for(paths):
    log = EventLog(paths)
    for number in range(10):
        log.append("checkpoint", str(number), number, 0)
    assert texts(paths, last=3) == ["7", "8", "9"]
    assert texts(paths, last=0) == []


def test_a_torn_line_costs_only_itself(paths):
    EventLog(paths).append("start", "a", 0, 0)
    with paths.events.open("a") as file:
        file.write('{"time": 1.0, "step": 5, "upd')  # killed here
    assert texts(paths) == ["a"]
    EventLog(paths).append("resume", "b", 0, 0)
    assert texts(paths) == ["a", "b"]


@pytest.mark.parametrize(
    "line",
    [
        b"\xff\xfe\x00",
        b"[]",
        b"null",
        b"{}",
        b'{"time": NaN, "step": 0, "update": 0, "kind": "end", "text": ""}',
        b'{"time": 0, "step": 1e999, "update": 0, "kind": "end", "text": ""}',
        b'{"time": 0, "step": [], "update": 0, "kind": "end", "text": ""}',
        b"[" * 3000,
    ],
)
def test_a_foreign_line_is_passed_over(paths, line):
    log = EventLog(paths)
    log.append("start", "a", 0, 0)
    with paths.events.open("ab") as file:
        file.write(line + b"\n")
    log.append("end", "b", 0, 0)
    assert texts(paths) == ["a", "b"]


def test_a_kind_of_a_later_version_is_kept(paths):
    record = {"time": 1, "step": 2, "update": 3, "kind": "eclipse", "text": "dark", "more": True}
    paths.events.write_text(json.dumps(record) + "\n")
    (event,) = read_events(paths)
    assert (event.kind, event.text, event.step) == ("eclipse", "dark", 2)


def test_a_long_text_is_cut_so_that_its_line_can_be_read(paths):
    EventLog(paths).append("warning", "ü" * 10_000, 0, 0)
    assert texts(paths, last=1) == ["ü" * 1000]


def test_a_file_that_cannot_be_read_is_empty_and_one_that_cannot_be_written_is_told(paths):
    paths.events.mkdir()
    assert read_events(paths) == []
    with pytest.raises(StorageError, match=r"events\.jsonl"):
        EventLog(paths).append("start", "a", 0, 0)
