"""Jobs as one JSON document. `version` changes when a field is removed or its meaning changes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from gen.report.json import cost_data, finding_data, plain_money
from gen.report.sanitize import escape_json

if TYPE_CHECKING:
    from gen.inventory.listing import JobRow, Listing
    from gen.model.metric import KnownMetric


def as_json(listing: Listing) -> str:
    document = {
        "version": 1,
        "jobs": [_row(row) for row in listing.rows],
        "findings": [finding_data(finding) for finding in listing.findings],
    }
    return escape_json(json.dumps(document, indent=2, ensure_ascii=False)) + "\n"


def _row(row: JobRow) -> dict[str, Any]:
    changed = row.changed
    return {
        "overlay": row.overlay,
        "namespace": row.namespace,
        "job": row.job,
        "file": row.file,
        "kind": row.kind,
        "state": row.state,
        "attempt": row.attempt,
        "workers": row.workers,
        "gpus": row.gpus,
        "accelerators": dict(row.accelerators),
        "queue": row.queue,
        "timeoutSeconds": row.timeout,
        "costs": [cost_data(cost) for cost in row.costs],
        "monthCost": plain_money(row.month) if row.costs else None,
        "metrics": _metrics(row),
        "owners": list(row.owners),
        "changed": None
        if changed is None
        else {"commit": changed.commit, "date": changed.date, "author": changed.author},
        "errors": list(row.errors),
    }


def _metrics(row: JobRow) -> list[dict[str, Any]] | None:
    """As in the annotation of a run: those of steps have the name of the step. None if an error hides them."""
    if row.metrics is None:
        return None
    of_steps = [{"step": step, **_metric(one)} for step, metrics in row.step_metrics.items() for one in metrics]
    return [*map(_metric, row.metrics), *of_steps]


def _metric(metric: KnownMetric) -> dict[str, Any]:
    return {"name": metric.name, "format": metric.format, "regex": metric.regex}
