"""`amago eval`: success and returns of a checkpoint in held-out worlds, with the random policy beside."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from amago_cli import comparison, evaluation, options, report_files
from amago_cli.displays import choose_display
from amago_cli.exit_codes import ExitCode
from amago_cli.output import print_json, remark, table
from amago_cli.signals import stop_on_signals
from store.errors import AmagoError

if TYPE_CHECKING:
    from agent.reports.report import EvalReport
    from store.trajectory import Trajectory

MAX_ROWS = 30  # instructions shown on the screen; the report has them all

Suite = Literal["instructions", "achievements", "paper"]


def evaluate(
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            help="With --compare: runs, or reports as JSON files.", metavar="RUN", autocompletion=options.complete_run
        ),
    ] = None,
    checkpoint: Annotated[
        str,
        typer.Option(
            help="A run (its latest checkpoint), RUN@best, RUN@STEP, or the path of a checkpoint.",
            metavar="RUN|PATH",
            autocompletion=options.complete_run,
        ),
    ] = "",
    compare: Annotated[
        bool, typer.Option("--compare", help="Compare the newest reports of runs; plays nothing.")
    ] = False,
    goals: Annotated[
        list[str] | None, typer.Option(help="crafter: an instruction to evaluate; repeatable.", metavar="TEXT")
    ] = None,
    suite: Annotated[Suite | None, typer.Option(help="crafter: a set of instructions to evaluate.")] = None,
    games: Annotated[
        str | None,
        typer.Option(help="Games to play, separated by commas [all, held-out ones too].", metavar="NAMES"),
    ] = None,
    count: Annotated[int, typer.Option(min=1, help="Instructions drawn by suite 'instructions'.")] = 50,
    episodes: Annotated[
        int | None,
        typer.Option(min=1, help="Episodes per instruction or game [10], or in all where there is neither [50]."),
    ] = None,
    k_attempts: Annotated[
        int | None,
        typer.Option(min=1, help="Play each task so many times in one rollout [as in training]; judged by the last."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Seed of worlds and actions.")] = 0,
    device: Annotated[options.Device, typer.Option(help="Where the networks run.")] = "auto",
    greedy: Annotated[bool, typer.Option("--greedy", help="Take the likeliest action instead of sampling.")] = False,
    no_random: Annotated[bool, typer.Option("--no-random", help="Leave out the random policy beside.")] = False,
    fail_under: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Exit with 7 if less than this share of all episodes succeeds."),
    ] = None,
    as_json: options.AsJson = False,
    runs_dir: options.RunsDir = options.DEFAULT_RUNS_DIR,
) -> None:
    """Evaluate a checkpoint: amago eval --checkpoint RUN. Or compare: amago eval --compare RUN RUN."""
    if compare:
        _compare(runs_dir, runs or [], checkpoint, as_json=as_json)
        return
    if runs or not checkpoint:
        raise AmagoError("name what to evaluate: amago eval --checkpoint RUN (or amago eval --compare RUN RUN)")
    if suite and goals:
        raise AmagoError("give --suite or --goals, not both")
    instructions = evaluation.parse_goals(goals or [])  # before torch and the checkpoint, which take seconds
    display = choose_display(sys.stderr)
    display.note(f"loading checkpoint {checkpoint} ...")
    subject = evaluation.with_attempts(evaluation.find_subject(runs_dir, checkpoint), k_attempts)
    played = evaluation.choose_games(subject.spec, games)
    tasks = evaluation.choose_tasks(subject.config, instructions, suite, played, count, seed)
    if fail_under is not None:
        evaluation.require_success(subject)
    if episodes is None:
        episodes = evaluation.EPISODES if tasks.instructions or tasks.games else evaluation.EPISODES_OF_WORLDS
    settings = evaluation.Settings(episodes, seed, device, greedy, beside_random=not no_random)
    keeper = report_files.Keeper(subject, tasks.name)
    with stop_on_signals(display.note, "stopping: reporting the finished episodes") as stop:
        report, trajectories = evaluation.run(subject, tasks, settings, display, stop.event, keeper)
    if trajectories:
        _keep(keeper, report, trajectories, as_json=as_json)
    if stop.event.is_set():
        raise typer.Exit(stop.exit_code)
    _gate(report, fail_under)


def print_report(report: EvalReport, *, as_json: bool) -> None:
    """The figures on stdout."""
    from agent.reports.games_text import game_tables
    from agent.reports.report import to_json
    from agent.reports.text import (
        attempt_rows,
        environment_text,
        goal_rows,
        has_attempts,
        instruction_rows,
        overall_rows,
        training_caption,
    )

    if as_json:
        print_json(to_json(report))
        return
    about = report.header
    print(f"{about.checkpoint} ({about.rule}), step {about.step:,}, {about.policy} actions")
    print(environment_text(about.environment, about.settings))
    print(about.worlds)
    tables = [overall_rows(report)]
    if has_attempts(report):
        tables.append(attempt_rows(report))
    if report.agent.instructions:
        header, rows = instruction_rows(report)
        tables.append((header, rows if len(rows) <= MAX_ROWS else rows[-1:]))
    if report.agent.goals:
        tables.append(goal_rows(report))
    print("".join(f"\n{table(*each)}\n" for each in tables))
    for title, _, found in game_tables(report):
        print(f"{title}\n\n{table(*found)}\n")
    if report.training:
        print(training_caption(report.training))


def _keep(keeper: report_files.Keeper, report: EvalReport, trajectories: list[Trajectory], *, as_json: bool) -> None:
    """Files first, for a reader of the figures may go away; but the figures are printed whatever happens."""
    files: list[Path] = []
    try:
        files = keeper.finish(report, trajectories)
    finally:
        print_report(report, as_json=as_json)
    for file in files:
        remark(f"written: {file}")
    if run := keeper.subject.run:
        remark(f"next: amago show {run.name}{options.elsewhere(run.root.parent)}")


def _compare(runs_dir: Path, runs: list[str], checkpoint: str, *, as_json: bool) -> None:
    if checkpoint or len(runs) < 2:
        raise AmagoError("--compare takes two runs or more and no checkpoint: amago eval --compare RUN RUN")
    found = comparison.compare_runs(runs_dir, runs)
    comparison.show(found, as_json=as_json)
    for file in comparison.save(runs_dir, found):
        remark(f"written: {file}")


def _gate(report: EvalReport, fail_under: float | None) -> None:
    rate = report.agent.success.rate if report.agent.success else None
    if fail_under is not None and rate is not None and rate < fail_under:
        remark(f"amago: success {rate:.1%} is under {fail_under:.1%}")
        raise typer.Exit(ExitCode.BELOW_THRESHOLD)
