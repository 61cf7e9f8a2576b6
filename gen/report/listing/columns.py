"""Columns of tables of jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gen import quantity
from gen.diagnostics import counted
from gen.report.accelerators import accelerators

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gen.inventory.listing import JobRow, Listing

UNKNOWN: Final = "?"
"""A value that an error hides."""
_USUAL: Final = "raw"
METRICS: Final = "metrics"
"""The column that tables have only if it is asked for."""


def _known(value: object) -> str:
    return UNKNOWN if value is None else str(value)


def _optional(row: JobRow, value: object) -> str:
    """A value that jobs need not have. After an error, it is not known whether they do."""
    return (UNKNOWN if row.state is None else "") if value is None else str(value)


def _metrics(row: JobRow) -> str:
    """`loss, accuracy (percentage)`."""
    known = row.metrics or ()
    names = (one.name if one.format == _USUAL else f"{one.name} ({one.format})" for one in known)
    return _optional(row, ", ".join(names) if row.metrics is not None else None)


COLUMNS: Final[Mapping[str, Callable[[JobRow], str]]] = {
    "overlay": lambda row: row.overlay or "",
    "namespace": lambda row: row.namespace,
    "job": lambda row: row.job,
    "kind": lambda row: _known(row.kind),
    "state": lambda row: _known(row.state),
    "attempt": lambda row: _known(row.attempt),
    "workers": lambda row: _known(row.workers),
    "GPUs": lambda row: accelerators(row.gpus, row.accelerators),
    "queue": lambda row: _optional(row, row.queue),
    "timeout": lambda row: _optional(row, None if row.timeout is None else quantity.duration(row.timeout)),
    METRICS: _metrics,
    "owner": lambda row: " ".join(row.owners),
    "changed": lambda row: row.changed.date[:10] if row.changed is not None else "",
    "errors": lambda row: " ".join(row.errors),
}
"""Text of a column, by its heading."""


def cells(listing: Listing) -> list[list[str]]:
    """The texts of all rows."""
    return [[text(row) for text in COLUMNS.values()] for row in listing.rows]


def shown_columns(listing: Listing) -> list[tuple[str, ...]]:
    """The columns with any text, each with its heading first."""
    rows = cells(listing)
    columns = zip(COLUMNS, *rows, strict=True) if rows else ()
    return [one for one in columns if any(one[1:]) and (one[0] != METRICS or listing.with_metrics)]


def totals(listing: Listing) -> str:
    """`3 jobs in 2 overlays; active jobs request 40 GPUs`."""
    active = [row for row in listing.rows if row.state == "active" and row.overlay is not None]
    gpus = sum(row.gpus or 0 for row in active)
    overlays = len({row.overlay for row in listing.rows if row.overlay is not None})
    return (
        f"{counted(listing.jobs, 'job')} in {counted(overlays, 'overlay')}; active jobs request {counted(gpus, 'GPU')}"
    )
