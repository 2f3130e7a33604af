"""`amago store import`: a Minari dataset, or the rollouts of another run, as a new run."""

from __future__ import annotations

from typing import Annotated

import typer

from amago_cli import train_options
from amago_cli.options import DEFAULT_RUNS_DIR, AsJson, RunsDir, elsewhere
from amago_cli.output import count, print_json, remark

Dataset = Annotated[str, typer.Argument(metavar="DATASET", help="Folder or id of a Minari dataset.")]
Environment = Annotated[
    str | None, typer.Option("--id", help="Gymnasium environment that it is from: CartPole-v1, my_module:MyEnv-v0.")
]


def import_dataset(
    dataset: Dataset,
    run: train_options.Run = None,
    env_id: Environment = None,
    as_json: AsJson = False,
    runs_dir: RunsDir = DEFAULT_RUNS_DIR,
) -> None:
    """Make a run of a Minari dataset: amago store import cartpole/expert-v0 --run experts."""
    from agent.heartbeat import Heartbeat
    from amago_cli import stored
    from store.rollouts import RolloutReader
    from store.runs import check_new_run

    if run is not None:
        check_new_run(runs_dir, run)
    material = stored.find_material(runs_dir, dataset, env_id)
    config, preset = material.resolve(None, None, {}, [])
    paths = stored.create(runs_dir, run, config, preset, material)
    Heartbeat(paths).end("stopped", "imported")
    index = RolloutReader(paths.rollouts("train")).index()
    if as_json:
        record = {"run": paths.name, "path": paths.root, "rollouts": len(index), "steps": int(index.length.sum())}
        print_json({**record, "environment": config.env.name, "unplayable": material.unplayable or None})
        return
    found = f"{count(len(index), 'rollout')}, {count(int(index.length.sum()), 'step')}"
    print(f"run {paths.name}: {found} of {material.name}")
    if material.unplayable:
        remark(f"it can be learned from, but not evaluated: {material.unplayable}")
    print(f"next: amago train --resume {paths.name} --minutes 5{elsewhere(runs_dir)}")
