"""The list of jobs as text, CSV, JSON and Markdown.

Columns without any text are omitted, except in CSV, where no text may become a formula of a spreadsheet. The `version`
of the JSON document changes when a field is removed or its meaning changes.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from gen.base import counted, regex
from gen.job.metric import KnownMetric
from gen.kubernetes import quantity
from gen.overlay.costs import money
from gen.report.escaping import code_span, json_document, sanitize, table_cell
from gen.report.findings.json import cost_data, finding_data, plain_money
from gen.report.findings.text import wrapped_findings
from gen.report.terminal import Terminal, View, column, table_lines, wrap_line
from gen.review.job_list import JobRow, Listing

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


def accelerators(gpus: int | None, named: Mapping[str, int]) -> str:
    """`16`, `16 h100`, or `8 a100 + 16 h100`; `?` if the number cannot be read."""
    if gpus is None:
        return "?"
    rest = gpus - sum(named.values())
    texts = [f"{count} {name}" for name, count in sorted(named.items()) if count]
    return " + ".join([*([str(rest)] if rest or not texts else []), *texts])


def _runs(row: JobRow) -> str:
    """Of a sweep: `6 runs, 3 active`."""
    return "" if row.runs is None else f"{counted(row.runs, 'run')}, {row.active_runs} active"


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
    "runs": _runs,
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


def used_columns(listing: Listing) -> list[tuple[str, ...]]:
    """The columns with any text, each with its heading first."""
    rows = cells(listing)
    columns = zip(COLUMNS, *rows, strict=True) if rows else ()
    return [one for one in columns if any(one[1:]) and (one[0] != METRICS or listing.with_metrics)]


def totals(listing: Listing) -> list[str]:
    """The sums over all rows, as lines."""
    months = list(month_totals(listing))
    return [jobs_total(listing), *months, *(f"costs: {one}" for one in (_assumptions() if months else ()))]


def _assumptions() -> tuple[str, ...]:
    """Without prices, the modules of plans are not needed."""
    from gen.report.plan.phrases import ASSUMPTIONS

    return ASSUMPTIONS


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


_FORMULA = regex(r"(?:^|[;\t])\s*[=+\-@\uff1d\uff0b\uff0d\uff20]")
"""Starts of formulas, also of wide characters, and behind separators of some countries (OWASP, "CSV Injection")."""
_NAMES = regex(r"@[\w./@ -]+")
"""Names of code owners, such as `@org/team`. A spreadsheet can call nothing in them."""


def as_csv(listing: Listing) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([_inert(sanitize(text)) for text in row] for row in cells(listing))
    return stream.getvalue()


def _inert(text: str) -> str:
    if _FORMULA.search(text) is None or _NAMES.fullmatch(text) is not None:
        return text
    return f"'{text.replace(';', ',')}"


def as_json(listing: Listing) -> str:
    document = {
        "version": 1,
        "jobs": [_row(row) for row in listing.rows],
        "findings": [finding_data(finding) for finding in listing.findings],
    }
    return json_document(document)


def _row(row: JobRow) -> dict[str, object]:
    changed = row.changed
    return {
        "overlay": row.overlay,
        "namespace": row.namespace,
        "job": row.job,
        "file": row.file,
        "kind": row.kind,
        "state": row.state,
        "runs": row.runs,
        "activeRuns": row.active_runs,
        "attempt": row.attempt,
        "workers": row.workers,
        "gpus": row.gpus,
        "accelerators": dict(row.accelerators),
        "queue": row.queue,
        "timeoutSeconds": row.timeout,
        "costs": [cost_data(cost) for cost in row.costs],
        "monthCost": plain_money(row.month) if row.costs else None,
        "metrics": _metric_values(row),
        "owners": list(row.owners),
        "changed": None
        if changed is None
        else {"commit": changed.commit, "date": changed.date, "author": changed.author},
        "errors": list(row.errors),
    }


def _metric_values(row: JobRow) -> list[dict[str, object]] | None:
    """As in the annotation of a run: those of steps have the name of the step. None if an error hides them."""
    if row.metrics is None:
        return None
    of_steps = [{"step": step, **_metric(one)} for step, metrics in row.step_metrics.items() for one in metrics]
    return [*map(_metric, row.metrics), *of_steps]


def _metric(metric: KnownMetric) -> dict[str, object]:
    return {"name": metric.name, "format": metric.format, "regex": metric.regex}


def as_markdown(listing: Listing) -> str:
    lines = []
    shown = used_columns(listing)
    for number, row in enumerate(zip(*shown, strict=True)):
        texts = row if number == 0 else [table_cell(text) if text else "" for text in row]
        lines += [f"| {' | '.join(texts)} |", *(["|" + "---|" * len(shown)] if number == 0 else [])]
    lines += ["", *(f"- {code_span(str(one.place))}: {code_span(one.message)}" for one in listing.findings)]
    first, *costs = totals(listing)
    lines += ["", first, *(["", *(f"- {code_span(line)}" for line in costs)] if costs else [])]
    return "\n".join([*lines, ""]).lstrip("\n")


_RANKS: Final = {name: rank for rank, name in enumerate(("job", "errors", "state", "GPUs", "namespace", "overlay"))}
"""In a narrow terminal, columns that are not named here are left out first."""
_CUT: Final = ("job", "errors", "owner", METRICS)
_COLORS: Final = {"active": "green", "suspended": "yellow", UNKNOWN: "red"}


def as_text(view: View[Listing]) -> str:
    return "".join(f"{line}\n" for line in _lines(view.data, view.terminal))


def _lines(listing: Listing, terminal: Terminal) -> Iterator[str]:
    columns = [
        column(name.upper(), texts, _RANKS.get(name, len(_RANKS) + index), cut=name in _CUT)
        for index, (name, *texts) in enumerate(used_columns(listing))
    ]
    if columns:
        states = [_COLORS.get(str(row.state or UNKNOWN).partition(" ")[0], "") for row in listing.rows]
        yield from table_lines(columns, terminal, {"STATE": states})
    yield from wrapped_findings(listing.findings, terminal)
    for line in totals(listing):
        yield from wrap_line(line, terminal)
