"""What can be taken out of a run: one function per format, each in a file that says what it makes.

A new format is one function and one line in EXPORTS.
"""

from __future__ import annotations

from collections.abc import Callable

from amago_cli.exports.metrics import to_csv, to_parquet
from amago_cli.exports.pictures import to_gif, to_mp4, to_png
from amago_cli.exports.request import ExportRequest

EXPORTS: dict[str, Callable[[ExportRequest], None]] = {
    "metrics-csv": to_csv,
    "metrics-parquet": to_parquet,
    "png": to_png,
    "gif": to_gif,
    "mp4": to_mp4,
}
