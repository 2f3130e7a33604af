"""Every metric of a run as one long table: a row per value, in the order in which it was logged.

metric    text, like "rollout/return"
step      environment steps
update    optimiser steps
time      seconds since 1970
value     may be NaN or infinite
"""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from amago_cli.exports.request import ExportRequest

if TYPE_CHECKING:
    from store.metrics import Series

COLUMNS = ("step", "update", "time", "value")


def to_csv(request: ExportRequest) -> None:
    """Text in UTF-8 with a header."""
    from store.atomic import write_text

    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(["metric", *COLUMNS])
    for key, series in _metrics(request).items():
        columns = (getattr(series, name).tolist() for name in COLUMNS)
        writer.writerows([key, *row] for row in zip(*columns, strict=True))
    write_text(request.output, text.getvalue(), run="")


def to_parquet(request: ExportRequest) -> None:
    """The same table in Parquet. Raises AmagoError without pyarrow."""
    import numpy as np

    from store.atomic import write_bytes
    from store.errors import AmagoError

    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise AmagoError('Parquet needs pyarrow: pip install "amago[parquet]", or use metrics-csv') from None
    metrics = _metrics(request)
    keys = np.repeat(np.array(list(metrics), object), [len(series) for series in metrics.values()])
    columns = {name: np.concatenate([getattr(s, name) for s in metrics.values()]) for name in COLUMNS}
    table = pyarrow.table({"metric": pyarrow.array(keys, pyarrow.string()).dictionary_encode(), **columns})
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(table, buffer)
    write_bytes(request.output, buffer.getbuffer(), run="")


def _metrics(request: ExportRequest) -> dict[str, Series]:
    from store.errors import AmagoError
    from store.metrics import read_metrics

    metrics = read_metrics(request.paths)
    if not metrics:
        raise AmagoError(f"run {request.paths.name} has no metrics; `amago store verify` names damaged files")
    return metrics
