"""`amago train`: from options to a configuration, then a new or a resumed run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from amago_cli import configure, environments, options, stored, train_options, training
from amago_cli.displays import Display, PlainDisplay, choose_display
from amago_cli.output import print_json
from store.errors import AmagoError

if TYPE_CHECKING:
    from agent.config import Config

RESUMABLE = ("steps", "updates", "minutes", "device")  # named options that may come with --resume
NEW_RUN_ONLY = ("run", "preset", "config", "show_config", "dry_run", "offline")
PLAYING = (
    *("environment", "games", "observation", "engine", "reward"),
    *("attempts", "horizon", "steps", "actors", "workers"),
)


def train(
    ctx: typer.Context,
    environment: train_options.Environment = None,
    env_id: train_options.EnvId = None,
    games: train_options.Games = None,
    goals: train_options.Goals = None,
    observation: train_options.Observation = None,
    engine: train_options.Engine = None,
    reward: train_options.Reward = None,
    attempts: train_options.Attempts = None,
    horizon: train_options.Horizon = None,
    offline: train_options.Offline = None,
    run: train_options.Run = None,
    resume: train_options.Resume = None,
    steps: train_options.Steps = None,
    updates: train_options.Updates = None,
    minutes: train_options.Minutes = None,
    seed: train_options.Seed = None,
    device: train_options.Device = None,
    actors: train_options.Actors = None,
    workers: train_options.Workers = None,
    deterministic: train_options.Deterministic = None,
    relabel: train_options.Relabel = None,
    actor: train_options.Actor = None,
    critic: train_options.Critic = None,
    preset: train_options.Preset = None,
    config: train_options.ConfigFile = None,
    assignments: train_options.Assignments = None,
    show_config: train_options.ShowConfig = False,
    dry_run: train_options.DryRun = False,
    detach: train_options.Detach = False,
    plain: train_options.Plain = False,
    as_json: options.AsJson = False,
    runs_dir: options.RunsDir = options.DEFAULT_RUNS_DIR,
) -> None:
    """Train an agent: amago train crafter --goals "stone pickaxe, collect iron"."""
    from store.runs import check_new_run

    given = [name for name in train_options.KEYS if ctx.params[name] is not None]
    named = {train_options.KEYS[name]: ctx.params[name] for name in given}
    if environment is not None:
        named |= environments.meant(environment)
    display = PlainDisplay(sys.stdout) if plain and not as_json else choose_display(sys.stdout, as_json=as_json)
    place = training.choose_place(sys.stdout, as_json=as_json, plain=plain, detach=detach)
    if resume is not None:
        _refuse_beside_resume([*given, *(name for name in NEW_RUN_ONLY if _is_given(ctx, name))])
        _resume(runs_dir, resume, {**named, **configure.parse_assignments(assignments or [])}, place, display)
        return
    if environment is None and config is None and offline is None and not show_config:
        raise AmagoError("say what to play: `amago train crafter`; `amago envs` lists what there is")
    quiet = show_config or dry_run
    if not quiet:
        display.note(f"setting up {environment or offline or config} ...")
    if offline is None:
        material, resolved = None, configure.resolve(preset, config, named, assignments or [])
    else:
        _refuse_beside_offline(given)
        material = stored.find_material(runs_dir, offline, named.pop("env.id", None))
        resolved = material.resolve(preset, config, named, assignments or [])
    if show_config:
        print_json(_plain(resolved.config)) if as_json else print(_explained(resolved.config))
        return
    task = training.describe_task(resolved.config)
    if run is not None:
        check_new_run(runs_dir, run)
    if dry_run:
        needs = _needs(resolved.config)
        if as_json:
            print_json({"task": task, "needs": needs, "config": _plain(resolved.config)})
        else:
            print(_checked(resolved.config, [task, *needs]))
        return
    display.note(task)
    if material is None:
        paths = training.prepare(resolved.config, resolved.preset, runs_dir, run)
    else:
        display.note(material.describe())
        paths = stored.create(runs_dir, run, resolved.config, resolved.preset, material)
    training.train_at(place, paths, resolved.config, {}, display, resume=False)


def _resume(runs_dir: Path, name: str, changes: dict[str, Any], place: training.Place, display: Display) -> None:
    from store.runs import open_run

    paths = open_run(runs_dir, name)
    display.note(f"setting up run {paths.name} ...")
    config = training.resumed_config(paths, changes)
    display.note(training.describe_task(config))
    training.train_at(place, paths, config, changes, display, resume=True)


def _is_given(ctx: typer.Context, name: str) -> bool:
    source = ctx.get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"


def _refuse_beside_resume(given: list[str]) -> None:
    """A resumed run keeps its configuration: silently ignoring an option would be worse than refusing it."""
    wrong = [name for name in given if name not in RESUMABLE]
    if wrong:
        allowed = "--steps, --updates, --minutes, --device and --set of run.* and optimizer.learning_rate"
        wrong = ["id" if name == "env_id" else name for name in wrong]  # as it was typed
        raise AmagoError(f"{' and '.join(wrong)} cannot be given with --resume, which takes only {allowed}")


def _refuse_beside_offline(given: list[str]) -> None:
    """Stored rollouts are what they are, and nothing else is played."""
    wrong = [name for name in given if name in PLAYING]
    if wrong:
        raise AmagoError(f"{' and '.join(wrong)} cannot be given with --offline: the rollouts are there already")


def _explained(config: Config) -> str:
    """Every field with its value and its meaning."""
    from agent.config import keys
    from amago_cli.toml_text import to_toml

    return to_toml(config, keys(config))


def _plain(config: Config) -> dict[str, Any]:
    return config.model_dump(mode="json")


def _needs(config: Config) -> list[str]:
    from amago_cli.estimates import describe_needs

    return [] if config.replay.offline else describe_needs(config)  # nothing is known of what is not played


def _checked(config: Config, remarks: list[str]) -> str:
    """The configuration as a file for --config, with what it means in comments."""
    from amago_cli.toml_text import to_toml

    return "\n".join([*(f"# {line}" for line in remarks), "", to_toml(config)])
