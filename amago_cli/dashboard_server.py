"""The dashboard's server: a Streamlit process that listens to this machine alone, asks nothing and reports to nobody.

Knows how it is started, found ready and ended; nothing of what it shows.
"""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from store.errors import AmagoError

APP = Path(__file__).parents[1] / "dashboard" / "app.py"

PORTS_TRIED = 50
READY_WITHIN = 60.0  # seconds
PATIENCE = 5.0  # seconds it is given to end by itself

_EVERYWHERE = {"0.0.0.0", "::", ""}


def free_port(host: str, first: int) -> int:
    """The first port from `first` on where nobody listens. Raises AmagoError."""
    last = min(first + PORTS_TRIED, 65536) - 1
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for port in range(first, last + 1):
        try:
            with socket.create_server((host, port), family=family):
                return port
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise AmagoError(_refusal(error, host, port)) from error
    raise AmagoError(f"ports {first} to {last} are all in use; choose another with --port")


def _refusal(error: OSError, host: str, port: int) -> str:
    if isinstance(error, PermissionError):
        return f"--port {port} needs privileges; choose one above 1023"
    return f"cannot listen on --host {host}: {error.strerror or error}; 127.0.0.1 is this machine"


def command(host: str, port: int) -> list[str]:
    """What starts the server. -P keeps a module in the working directory from standing in for one of ours."""
    options = {
        "server.address": host,
        "server.port": port,
        "server.headless": "true",  # opens no browser, asks for no address
        "server.fileWatcherType": "none",
        "logger.level": "warning",
        "browser.gatherUsageStats": "false",
        "client.toolbarMode": "viewer",
        "client.showErrorDetails": "none",
        "runner.magicEnabled": "false",
        "theme.base": APP.with_name("theme.toml"),
    }
    flags = [f"--{name}={value}" for name, value in options.items()]
    return [sys.executable, "-P", "-m", "streamlit", "run", str(APP), *flags]


@contextmanager
def running(runs_dir: Path, host: str, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """The server while the block lasts. Its log goes to our stderr, what it would tell people nowhere."""
    server = subprocess.Popen(
        command(host, port),
        env={**os.environ, "AMAGO_RUNS_DIR": str(runs_dir.resolve())},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    try:
        yield server
    finally:
        _end(server)


def wait_until_ready(server: subprocess.Popen[bytes], host: str, port: int, stop: threading.Event) -> bool:
    """Whether it answers, False when `stop` came first. Raises AmagoError when it ended or takes too long."""
    address = f"{url(host, port)}/_stcore/health"
    deadline = time.monotonic() + READY_WITHIN
    while time.monotonic() < deadline and not stop.wait(0.1):
        if server.poll() is not None:
            raise AmagoError(f"the dashboard ended at once with exit code {server.returncode}; try another --port")
        if _answers(address):
            return True
    if stop.is_set():
        return False
    raise AmagoError(f"the dashboard did not answer within {READY_WITHIN:.0f} s; try again on a less busy machine")


def url(host: str, port: int) -> str:
    """The address for a browser on this machine."""
    here = "127.0.0.1" if host in _EVERYWHERE else host
    return f"http://[{here}]:{port}" if ":" in here else f"http://{here}:{port}"


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=1.0) as answer:
            return answer.status == 200
    except (urllib.error.URLError, OSError):
        return False


def _end(server: subprocess.Popen[bytes]) -> None:
    """Ask it to end, which Ctrl-C in a terminal has already done; make it when it does not."""
    server.terminate()
    try:
        server.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
