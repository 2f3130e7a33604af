"""`amago envs`: the environments that can be trained on; `amago envs check`: whether one keeps its promises."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from amago_cli import environments
from amago_cli.exit_codes import ExitCode
from amago_cli.options import AsJson
from amago_cli.output import count, print_json, table

if TYPE_CHECKING:
    from agent.env_check.finding import Finding

envs = typer.Typer(rich_markup_mode=None)

Target = Annotated[str, typer.Argument(help="A name of `amago envs`, or my_package:make_env.", show_default=False)]
EnvId = Annotated[str | None, typer.Option("--id", help="gym: CartPole-v1, or my_module:MyEnv-v0.")]


@envs.callback(invoke_without_command=True)
def list_environments(ctx: typer.Context, as_json: AsJson = False) -> None:
    """List the environments, or check one: amago envs check my_package:make_env."""
    if ctx.invoked_subcommand is not None:
        return
    from agent.catalog import ENVIRONMENTS
    from agent.config import Config, override

    defaults = {name: override(Config(), {"env.name": name}).env for name in ENVIRONMENTS}
    if as_json:
        records = [
            {
                "name": name,
                "description": entry.description,
                "instructions": environments.instructions_of(name).kind,
                "attempts": defaults[name].attempts,
                "horizon": defaults[name].horizon,
                "install": environments.install_command(name),
                "installed": environments.is_installed(name),
                "example": environments.example(name),
            }
            for name, entry in ENVIRONMENTS.items()
        ]
        print_json(records)
        return
    rows = [
        [
            name,
            entry.description,
            environments.instructions_of(name).text,
            environments.describe_attempts(defaults[name]),
            environments.describe_packages(name),
        ]
        for name, entry in ENVIRONMENTS.items()
    ]
    print(table(["environment", "what it is", "instructions", "attempts per rollout", "packages"], rows))
    print("\nnext:")
    for name in ENVIRONMENTS:
        print(f"  {environments.example(name)}")


@envs.command()
def check(target: Target, env_id: EnvId = None, as_json: AsJson = False) -> None:
    """Play an environment at random and say, one line per check, whether the agent can learn from it."""
    from agent.config import override
    from amago_cli.configure import resolve

    named = environments.meant(target) | ({"env.id": env_id} if env_id is not None else {})
    config = resolve(None, None, {**named, "env.attempts": 1, "env.horizon": None}, []).config
    if "games" in type(config.env).model_fields:
        config = override(config, {"env.games": ()})  # all of them, where its preset begins with a few
    findings = environments.check(config)
    problems = sum(not finding.ok for finding in findings)
    if as_json:
        print_json({"environment": target, "problems": problems, "checks": [each._asdict() for each in findings]})
    else:
        print("\n".join(_lines(findings)))
        print(f"\n{count(problems, 'problem')}" if problems else f"\nno problem; next: {_next(target, env_id)}")
    if problems:
        raise typer.Exit(ExitCode.BAD_INPUT)


def _lines(findings: list[Finding]) -> list[str]:
    width = max(len(finding.check) for finding in findings)
    return [f"{'ok' if each.ok else 'PROBLEM':<7}  {each.check:<{width}}  {each.text}" for each in findings]


def _next(target: str, env_id: str | None) -> str:
    return f"amago train {target}" + (f" --id {env_id}" if env_id else "")
