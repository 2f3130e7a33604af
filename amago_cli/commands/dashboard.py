"""`amago dashboard`: the runs in the browser, until Ctrl-C."""

from __future__ import annotations

import getpass
import importlib.util
import os
from pathlib import Path
from typing import Annotated

import typer

from amago_cli.options import DEFAULT_RUNS_DIR, RunsDir
from amago_cli.output import remark

DEFAULT_PORT = 8501
HERE_ONLY = "127.0.0.1"

Port = Annotated[int, typer.Option("--port", min=1, max=65535, help="Port to listen on; the next free one if busy.")]
Host = Annotated[str, typer.Option("--host", help="Address to listen on; any other than 127.0.0.1 lets others in.")]


def dashboard(runs_dir: RunsDir = DEFAULT_RUNS_DIR, port: Port = DEFAULT_PORT, host: Host = HERE_ONLY) -> None:
    """Show the runs in the browser: curves, goals, replays, evaluations."""
    from amago_cli import dashboard_server
    from amago_cli.signals import stop_on_signals
    from store.errors import AmagoError

    _check(runs_dir)
    port = dashboard_server.free_port(host, port)
    with (
        stop_on_signals(remark, "closing the dashboard") as stop,
        dashboard_server.running(runs_dir, host, port) as server,
    ):
        if dashboard_server.wait_until_ready(server, host, port, stop.event):
            typer.echo(_greeting(runs_dir, dashboard_server.url(host, port), port))
        while not stop.event.wait(0.2):
            if server.poll() is not None:
                raise AmagoError(f"the dashboard ended with exit code {server.returncode}; start it again")
    raise typer.Exit(stop.exit_code)


def _check(runs_dir: Path) -> None:
    """AmagoError unless there is something to serve with, and a place to look at."""
    from store.errors import AmagoError

    if importlib.util.find_spec("streamlit") is None:
        raise AmagoError('the dashboard needs streamlit, which is not installed; get it with `pip install "streamlit"`')
    if runs_dir.exists() and not runs_dir.is_dir():
        raise AmagoError(f"{runs_dir} is not a directory; give the directory of the runs with --runs-dir")


def _greeting(runs_dir: Path, url: str, port: int) -> str:
    lines = [f"dashboard of {runs_dir}: {url}   (Ctrl-C ends it)"]
    if "SSH_CONNECTION" in os.environ:
        lines.append(f"on your own machine first: {_tunnel(port)}")
    return "\n".join(lines)


def _tunnel(port: int) -> str:
    """The ssh command that brings the page to the machine somebody sits at."""
    parts = os.environ["SSH_CONNECTION"].split()  # client address, client port, our address, our port
    ours = parts[2] if len(parts) == 4 else "HOST"
    other_port = f" -p {parts[3]}" if len(parts) == 4 and parts[3] != "22" else ""
    return f"ssh{other_port} -L {port}:127.0.0.1:{port} {getpass.getuser()}@{ours}"
