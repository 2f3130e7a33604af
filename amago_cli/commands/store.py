"""`amago store`: what a run has on disk, whether it is sound, and how it gets smaller, whole again or out of here."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from amago_cli.commands.store_import import import_dataset
from amago_cli.exit_codes import ExitCode
from amago_cli.exports import EXPORTS
from amago_cli.minari import export_dataset
from amago_cli.options import DEFAULT_RUNS_DIR, AsJson, RunName, RunsDir, elsewhere
from amago_cli.output import count, print_json, remark, size

store = typer.Typer(rich_markup_mode=None, no_args_is_help=True)
store.command("import")(import_dataset)

DATASET = "minari"
FORMATS = [*EXPORTS, DATASET]  # all but the last make one file

DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be done, change nothing.")]


@store.callback()
def about() -> None:
    """Look after the files of a run: info, verify, repair, compact, import, export."""


@store.command()
def info(run: RunName, as_json: AsJson = False, runs_dir: RunsDir = DEFAULT_RUNS_DIR) -> None:
    """Say what a run has on disk and how much room it takes."""
    from amago_cli.store_info import collect, describe
    from store.runs import open_run

    facts = collect(open_run(runs_dir, run))
    if as_json:
        print_json(facts)
    else:
        print(describe(facts))


@store.command()
def verify(run: RunName, as_json: AsJson = False, runs_dir: RunsDir = DEFAULT_RUNS_DIR) -> None:
    """Open every file of a run fully and name the damaged ones; exit code 5 if there are any."""
    from amago_cli.checkpoint_care import damaged_checkpoints
    from store.runs import open_run
    from store.verify import verify as damaged_files

    paths = open_run(runs_dir, run)
    found = {damage.path: damage for damage in (*damaged_files(paths), *damaged_checkpoints(paths))}.values()
    if as_json:
        damaged = [{"path": damage.path, "problem": damage.problem} for damage in found]
        print_json({"run": paths.name, "sound": not damaged, "damaged": damaged})
    else:
        for damage in found:
            print(damage.problem)
        next_step = f"next: amago store repair {paths.name}{elsewhere(paths.root.parent)}"
        print(f"{count(len(found), 'damaged file')}; {next_step}" if found else f"run {paths.name} is sound")
    if found:
        raise typer.Exit(ExitCode.STORAGE)


@store.command()
def repair(run: RunName, dry_run: DryRun = False, runs_dir: RunsDir = DEFAULT_RUNS_DIR) -> None:
    """Recover what is sound of damaged files, move them to damaged/ in the run, mend pointers to checkpoints."""
    from amago_cli.checkpoint_care import plan_checkpoint_repair
    from store.repair import plan_repair
    from store.runs import open_run

    paths = open_run(runs_dir, run)
    mended = 0
    with _unless_running(paths, dry_run):
        for plan in (plan_repair, plan_checkpoint_repair):
            for mending in plan(paths):
                print(mending.text)
                mended += 1
                if not dry_run:
                    mending.apply()
    print(_said(f"{count(mended, 'thing')} mended" if mended else "nothing to mend", dry_run))


@store.command()
def compact(
    run: RunName,
    keep_steps: Annotated[
        int | None, typer.Option("--keep-steps", min=0, help="Keep so many of the newest training steps.", metavar="N")
    ] = None,
    keep_bytes: Annotated[
        int | None, typer.Option("--keep-bytes", min=0, help="Keep the newest training rollouts within N bytes.")
    ] = None,
    dry_run: DryRun = False,
    runs_dir: RunsDir = DEFAULT_RUNS_DIR,
) -> None:
    """Merge small shards into large ones, and drop old training rollouts if told how much to keep.

    Kept in any case: evaluations, rollouts that carried out the wanted instruction, and the first that reached a goal.
    """
    from amago_cli.compaction import Kept, compact_run
    from store.runs import open_run

    paths = open_run(runs_dir, run)
    with _unless_running(paths, dry_run):
        done = compact_run(paths, Kept(keep_steps, keep_bytes), apply=not dry_run)
    for split, figures in done.items():
        merged = f"{count(figures.merged, 'shard')} into {figures.made:,}" if figures.merged else "nothing to merge"
        dropped = f", {count(figures.dropped, 'rollout')} dropped" if figures.dropped else ""
        print(_said(f"{split}: {merged}{dropped}", dry_run))
    if not dry_run:
        print(f"{size(sum(figures.freed for figures in done.values()))} freed")


@store.command()
def export(
    run: RunName,
    form: Annotated[str, typer.Option("--format", help=f"What to make: {', '.join(FORMATS)}.", metavar="NAME")],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="File to write; minari: folder of the datasets [Minari's].", metavar="PATH"
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", help="minari: id of the dataset [amago/<environment>/<run>-v0].")
    ] = None,
    split: Annotated[Literal["train", "eval"], typer.Option("--split", help="Where to take a rollout from.")] = "train",
    number: Annotated[int | None, typer.Option("--number", help="Which rollout; the newest by default.")] = None,
    step: Annotated[int, typer.Option("--step", min=0, help="Which state a picture shows.")] = 0,
    scale: Annotated[int, typer.Option("--scale", min=1, max=16, help="Size of pictures.")] = 2,
    fps: Annotated[int, typer.Option("--fps", min=1, max=120, help="Frames a second of films.")] = 10,
    runs_dir: RunsDir = DEFAULT_RUNS_DIR,
) -> None:
    """Write metrics as a table, a rollout as a picture or film, or all rollouts as a Minari dataset."""
    from amago_cli.exports.request import ExportRequest
    from amago_cli.suggest import check_name
    from store.errors import AmagoError
    from store.runs import open_run

    check_name("format", form, FORMATS, "amago store export --help")
    if form == DATASET:
        export_dataset(open_run(runs_dir, run), split, output, name)
        return
    if output is None:
        raise AmagoError(f"which file shall be written? give --output, for example --output {run}.{form[-3:]}")
    if output.is_dir() or not output.parent.is_dir():
        raise AmagoError(f"cannot write to {output}: give the path of a file in a directory that exists")
    request = ExportRequest(open_run(runs_dir, run), output, split, number, step, scale, fps)
    EXPORTS[form](request)
    remark(f"wrote {output} ({size(output.stat().st_size)})")


def _unless_running(paths: Any, dry_run: bool) -> Any:
    """Holds the run's lock while something is changed; what changes nothing works on a medium that is read-only."""
    from contextlib import nullcontext

    from store.lock import RunLock

    return nullcontext() if dry_run else RunLock(paths)


def _said(text: str, dry_run: bool) -> str:
    return f"{text} (dry run, nothing was changed)" if dry_run else text
