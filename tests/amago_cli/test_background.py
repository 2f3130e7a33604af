"""Trainers in the background: real processes that outlive who starts them, and leave their last words."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from amago_cli import background
from amago_cli.background import CappedLog, last_words
from amago_cli.training import choose_place
from store.events import read_events
from store.layout import RunPaths
from store.lock import RunLock
from store.runs import create_run, read_config
from store.status import Status, describe_state, read_status

Amago = Callable[..., Any]
QUICK = ("--preset", "tiny", "--device", "cpu", "--deterministic", "--workers", "0", "--set", "run.log_every=0.2")
PATIENCE = 90  # seconds


def wait_for(happens: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not happens():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def status_of(paths: RunPaths) -> Status:
    status = read_status(paths)
    assert status is not None
    return status


def test_a_detached_run_can_be_paused_continued_stopped_and_resumed(amago: Amago) -> None:
    started = amago("train", "frozen-lake", *QUICK, "--run", "a", "--detach")
    assert started.code == 0, started.err
    paths = RunPaths(Path("runs/a").resolve())
    pid = status_of(paths).pid
    assert f"run a is trained by process {pid}" in started.out
    assert started.out.splitlines()[-2:] == ["  amago watch a", "  amago stop a"]
    trainer = psutil.Process(pid)
    assert os.getsid(pid) == pid
    try:
        trainer.send_signal(signal.SIGHUP)
        assert amago("pause", "a").code == 0
        wait_for(lambda: status_of(paths).phase == "paused")
        step = status_of(paths).step
        assert describe_state(read_status(paths)) == "running"
        assert amago("continue", "a").code == 0
        wait_for(lambda: status_of(paths).step > step)
        assert amago("stop", "a").code == 0
        wait_for(lambda: status_of(paths).state == "stopped")
        psutil.wait_procs([trainer], PATIENCE)
    finally:
        if trainer.is_running():
            trainer.kill()
    assert [event.kind for event in read_events(paths)][-1] == "end"
    assert any("stopped on request" in line for line in last_words(paths))

    steps = status_of(paths).step + 100
    resumed = amago("train", "--resume", "a", "--steps", str(steps), "--detach")
    assert resumed.code == 0, resumed.err
    wait_for(lambda: status_of(paths).state == "finished")
    assert status_of(paths).step >= steps
    assert read_config(paths)["config"]["run"]["steps"] == steps

    refused = amago("train", "--resume", "a", "--detach")
    assert refused.code == 2
    assert len(refused.err.splitlines()) == 1 and "run a has used up its steps" in refused.err
    assert status_of(paths).state == "finished"


def test_a_trainer_that_cannot_begin_says_why(amago: Amago) -> None:
    paths = create_run(Path("runs"), "a", {"env": {"name": "frozen-lake"}, "run": {"device": "cpu"}})
    (paths.checkpoint(10)).mkdir(parents=True)
    result = amago("train", "--resume", "a", "--detach")
    assert result.code == 4
    assert result.err.startswith("amago: run a has no sound checkpoint to go on from")
    assert "no sound checkpoint" in last_words(paths)[-1]
    status = status_of(paths)
    assert status.state == "crashed" and "no sound checkpoint" in status.message


def test_a_run_in_use_keeps_its_log(amago: Amago) -> None:
    paths = create_run(Path("runs"), "a", {})
    paths.trainer_log.write_text("its own\n")
    with RunLock(paths):
        result = amago("train", "--resume", "a", "--detach")
    assert result.code == 3
    assert last_words(paths) == ["its own"] and read_status(paths) is None


def test_the_log_keeps_its_newer_half(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "MAX_LOG_BYTES", 1000)
    paths = RunPaths(tmp_path)
    log = CappedLog(paths.trainer_log)
    with paths.trainer_log.open("ab", buffering=0) as stderr:
        for number in range(200):
            log.write(f"line {number}\n")
            log.flush()
            assert paths.trainer_log.stat().st_size <= 1000
        stderr.write(b"last\n")
    log.close()
    lines = paths.trainer_log.read_text().splitlines()
    assert lines[-3:] == ["line 198", "line 199", "last"]
    first = int(lines[0].removeprefix("line "))
    assert lines[:-1] == [f"line {number}" for number in range(first, 200)]
    assert last_words(paths, 2) == ["line 199", "last"]


def test_without_a_log_there_are_no_last_words(tmp_path: Path) -> None:
    assert last_words(RunPaths(tmp_path)) == []


@pytest.mark.parametrize(
    ("is_capable", "options", "place"),
    [
        (True, {}, "screen"),
        (True, {"plain": True}, "here"),
        (True, {"as_json": True}, "here"),
        (True, {"detach": True}, "background"),
        (False, {}, "here"),
        (False, {"detach": True, "as_json": True}, "background"),
    ],
)
def test_where_a_run_is_trained(
    monkeypatch: pytest.MonkeyPatch, is_capable: bool, options: dict[str, bool], place: str
) -> None:
    monkeypatch.setattr("amago_cli.tui.run.capable", lambda stream: is_capable)
    assert choose_place(sys.stdout, **{"as_json": False, "plain": False, "detach": False, **options}) == place
