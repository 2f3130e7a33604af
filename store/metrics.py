"""The numbers of a run over time: an append-only table that can be read while it is written.

The table is a sequence of files metrics/NNNN.h5. A writer opens the next file and replaces it whole at each
flush; a full file is left alone and a new one begun. So every published file is a closed, plain HDF5 file,
whatever happens to its writer. (HDF5's own mode for reading beside a writer crashes the writer on a full disk
and lets the reader of a damaged file wait for ever.) A file says after which step it begins: what older files
say beyond that step was lost in a crash and never happened. This module does not know what the keys mean.

    names         the keys; the `metric` of a row is the position of its key
    rows          one row per value, see ROW_DTYPE
    attributes    kind, schema_version, resumed_from_step
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from store.atomic import write_bytes
from store.errors import StorageError, storage_guard
from store.hdf5 import check_attribute, encode_file, get_attribute, get_table, reading
from store.layout import RunPaths, next_number, numbered_files
from store.schema import SCHEMA_VERSION, check_schema

KIND = "amago metrics"
MAX_KEY_BYTES = 96
ROW_DTYPE = np.dtype([("step", "<i8"), ("update", "<i8"), ("time", "<f8"), ("metric", "<u2"), ("value", "<f8")])
NAME_DTYPE = np.dtype(f"S{MAX_KEY_BYTES}")

_NEWEST_ROWS = 512  # many times the metrics that a run logs at once
_FULL_ROWS = 16 * 1024  # about half a megabyte to replace at a flush


@dataclass(frozen=True, eq=False)
class Series:
    """The values of one metric in the order in which they were logged; they may be NaN or infinite."""

    step: np.ndarray  # (N,) int64: environment steps
    update: np.ndarray  # (N,) int64: optimiser steps
    time: np.ndarray  # (N,) float64: seconds since 1970
    value: np.ndarray  # (N,) float64

    def __len__(self) -> int:
        return len(self.step)


class MetricsWriter:
    """Logs the numbers of one training process, which continues from `resumed_from_step` (0 for a new run).

    The holder of the run's lock has one. When the disk is full, what was logged waits in memory and flush() may
    be tried again.
    """

    def __init__(self, paths: RunPaths, resumed_from_step: int) -> None:
        self._paths = paths
        self._metrics: dict[str, int] = {}  # key -> position in names
        self._waiting: list[tuple[int, int, float, int, float]] = []
        with storage_guard(paths.metrics_dir, paths.name):
            paths.metrics_dir.mkdir(parents=True, exist_ok=True)
        self._begin_file(resumed_from_step)
        self._publish(self._rows, durable=True)  # even without a row it says which steps never happened

    def log(self, step: int, update: int, values: Mapping[str, float]) -> None:
        """Remember `values` at this environment step and optimiser step; flush() makes them visible."""
        now = time.time()
        for key, value in values.items():
            self._waiting.append((step, update, now, self._metric(key), float(value)))

    def flush(self) -> None:
        """Make all that was logged visible to readers and safe from a kill. Raises StorageError.

        Only close() and a full file pay for an fsync, which a power failure would need.
        """
        if not self._waiting:
            return
        rows = np.concatenate([self._rows, np.array(self._waiting, ROW_DTYPE)])
        is_full = len(rows) >= _FULL_ROWS
        self._publish(rows, durable=is_full)
        self._rows, self._waiting = rows, []
        if is_full:
            self._begin_file(max(self._begins_after, int(rows["step"].max())))

    def close(self) -> None:
        """Flush, and make the rows survive a power failure."""
        self.flush()
        if len(self._rows):
            self._publish(self._rows, durable=True)

    def _metric(self, key: str) -> int:
        assert 0 < len(key.encode()) <= MAX_KEY_BYTES, key
        return self._metrics.setdefault(key, len(self._metrics))

    def _begin_file(self, after_step: int) -> None:
        self._path = self._paths.metrics_file(next_number(self._paths.metrics_dir))
        self._begins_after = after_step
        self._rows = np.empty(0, ROW_DTYPE)

    def _publish(self, rows: np.ndarray, *, durable: bool) -> None:
        attributes = {"kind": KIND, "schema_version": SCHEMA_VERSION, "resumed_from_step": self._begins_after}
        names = np.array([key.encode() for key in self._metrics], NAME_DTYPE)
        data = encode_file(attributes, {"names": names, "rows": rows})
        write_bytes(self._path, data, durable=durable, run=self._paths.name)


def read_metrics(paths: RunPaths) -> dict[str, Series]:
    """Every metric of the run, each step once, also while it is being written or after its writer was killed.

    Never raises: a file that cannot be read is passed over.
    """
    segments: list[Segment] = []
    last_step = np.iinfo(np.int64).max
    for _, path in reversed(numbered_files(paths.metrics_dir)):
        try:
            segment = read_segment(path)
        except StorageError:
            continue
        segments.insert(0, replace(segment, rows=segment.rows[segment.rows["step"] <= last_step]))
        last_step = min(last_step, segment.resumed_from_step)
    return _join(segments)


def read_newest(paths: RunPaths) -> dict[str, float]:
    """The newest value of each metric that the newest readable file's last rows have; costs the same in a long run.

    Never raises: a file that cannot be read is passed over.
    """
    for _, path in reversed(numbered_files(paths.metrics_dir)):
        try:
            segment = read_segment(path, last=_NEWEST_ROWS)
        except StorageError:
            continue
        if len(segment.rows):
            return {segment.names[row["metric"]]: float(row["value"]) for row in segment.rows}
    return {}


@dataclass(frozen=True, eq=False)
class Segment:
    """The content of one metrics file."""

    resumed_from_step: int
    names: list[str]
    rows: np.ndarray  # (N,) ROW_DTYPE: the `metric` of each is a position in names


def read_segment(path: Path, last: int | None = None) -> Segment:
    """The content of a file, or of its `last` rows."""
    with reading(path) as file:
        check_attribute(file, "kind", KIND)
        check_schema(get_attribute(file, "schema_version"), path)
        names = get_table(file, "names", NAME_DTYPE)
        rows = get_table(file, "rows", ROW_DTYPE, last)
        if len(rows) and rows["metric"].max() >= len(names):
            raise ValueError("rows have no name")
        resumed_from_step = int(get_attribute(file, "resumed_from_step"))
        return Segment(resumed_from_step, [name.decode("utf-8", "replace") for name in names], rows)


def _join(segments: list[Segment]) -> dict[str, Series]:
    """The rows of all segments by name; the same key may have another position in every segment."""
    parts: dict[str, list[np.ndarray]] = {}
    for segment in segments:
        for metric in np.unique(segment.rows["metric"]):
            rows = segment.rows[segment.rows["metric"] == metric]
            parts.setdefault(segment.names[metric], []).append(rows)
    return {key: _series(np.concatenate(found)) for key, found in sorted(parts.items())}


def _series(rows: np.ndarray) -> Series:
    columns = {name: np.ascontiguousarray(rows[name]) for name in ("step", "update", "time", "value")}
    return Series(**columns)
