"""Findings as one JSON document. `version` changes when a field is removed or its meaning changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.base.corrections import may_be_fixed
from gen.report.escaping import json_document

if TYPE_CHECKING:
    from gen.base import Diagnostic, Location
    from gen.overlay.costs import RunCost
    from gen.report.formats import Report


def as_json(report: Report) -> str:
    return json_document({"version": 1, **report_data(report)})


def report_data(report: Report) -> dict[str, object]:
    return {
        "findings": [finding_data(finding) for finding in report.findings],
        "changes": [{"path": change.path, "status": change.status.value} for change in report.changes],
        "edits": [edit.path for edit in report.edits],
        "summary": report.summary,
    }


def finding_data(finding: Diagnostic) -> dict[str, object]:
    return {
        "code": finding.code,
        "severity": finding.severity.value,
        **_place(finding.place),
        "message": finding.message,
        "hint": finding.hint,
        "fixable": may_be_fixed(finding),
        "related": [{**_place(place), "message": message} for place, message in finding.related],
    }


def _place(place: Location) -> dict[str, object]:
    return {"file": place.file, "line": place.line, "column": place.column}


def plain_money(hundredths: int) -> str:
    """`1234.50`: a string, because programs read numbers as binary fractions."""
    return f"{hundredths // 100}.{hundredths % 100:02}"


def cost_data(cost: RunCost) -> dict[str, object]:
    return {
        "currency": cost.currency,
        "hour": plain_money(cost.hour),
        "run": None if cost.run is None else plain_money(cost.run),
        "month": plain_money(cost.month),
        "unpriced": list(cost.unpriced),
    }
