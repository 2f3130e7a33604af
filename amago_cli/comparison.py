"""Several runs from their names to a comparison of their evaluation reports.

What is computed is `agent.reports.comparison`; here are the files.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amago_cli.output import print_json, remark, table
from store.errors import AmagoError, StorageError
from store.layout import RunPaths

if TYPE_CHECKING:
    from agent.reports.comparison import Comparison

FOLDER = "comparisons"  # in the directory of the runs
_MAX_BYTES = 64 * 1024**2


def compare_runs(runs_dir: Path, names: list[str]) -> Comparison:
    """Compare the newest reports of runs, or those whose paths are given.

    AmagoError when there are fewer than two, a run was never evaluated, or they were not evaluated alike.
    """
    from agent.reports.comparison import compare, group_runs
    from agent.reports.scores import read_scores

    files = [find_report(runs_dir, name) for name in names]
    if len(set(files)) < len(files):
        raise AmagoError("the same report is named twice; give each run once")
    scores = [read_scores(_run_of(file).name, _read(file)) for file in files]
    configs = {_run_of(file).name: config for file in files if (config := _config(_run_of(file))) is not None}
    groups = group_runs(scores, configs)
    if len(groups) == 1 and len(scores) > 1:
        groups = group_runs(scores, {})  # the same configuration throughout: the seeds themselves are compared
    return compare(groups)


def find_report(runs_dir: Path, name: str) -> Path:
    """The report file at that path, or the newest one of the run of that name, of a whole evaluation if there is any.

    AmagoError when there is none, StorageError when it is damaged.
    """
    from store.runs import open_run

    if name.endswith(".json"):
        if not Path(name).is_file():
            raise AmagoError(f"there is no report {name}")
        return Path(name).resolve()
    paths = open_run(runs_dir, name)
    reports = sorted(paths.reports.glob("eval-*.json"), key=lambda file: (file.stat().st_mtime_ns, file.name))
    if not reports:
        raise AmagoError(f"run {paths.name} was never evaluated; `amago eval --checkpoint {paths.name}` does it")
    for report in reversed(reports):
        if not _is_interrupted(report):
            return report
        remark(f"passed over, as that evaluation is not finished or was interrupted: {report}")
    return reports[-1]


def _is_interrupted(report: Path) -> bool:
    document = _read(report)
    header = document.get("header") if isinstance(document, dict) else None
    return isinstance(header, dict) and header.get("interrupted") is True


def show(found: Comparison, *, as_json: bool) -> None:
    """The figures on stdout."""
    from agent.reports.comparison import to_json
    from agent.reports.comparison_text import caption, conditions, group_rows, pair_rows, title

    if as_json:
        print_json(to_json(found))
        return
    for name, words in conditions(found).items():
        print(f"{name}: {words}")
    for note in found.notes:
        print(f"note: {note}")
    print(f"\n{table(*group_rows(found))}")
    for pair in found.pairs:
        print(f"\n{title(pair)}\n{caption(pair)}\n\n{table(*pair_rows(found, pair))}")


def save(runs_dir: Path, comparison: Comparison) -> list[Path]:
    """Write the comparison as JSON and Markdown; the files. Raises StorageError."""
    from agent.reports.comparison import to_json
    from agent.reports.comparison_text import to_markdown
    from amago_cli.report_files import unused
    from store.atomic import write_json, write_text
    from store.errors import storage_guard

    folder = runs_dir / FOLDER
    with storage_guard(folder):
        folder.mkdir(parents=True, exist_ok=True)
    base = unused(folder, f"compare-{time.strftime('%Y%m%d-%H%M%S')}")
    files = [base.with_suffix(suffix) for suffix in (".json", ".md")]
    write_json(files[0], to_json(comparison))
    write_text(files[1], to_markdown(comparison))
    return files


def _run_of(report: Path) -> RunPaths:
    return RunPaths(report.parent.parent)


def _read(file: Path) -> Any:
    from store.atomic import read_json

    try:
        size = file.stat().st_size
    except OSError as error:
        raise StorageError(f"cannot read {file}: {error.strerror or error}") from error
    if size > _MAX_BYTES:
        raise StorageError(f"{file} is too large for a report ({size:,} bytes)")
    return read_json(file)


def _config(paths: RunPaths) -> dict[str, Any] | None:
    """The configuration of a run; None for a report that lies outside of one."""
    from store.runs import read_config

    return read_config(paths)["config"] if paths.config.is_file() else None
