"""`amago watch` where no screen can be drawn."""

from __future__ import annotations

import json
import subprocess
import sys

from screen_run import set_status

from amago_cli.tui.plain import follow
from store.layout import RunPaths

PROGRAM = "from amago_cli.app import main; main()"


def watch(run: RunPaths, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", PROGRAM, "watch", run.name, "--runs-dir", str(run.root.parent), *options]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)


def test_a_pipe_gets_a_line_and_no_escape_code(run: RunPaths) -> None:
    set_status(run, state="finished", message="steps")
    result = watch(run)
    assert result.returncode == 0
    assert result.stdout == "calm-otter-7 | finished | 34% | 12,000 steps | steps\n"
    assert "\x1b" not in result.stdout + result.stderr


def test_json_lines(run: RunPaths) -> None:
    set_status(run, state="diverged", message="critic_loss")
    result = watch(run, "--json")
    assert result.returncode == 6
    record = json.loads(result.stdout)
    assert (record["type"], record["run"], record["state"], record["step"]) == ("status", run.name, "diverged", 12_000)


def test_it_follows_until_the_run_ends(run: RunPaths) -> None:
    class Stream:
        """Ends the run after its first line."""

        def __init__(self) -> None:
            self.text = ""

        def write(self, text: str) -> None:
            self.text += text
            set_status(run, state="stopped", message="stopped")

        def flush(self) -> None: ...

    stream = Stream()
    assert follow(run, as_json=False, stream=stream) == 0  # type: ignore[arg-type]
    first, last = stream.text.splitlines()
    assert first == "calm-otter-7 | running | learning | 34% | 12,000 steps | 812 steps/s | 6.3 updates/s | 2:01 left"
    assert last.startswith("calm-otter-7 | stopped")
