"""Heartbeats tell the truth about dead trainers, and one run has one trainer."""

import os
import signal
import socket
import subprocess
import sys
from dataclasses import replace

import pytest

from store.errors import RunBusyError
from store.layout import RunPaths
from store.lock import RunLock
from store.status import STALE_AFTER, Status, announce, describe_state, read_status, write_status

HOLD = """
import sys, time
from pathlib import Path
from store.layout import RunPaths
from store.lock import RunLock
lock = RunLock(RunPaths(Path(sys.argv[1])))
print("held", flush=True)
time.sleep(60)
"""


@pytest.fixture
def paths(tmp_path):
    return RunPaths(tmp_path)


@pytest.fixture
def holder(paths):
    command = [sys.executable, "-c", HOLD, str(paths.root)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def running(**changes):
    status = Status(state="running", pid=os.getpid(), host=socket.gethostname(), started=0.0, heartbeat=1000.0)
    return replace(status, **changes)


def test_status_round_trip(paths):
    status = running(step=10, update=3, phase="collecting", command="amago train", message="ü")
    write_status(paths, status)
    assert read_status(paths) == status


def test_a_status_without_the_newer_fields_is_still_read(paths):
    paths.status.write_text('{"state": "running", "pid": 1, "host": "h", "started": 0, "heartbeat": 0, "step": 7}')
    status = read_status(paths)
    assert status is not None
    assert (status.step, status.elapsed, status.remaining, status.fraction) == (7, 0.0, -1.0, -1.0)
    assert (status.device, status.memory_bytes, status.rollouts) == ("", 0, 0)


def test_a_new_trainer_stands_where_the_last_one_ended(paths):
    write_status(paths, running(state="stopped", pid=1, step=10, update=3, elapsed=5.0, phase="learning", message="m"))
    announced = announce(paths, os.getpid(), "amago train --resume r")
    assert read_status(paths) == announced
    assert (announced.state, announced.pid, announced.phase, announced.message) == (
        "running",
        os.getpid(),
        "starting",
        "",
    )
    assert (announced.step, announced.update, announced.elapsed) == (10, 3, 5.0)
    assert announce(paths, os.getpid(), "-c trainer").command == "amago train --resume r"  # of who started it
    assert announce(paths, os.getppid(), "another").command == "another"


@pytest.mark.parametrize(
    "content",
    [
        None,
        "",
        "[]",
        "{}",
        '{"state": "dancing"}',
        '{"state": "running"}',
        '{"state": "running", "pid": null, "host": "h", "started": 0, "heartbeat": 0}',
        '{"state": "running", "pid": Infinity, "host": "h", "started": 0, "heartbeat": 0}',
    ],
)
def test_a_missing_or_damaged_status_is_no_status(paths, content):
    if content is not None:
        paths.status.write_text(content)
    assert read_status(paths) is None
    assert describe_state(read_status(paths)) == "unknown"


def test_a_status_of_a_later_version_is_still_read(paths):
    paths.status.write_text('{"state": "finished", "pid": 1, "host": "h", "started": 0, "heartbeat": 0, "new": 1}')
    assert describe_state(read_status(paths)) == "finished"


def test_a_living_trainer_is_running():
    assert describe_state(running(), now=1001.0) == "running"


def test_a_silent_trainer_has_crashed():
    assert describe_state(running(host="elsewhere"), now=1000.0 + STALE_AFTER) == "running"
    assert describe_state(running(host="elsewhere"), now=1001.0 + STALE_AFTER) == "crashed"


@pytest.mark.parametrize("pid", [0, -1, 2**31 - 1, 2**40, 2**70])
def test_an_impossible_process_has_crashed(pid):
    assert describe_state(running(pid=pid), now=1001.0) == "crashed"


def test_a_killed_trainer_has_crashed_even_before_it_is_reaped(holder):
    status = running(pid=holder.pid)
    assert describe_state(status, now=1001.0) == "running"
    holder.send_signal(signal.SIGKILL)
    os.waitid(os.P_PID, holder.pid, os.WEXITED | os.WNOWAIT)  # dead, still a zombie
    assert describe_state(status, now=1001.0) == "crashed"
    holder.wait()
    assert describe_state(status, now=1001.0) == "crashed"


def test_the_second_trainer_is_refused_by_name(paths, holder):
    expected = f"being trained by process {holder.pid} on {socket.gethostname()}"
    with pytest.raises(RunBusyError, match=expected):
        RunLock(paths)


def test_a_killed_trainer_leaves_no_lock(paths, holder):
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    with RunLock(paths):
        pass


def test_one_process_cannot_hold_a_run_twice(paths):
    with RunLock(paths), pytest.raises(RunBusyError, match=str(os.getpid())):
        RunLock(paths)
    with RunLock(paths) as lock:
        lock.release()
        RunLock(paths).release()


def test_the_holder_may_be_unknown_for_a_moment(paths, holder):
    paths.lock.write_text("")
    with pytest.raises(RunBusyError, match="another process"):
        RunLock(paths)
