"""How commands print: aligned plain tables for people, strict JSON for programs, remarks on stderr."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from typing import Any

import typer


def print_json(value: Any, *, indent: int | None = 2) -> None:
    """Strict JSON on stdout; NaN and infinities become null. `indent=None` gives one line."""
    from store.atomic import to_json

    typer.echo(json.dumps(to_json(value), indent=indent, allow_nan=False))


def remark(text: str) -> None:
    """A line for people that must not mix with the data on stdout."""
    print(text, file=sys.stderr, flush=True)


def command_line() -> str:
    """What was typed, quoted so that it can be pasted."""
    return shlex.join(["amago", *sys.argv[1:]])


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns aligned with two spaces between; no box, no colour: the same in a file as on a screen."""
    lines = [header, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    padded = ("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)
    return "\n".join(line.rstrip() for line in padded)


def count(number: int, noun: str) -> str:
    """'1 run', '1,200 runs'."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def duration(seconds: float) -> str:
    """'41s', '3:05' or '1:02:03'."""
    minutes, rest = divmod(round(seconds), 60)
    if not minutes:
        return f"{rest}s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def size(num_bytes: float) -> str:
    """'512 B', '1.5 MB', '24.0 GB'."""
    for unit in ("B", "kB", "MB"):
        if num_bytes < 1000:
            return f"{num_bytes:.0f} B" if unit == "B" else f"{num_bytes:.1f} {unit}"
        num_bytes /= 1000
    return f"{num_bytes:.1f} GB"
