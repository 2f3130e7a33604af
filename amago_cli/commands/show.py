"""`amago show`: one run in a page, from its files alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from amago_cli.options import DEFAULT_RUNS_DIR, AsJson, RunName, RunsDir, elsewhere
from amago_cli.output import print_json
from amago_cli.toml_text import literal

if TYPE_CHECKING:
    from store.layout import RunPaths


METRIC_WIDTH = 40


def show(run: RunName, as_json: AsJson = False, runs_dir: RunsDir = DEFAULT_RUNS_DIR) -> None:
    """Show a run: state, configuration, metrics, checkpoints, reports."""
    from store.runs import open_run

    paths = open_run(runs_dir, run)
    facts = collect(paths)
    if as_json:
        print_json(facts)
    else:
        print(describe(facts))


def collect(paths: RunPaths) -> dict[str, Any]:
    """Everything the page shows, as plain data."""
    from dataclasses import asdict

    from store.runs import read_config
    from store.status import describe_state, read_status

    record, status = read_config(paths), read_status(paths)
    return {
        "name": paths.name,
        "path": paths.root,
        "state": describe_state(status),
        "status": asdict(status) if status else None,
        "created": record.get("created"),
        "command": record.get("command"),
        "versions": record.get("versions"),
        "preset": record.get("preset"),
        "environment": _environment(record),
        "config": record["config"],
        "differences": _differences(record),
        "metrics": _newest_metrics(paths),
        "checkpoints": _checkpoints(paths),
        "reports": sorted(path.name for path in paths.reports.glob("*.md")),
    }


def describe(facts: dict[str, Any]) -> str:
    """The page for people."""
    status = facts["status"] or {}
    changed = [
        f"{key} = {literal(ours)} (preset: {literal(base)})" for key, (base, ours) in facts["differences"].items()
    ]
    metrics = [f"{key:<{METRIC_WIDTH}} {value:.4g}" for key, (_, value) in facts["metrics"].items()]
    checkpoints = [f"{step}{''.join(f' {mark}' for mark in marks)}" for step, marks in facts["checkpoints"].items()]
    sections = [
        f"run {facts['name']} in {facts['path']}",
        f"state        {_state(facts['state'], status.get('message', ''))}",
        f"progress     {status.get('step', 0):,} steps, {status.get('update', 0):,} updates",
        f"environment  {facts['environment']}",
        f"created      {str(facts['created'])[:19]} UTC",
        f"command      {facts['command']}",
        _section(f"changes      to preset {facts['preset']}", changed),
        _section("metrics      newest", metrics),
        _section("checkpoints  by step", checkpoints),
        _section("reports", facts["reports"]),
        f"\nnext: amago eval --checkpoint {facts['name']}{elsewhere(Path(facts['path']).parent)}",
    ]
    return "\n".join(sections)


def _state(state: str, message: str) -> str:
    """The state with what the trainer said last, if that says more."""
    return state if message in ("", state) else f"{state}: {message}"


def _section(title: str, lines: list[str]) -> str:
    return "\n".join([title, *(f"  {line}" for line in lines or ["none"])])


def _environment(record: dict[str, Any]) -> str:
    from agent.reports.text import environment_text

    settings = dict(record["config"].get("env", {}))
    return environment_text(settings.pop("name", "unknown"), settings)


def _differences(record: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Fields that differ from the preset; empty for a run of a preset that is no longer there."""
    from agent.config import from_mapping
    from agent.presets import PRESETS
    from amago_cli.toml_text import differences

    preset = record.get("preset")
    return differences(from_mapping(record["config"]), PRESETS[preset].build()) if preset in PRESETS else {}


def _newest_metrics(paths: RunPaths) -> dict[str, tuple[int, float]]:
    """Metric -> (step, value) of its newest row."""
    from store.metrics import read_metrics

    series = read_metrics(paths)
    return {key: (int(s.step[-1]), float(s.value[-1])) for key, s in sorted(series.items()) if len(s.step)}


def _checkpoints(paths: RunPaths) -> dict[int, list[str]]:
    """Step -> "latest" or "best" where they stand on it, in order of step."""
    steps = sorted(int(path.name) for path in paths.checkpoints.glob("*") if path.name.isdecimal())
    marks: dict[int, list[str]] = {step: [] for step in steps}
    for name in ("latest", "best"):
        step = _pointed(paths.pointer(name))
        if step.isdecimal() and int(step) in marks:
            marks[int(step)].append(name)
    return marks


def _pointed(pointer: Path) -> str:
    """What a pointer holds; nothing when it is missing or damaged."""
    try:
        return pointer.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""
