"""`amago dashboard` as a process: where it listens, what it says, how it ends."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from amago_cli import dashboard_server
from amago_cli.commands import dashboard as command
from store.errors import AmagoError

AMAGO = str(Path(sys.executable).with_name("amago"))


def test_a_busy_port_is_passed_over() -> None:
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = busy.getsockname()[1]
        assert dashboard_server.free_port("127.0.0.1", port) > port


@pytest.mark.parametrize("host", ["no.such.host.invalid", "203.0.113.7"])
def test_a_host_that_is_not_ours_is_an_error_of_one_line(host: str) -> None:
    with pytest.raises(AmagoError, match=f"--host {host}"):
        dashboard_server.free_port(host, 18501)


def test_the_server_stays_at_home() -> None:
    options = dashboard_server.command("127.0.0.1", 8501)
    assert "-P" in options[: options.index("-m")]  # nothing is imported from the working directory
    assert {
        "--server.address=127.0.0.1",
        "--server.headless=true",
        "--browser.gatherUsageStats=false",
        "--client.showErrorDetails=none",
    } <= set(options)


@pytest.mark.parametrize(("host", "url"), [("0.0.0.0", "http://127.0.0.1:1"), ("::1", "http://[::1]:1")])
def test_the_address_is_one_a_browser_takes(host: str, url: str) -> None:
    assert dashboard_server.url(host, 1) == url


def test_the_tunnel_names_the_machine_that_was_logged_into(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSH_CONNECTION", "198.51.100.2 50000 192.0.2.9 2222")
    monkeypatch.setattr("getpass.getuser", lambda: "ada")
    assert "ssh -p 2222 -L 8502:127.0.0.1:8502 ada@192.0.2.9" in command._greeting(Path("runs"), "http://x", 8502)
    monkeypatch.delenv("SSH_CONNECTION")
    assert "ssh" not in command._greeting(Path("runs"), "http://x", 8502)


def test_without_streamlit_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(AmagoError, match="pip install"):
        command.dashboard()


def test_a_file_is_no_directory_of_runs(tmp_path: Path) -> None:
    file = tmp_path / "runs"
    file.write_text("")
    with pytest.raises(AmagoError, match="not a directory"):
        command.dashboard(runs_dir=file)


def test_a_server_that_ends_at_once_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(dashboard_server, "command", lambda host, port: [sys.executable, "-c", "raise SystemExit(3)"])
    with pytest.raises((AmagoError, typer.Exit), match="exit code 3"):
        command.dashboard(runs_dir=tmp_path, port=18501)


@pytest.fixture
def served(runs: Path, tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """The command at work in an empty home, without a terminal, its first port taken."""
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = busy.getsockname()[1]
        process = subprocess.Popen(
            [AMAGO, "dashboard", "--runs-dir", str(runs), "--port", str(port)],
            env={**os.environ, "HOME": str(tmp_path), "SSH_CONNECTION": "198.51.100.2 1 192.0.2.9 22"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        yield process, port
    process.kill()
    process.communicate()


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_it_serves_on_a_free_port_until_it_is_told_to_end(
    served: tuple[subprocess.Popen[str], int], number: signal.Signals, code: int
) -> None:
    process, busy_port = served
    assert process.stdout is not None
    first, second = process.stdout.readline(), process.stdout.readline()
    url = next(word for word in first.split() if word.startswith("http://127.0.0.1:"))
    port = int(url.rpartition(":")[2])
    assert port > busy_port
    assert f"ssh -L {port}:127.0.0.1:{port}" in second
    with urllib.request.urlopen(url) as page:
        assert page.status == 200
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == code
    assert "Traceback" not in errors
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=1)
