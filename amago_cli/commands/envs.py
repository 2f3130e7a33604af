"""`amago envs`: the environments that can be trained on."""

from __future__ import annotations

from amago_cli import environments
from amago_cli.options import AsJson
from amago_cli.output import print_json, table


def envs(as_json: AsJson = False) -> None:
    """List the environments."""
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
        ]
        for name, entry in ENVIRONMENTS.items()
    ]
    print(table(["environment", "what it is", "instructions", "attempts per rollout"], rows))
    print("\nnext:")
    for name in ENVIRONMENTS:
        print(f"  {environments.example(name)}")
