"""Findings as one JSON document. `version` changes when a field is removed or its meaning changes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from gen.report.sanitize import escape_json

if TYPE_CHECKING:
    from gen.diagnostics import Diagnostic, Location
    from gen.report.report import Report
    from gen.resources.cost import RunCost


def as_json(report: Report) -> str:
    document = {
        "version": 1,
        "findings": [finding_data(finding) for finding in report.findings],
        "changes": [{"path": change.path, "status": change.status.value} for change in report.changes],
        "edits": [edit.path for edit in report.edits],
        "summary": report.summary,
    }
    return escape_json(json.dumps(document, indent=2, ensure_ascii=False)) + "\n"


def finding_data(finding: Diagnostic) -> dict[str, Any]:
    return {
        "code": finding.code,
        "severity": finding.severity.value,
        **_place(finding.place),
        "message": finding.message,
        "hint": finding.hint,
        "fixable": bool(finding.fixes),
        "related": [{**_place(place), "message": message} for place, message in finding.related],
    }


def _place(place: Location) -> dict[str, Any]:
    return {"file": place.file, "line": place.line, "column": place.column}


def plain_money(hundredths: int) -> str:
    """`1234.50`: a string, because programs read numbers as binary fractions."""
    return f"{hundredths // 100}.{hundredths % 100:02}"


def cost_data(cost: RunCost) -> dict[str, Any]:
    return {
        "currency": cost.currency,
        "hour": plain_money(cost.hour),
        "run": None if cost.run is None else plain_money(cost.run),
        "month": plain_money(cost.month),
        "unpriced": list(cost.unpriced),
    }
