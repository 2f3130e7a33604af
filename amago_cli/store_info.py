"""What `amago store info` says of a run, as plain data and as a page."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from amago_cli.checkpoint_care import POINTERS, pointed
from amago_cli.options import elsewhere
from amago_cli.output import count, size, table

if TYPE_CHECKING:
    from store.layout import RunPaths

HEADER = ["split", "shards", "rollouts", "steps", "size", "bytes/step", "numbers", "oldest", "newest", "schema"]


def collect(paths: RunPaths) -> dict[str, Any]:
    """Everything the page shows."""
    from store.inventory import checkpoint_sizes, metrics_inventory, split_inventory, tree_size
    from store.layout import SPLITS

    return {
        "name": paths.name,
        "path": paths.root,
        "bytes": tree_size(paths.root),
        "splits": {split: asdict(split_inventory(paths, split)) for split in SPLITS},
        "metrics": asdict(metrics_inventory(paths)),
        "checkpoints": checkpoint_sizes(paths),
        "pointers": {which: int(folder.name) for which in POINTERS if (folder := pointed(paths, which))},
        "damaged_bytes": tree_size(paths.damaged),
    }


def describe(facts: dict[str, Any]) -> str:
    """The page for people."""
    metrics, splits, where = facts["metrics"], facts["splits"], elsewhere(facts["path"].parent)
    rows = [_row(split, found) for split, found in splits.items()]
    problems = [problem for found in (*splits.values(), metrics) for problem in found["problems"]]
    checkpoints = [
        "  ".join([f"  {step}", size(num_bytes), *(which for which, at in facts["pointers"].items() if at == step)])
        for step, num_bytes in facts["checkpoints"].items()
    ]
    lines = [
        f"run {facts['name']} in {facts['path']}: {size(facts['bytes'])}",
        "",
        table(HEADER, rows),
        "",
        f"metrics: {count(metrics['rows'], 'row')} of {count(metrics['keys'], 'key')} in "
        f"{count(metrics['files'], 'file')}, {size(metrics['bytes'])}",
        f"checkpoints: {size(sum(facts['checkpoints'].values()))}",
        *checkpoints,
        *([f"damaged files set aside: {size(facts['damaged_bytes'])}"] if facts["damaged_bytes"] else []),
        *problems,
        f"(only indexes were read; to open every file fully: amago store verify {facts['name']}{where})",
    ]
    return "\n".join(lines)


def _row(split: str, found: dict[str, Any]) -> list[str]:
    none = "no data"
    per_step = found["bytes_per_step"]
    numbers = none if found["first_number"] is None else f"{found['first_number']}-{found['last_number']}"
    versions = ", ".join(str(version) for version in sorted(found["schema_versions"]))
    return [
        split,
        f"{found['shards']:,}",
        f"{found['trajectories']:,}",
        f"{found['steps']:,}",
        size(found["bytes"]),
        none if per_step is None else f"{per_step:.1f}",
        numbers,
        _moment(found["oldest"]),
        _moment(found["newest"]),
        versions or none,
    ]


def _moment(seconds: float | None) -> str:
    return "no data" if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")
