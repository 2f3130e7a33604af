"""What the script does to a real terminal and to a pipe that is closed early."""

from __future__ import annotations

import os
import pty
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import sys
from agent.progress import Event, Progress, Tally
from amago_cli.displays import choose_display

display = choose_display(sys.stdout)
report = Progress("learning", 10, 1, 1, 1.0, 1.0, 1.0, None, None, Tally(1, 2))
display(report)
display(Event("info", "an event"))
display(report)
display.close()
display.note("done")
"""


def run_on_terminal(script: str, term: str) -> str:
    """Everything a program writes to a terminal of that kind."""
    leader, follower = pty.openpty()
    environment = {**os.environ, "TERM": term}
    with subprocess.Popen([sys.executable, "-c", script], stdout=follower, env=environment):
        os.close(follower)
        written = b""
        while True:
            try:
                part = os.read(leader, 4096)
            except OSError:  # Linux's way to say that the other side is closed
                break
            written += part
    os.close(leader)
    return written.decode()


def test_the_live_block_needs_no_clean_up() -> None:
    written = run_on_terminal(SCRIPT, "xterm")
    assert "an event" in written
    assert "\x1b[1A" in written
    for code in ("?25l", "?1049h", "?1000h"):  # hidden cursor, alternate screen, mouse tracking
        assert code not in written
    assert written.endswith("done\r\n")


def test_a_dumb_terminal_gets_plain_lines() -> None:
    assert "\x1b" not in run_on_terminal(SCRIPT, "dumb")


def test_a_reader_that_leaves_early_causes_no_traceback(tmp_path: Path) -> None:
    script = "import sys; sys.argv = ['amago', 'goals', '--json']; from amago_cli.app import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""


def run_in_shell(arguments: str, encoding: str = "utf-8") -> subprocess.CompletedProcess[str]:
    """`amago` with arguments and redirections, as a shell reads them."""
    script = "from amago_cli.app import main; main()"
    return subprocess.run(
        f"{shlex.join([sys.executable, '-c', script])} {arguments}",
        shell=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONIOENCODING": encoding},
    )


def test_a_character_that_the_terminal_lacks_is_escaped(tmp_path: Path) -> None:
    result = run_in_shell(f"runs --runs-dir {tmp_path}/größe", "ascii")
    assert (result.returncode, result.stderr) == (0, "")
    assert "gr\\xf6\\xdfe" in result.stdout


@pytest.mark.parametrize("closed", [">&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_error(closed: str) -> None:
    result = run_in_shell(f"goals {closed}")
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("verb", ["envs", "goals --json"])
def test_output_that_does_not_fit_is_one_line(verb: str) -> None:
    result = run_in_shell(f"{verb} > /dev/full")
    assert result.returncode == 5
    assert result.stderr.startswith("amago: cannot write") and result.stderr.count("\n") == 1
