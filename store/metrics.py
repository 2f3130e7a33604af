"""The numbers of a run over time: an append-only table that can be read while it is written.

Each writer opens the next metrics/NNNN.h5 in HDF5's single-writer-multiple-reader (SWMR) mode, because a file
whose writer was killed can be read but not continued. A file also says from which step its writer resumed:
what older files say beyond that step never happened. This module does not know what the keys mean.

    names         the keys; the `metric` of a row is the position of its key
    rows          one row per value, see ROW_DTYPE
    attributes    kind, schema_version, resumed_from_step
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import h5py
import numpy as np

from store.atomic import TEMPORARY_SUFFIX
from store.errors import StorageError, storage_guard
from store.hdf5 import FILE_VERSIONS, check_attribute, get_attribute, get_dataset, reading, write_attributes
from store.layout import SCHEMA_VERSION, RunPaths, next_number, numbered_files

KIND = "amago metrics"
MAX_KEY_BYTES = 96
ROW_DTYPE = np.dtype(
    [("step", "<i8"), ("update", "<i8"), ("time", "<f8"), ("metric", "<u2"), ("value", "<f8")]
)
NAME_DTYPE = np.dtype(f"S{MAX_KEY_BYTES}")

_CHUNK_ROWS = 2048
_CHUNK_NAMES = 64
_RESERVE_BYTES = 256 * 1024


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

    The holder of the run's lock has one. A full disk raises StorageError before HDF5 writes anything: the
    file stays sound, what was logged waits in memory, and flush() may be tried again.
    """

    def __init__(self, paths: RunPaths, resumed_from_step: int) -> None:
        self._run = paths.name
        with storage_guard(paths.metrics_dir, self._run):
            paths.metrics_dir.mkdir(parents=True, exist_ok=True)
            self.path = paths.metrics_file(next_number(paths.metrics_dir))
            self._file = _publish(self.path, resumed_from_step)
        self._names = get_dataset(self._file, "names")
        self._table = get_dataset(self._file, "rows")
        self._metrics: dict[str, int] = {}  # key -> position in names
        self._waiting: list[tuple[int, int, float, int, float]] = []

    def log(self, step: int, update: int, values: Mapping[str, float]) -> None:
        """Remember `values` at this environment step and optimiser step; flush() makes them visible."""
        now = time.time()
        for key, value in values.items():
            self._waiting.append((step, update, now, self._metric(key), float(value)))

    def flush(self) -> None:
        """Make all that was logged visible to readers and safe from a kill. Raises StorageError."""
        if not self._waiting:
            return
        names = np.array([key.encode() for key in self._metrics][len(self._names) :], NAME_DTYPE)
        rows = np.array(self._waiting, ROW_DTYPE)
        with storage_guard(self.path, self._run):
            self._reserve(2 * (names.nbytes + rows.nbytes))
            _append(self._names, names)  # first: a reader never meets a row without its name
            _append(self._table, rows)
        self._waiting = []

    def close(self) -> None:
        """Flush, and close the file even when that fails."""
        if not self._file:
            return
        try:
            self.flush()
        finally:
            with storage_guard(self.path, self._run):
                self._file.close()

    def _metric(self, key: str) -> int:
        assert 0 < len(key.encode()) <= MAX_KEY_BYTES, key
        return self._metrics.setdefault(key, len(self._metrics))

    def _reserve(self, num_bytes: int) -> None:
        """Claim disk space beyond what HDF5 uses, by zeros at the end of the file.

        HDF5 does not recover from a full disk: the process would crash while it exits. So it never meets one.
        """
        missing = self._file.id.get_filesize() + num_bytes + _RESERVE_BYTES - self.path.stat().st_size
        if missing > 0:
            with self.path.open("ab") as file:
                file.write(bytes(missing + _RESERVE_BYTES))


def read_metrics(paths: RunPaths) -> dict[str, Series]:
    """Every metric of the run, each step once, also while it is being written or after its writer was killed.

    Never raises: a file that cannot be read is passed over.
    """
    segments: list[_Segment] = []
    last_step = np.iinfo(np.int64).max
    for _, path in reversed(numbered_files(paths.metrics_dir)):
        try:
            segment = _read_segment(path)
        except StorageError:
            continue
        segments.insert(0, replace(segment, rows=segment.rows[segment.rows["step"] <= last_step]))
        last_step = min(last_step, segment.resumed_from_step)
    return _join(segments)


@dataclass(frozen=True, eq=False)
class _Segment:
    """The content of one metrics file."""

    resumed_from_step: int
    names: list[str]
    rows: np.ndarray  # (N,) ROW_DTYPE


def _publish(path: Path, resumed_from_step: int) -> h5py.File:
    """An empty file, open for appending; it gets its name only once readers are able to open it."""
    temporary = path.with_name(path.name + TEMPORARY_SUFFIX)
    temporary.write_bytes(_empty_file(resumed_from_step) + bytes(_RESERVE_BYTES))
    file = h5py.File(temporary, "r+", libver=FILE_VERSIONS, locking=False)
    file.swmr_mode = True
    temporary.rename(path)
    return file


def _empty_file(resumed_from_step: int) -> bytes:
    with h5py.File("metrics", "w", driver="core", backing_store=False, libver=FILE_VERSIONS) as file:
        attributes = {"kind": KIND, "schema_version": SCHEMA_VERSION, "resumed_from_step": resumed_from_step}
        write_attributes(file, attributes)
        file.create_dataset("names", (0,), NAME_DTYPE, maxshape=(None,), chunks=(_CHUNK_NAMES,))
        file.create_dataset("rows", (0,), ROW_DTYPE, maxshape=(None,), chunks=(_CHUNK_ROWS,))
        file.flush()
        return file.id.get_file_image()


def _append(dataset: h5py.Dataset, entries: np.ndarray) -> None:
    if len(entries) == 0:
        return
    begin = len(dataset)
    dataset.resize(begin + len(entries), axis=0)
    dataset[begin:] = entries
    dataset.flush()


def _read_segment(path: Path) -> _Segment:
    with reading(path, swmr=True) as file:
        check_attribute(file, "kind", KIND)
        check_attribute(file, "schema_version", SCHEMA_VERSION)
        rows = _read_column(file, "rows", ROW_DTYPE)
        names = _read_column(file, "names", NAME_DTYPE)  # after the rows: there may be new ones by now
        written = (rows["time"] > 0) & (rows["metric"] < len(names))
        resumed_from_step = int(get_attribute(file, "resumed_from_step"))
        return _Segment(resumed_from_step, [name.decode("utf-8", "replace") for name in names], rows[written])


def _read_column(file: h5py.File, name: str, dtype: np.dtype) -> np.ndarray:
    dataset = get_dataset(file, name)
    if dataset.dtype != dtype or dataset.ndim != 1:
        raise ValueError(f"{name} has type {dataset.dtype}, expected {dtype}")
    return dataset[()]


def _join(segments: list[_Segment]) -> dict[str, Series]:
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
