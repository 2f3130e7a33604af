"""`amago envs`: the environments that can be trained on."""

from __future__ import annotations

from amago_cli.options import AsJson
from amago_cli.output import print_json, table


def envs(as_json: AsJson = False) -> None:
    """List the environments."""
    from agent.catalog import ENVIRONMENTS

    descriptions = {name: entry[0] for name, entry in ENVIRONMENTS.items()}
    if as_json:
        print_json([{"name": name, "description": text} for name, text in descriptions.items()])
        return
    print(table(["environment", "what it is"], [[name, text] for name, text in descriptions.items()]))
    print('\nnext: amago train crafter --goals "collect sapling, place plant"')
