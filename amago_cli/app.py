"""The table of verbs, and the entry point of the `amago` script."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from amago_cli.commands.dashboard import dashboard
from amago_cli.commands.envs import envs
from amago_cli.commands.evaluate import evaluate
from amago_cli.commands.goals import goals
from amago_cli.commands.orders import go_on, pause, stop
from amago_cli.commands.runs import runs
from amago_cli.commands.show import show
from amago_cli.commands.store import store
from amago_cli.commands.train import train
from amago_cli.commands.trainer import trainer
from amago_cli.commands.watch import watch
from amago_cli.failures import run_guarded
from amago_cli.streams import prepare_streams

COMMANDS = {
    "train": train,
    "eval": evaluate,
    "runs": runs,
    "show": show,
    "watch": watch,
    "stop": stop,
    "pause": pause,
    "continue": go_on,
    "dashboard": dashboard,
    "goals": goals,
}

app = typer.Typer(
    name="amago",
    rich_markup_mode=None,  # plain help and errors: half the start-up time, and no boxes in logs
    pretty_exceptions_enable=False,
    pretty_exceptions_show_locals=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for name, command in COMMANDS.items():
    app.command(name)(command)
app.command("background", hidden=True)(trainer)
app.add_typer(envs, name="envs")
app.add_typer(store, name="store")


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"amago {version('amago')}")
        raise typer.Exit()


@app.callback(invoke_without_command=True)
def root(
    ctx: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version and stop.", callback=_print_version, is_eager=True),
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an unexpected error.")] = False,
) -> None:
    """Train agents that follow instructions, look at their runs, evaluate them.

    \b
      amago train crafter --goals "collect sapling, place plant" --minutes 3
      amago runs
      amago eval --checkpoint latest
    """
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


def main() -> None:
    """Run the command line; the exit codes are those of `amago_cli.exit_codes`."""
    prepare_streams()
    sys.exit(run_guarded(lambda: app(prog_name="amago"), debug="--debug" in sys.argv))
