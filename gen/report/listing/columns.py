"""Columns of tables of jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gen import quantity
from gen.diagnostics import counted
from gen.quantity import money
from gen.report.accelerators import accelerators
from gen.report.plan.cost_phrases import ASSUMPTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

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
    """`loss, accuracy (percentage)`; of a pipeline with those of its steps, such as `train: loss`."""
    every = {"": row.metrics or (), **{f"{step}: ": metrics for step, metrics in row.step_metrics.items()}}
    names = [
        f"{step}{one.name}" if one.format == _USUAL else f"{step}{one.name} ({one.format})"
        for step, metrics in every.items()
        for one in metrics
    ]
    return _optional(row, ", ".join(names) if row.metrics is not None else None)


def _cost(row: JobRow) -> str:
    """`12.50 EUR`, or `12.50 EUR + unbounded` if a run has no time limit."""
    if not row.costs:
        return ""
    bounded = [cost.run for cost in row.costs if cost.run is not None]
    parts = [f"{money(sum(bounded))} {row.costs[0].currency}"] if bounded else []
    return " + ".join([*parts, *(["unbounded"] if len(bounded) < len(row.costs) else []), *_unpriced(row)])


def _unpriced(row: JobRow) -> list[str]:
    names = {name or "undeclared devices" for cost in row.costs for name in cost.unpriced}
    return [f"unknown ({', '.join(sorted(names))})"] if names else []


def _month(row: JobRow) -> str:
    return f"{money(row.month)} {row.costs[0].currency}" if row.costs else ""


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
    "cost at most": _cost,
    "in a month": _month,
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


def totals(listing: Listing) -> list[str]:
    """The sums over all rows, as lines."""
    months = list(month_totals(listing))
    return [jobs_total(listing), *months, *(f"costs: {one}" for one in ASSUMPTIONS if months)]


def jobs_total(listing: Listing) -> str:
    """`3 jobs in 2 overlays; active jobs request 40 GPUs`."""
    active = [row for row in listing.rows if row.state == "active" and row.overlay is not None]
    gpus = sum(row.gpus or 0 for row in active)
    overlays = len({row.overlay for row in listing.rows if row.overlay is not None})
    jobs = f"{counted(listing.jobs, 'job')} in {counted(overlays, 'overlay')}"
    return f"{jobs}; active jobs request {counted(gpus, 'GPU')}"


def month_totals(listing: Listing) -> Iterator[str]:
    """The costs of each namespace with prices."""
    months: dict[tuple[str, str, str], int] = {}
    for row in listing.rows:
        if row.costs:
            place = row.overlay or "", row.namespace, row.costs[0].currency
            months[place] = months.get(place, 0) + row.month
    for (overlay, namespace, currency), month in sorted(months.items()):
        yield f"{namespace} in {overlay}: at most {money(month)} {currency} in a month"
