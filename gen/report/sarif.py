"""Findings as SARIF 2.1.0, which GitHub, GitLab and others show next to the code."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from gen import __version__
from gen.report.explanation import explanation
from gen.report.replacements import replacements_of
from gen.report.sanitize import escape_json
from gen.repository.layout import is_input

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.diagnostics import Diagnostic, Location
    from gen.report.documentation import Documentation
    from gen.report.report import Edit, Report


def sarif(report: Report) -> str:
    results = [_result(finding, report.fixes.get(finding)) for finding in report.findings]
    if not report.done:
        results += [_change(change.path, change.status.value) for change in report.changes]
    in_inputs = {finding.code: finding.place.file for finding in report.findings if is_input(finding.place.file)}
    names = sorted({result["ruleId"] for result in results})
    rules = [_rule(name, in_inputs.get(name, ""), report.documentation) for name in names]
    site = {"informationUri": url} if (url := report.documentation.start()) else {}
    driver = {"name": "gen", "version": __version__, **site, "rules": rules}
    document = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}],
    }
    return escape_json(json.dumps(document, indent=2, ensure_ascii=False)) + "\n"


def _rule(name: str, file: str, documentation: Documentation) -> dict[str, Any]:
    """The explanation that a viewer shows next to findings of one name. `file` is an input with one, or empty."""
    found = explanation(name, in_input=bool(file))
    if found is None:
        return {"id": name}
    about = {"shortDescription": found.summary, "fullDescription": found.reason, "help": found.remedy}
    url = documentation.finding(name, file)
    texts = {field: {"text": " ".join(text.split())} for field, text in about.items()}
    return {"id": name, **texts, **({"helpUri": url} if url else {})}


def _result(finding: Diagnostic, edit: Edit | None) -> dict[str, Any]:
    text = f"{finding.message}\n{finding.hint}" if finding.hint else finding.message
    related = [{**_place(place), "message": {"text": message}} for place, message in finding.related]
    return {
        "ruleId": finding.code,
        "level": finding.severity.value,
        "message": {"text": text},
        "locations": [_place(finding.place)],
        **({"relatedLocations": related} if related else {}),
        **({"fixes": fixes} if edit is not None and (fixes := list(_fixes(finding, edit))) else {}),
    }


def _fixes(finding: Diagnostic, edit: Edit) -> Iterator[dict[str, Any]]:
    """The edit as one fix; none if it has no replacements."""
    replacements = [
        {
            "deletedRegion": {
                "startLine": one.start.line,
                "startColumn": one.start.column,
                "endLine": one.end.line,
                "endColumn": one.end.column,
            },
            **({"insertedContent": {"text": one.text}} if one.text else {}),
        }
        for one in replacements_of(edit)
    ]
    change = {"artifactLocation": {"uri": _uri(edit.path)}, "replacements": replacements}
    if replacements:
        yield {"description": {"text": finding.hint or finding.message}, "artifactChanges": [change]}


def _place(place: Location) -> dict[str, Any]:
    region = {"startLine": place.line, "startColumn": place.column}
    return {"physicalLocation": {"artifactLocation": {"uri": _uri(place.file)}, "region": region}}


def _uri(path: str) -> str:
    return quote(os.fsencode(path), safe="/,:@!$&'()*+;=~")


def _change(path: str, status: str) -> dict[str, Any]:
    text = f"{status}: run `gen render` and commit the result"
    location = {"physicalLocation": {"artifactLocation": {"uri": _uri(path)}}}
    return {"ruleId": status, "level": "error", "message": {"text": text}, "locations": [location]}
