"""Findings as SARIF 2.1.0, which GitHub, GitLab and others show next to the code."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from gen import __version__
from gen.report.explain import explanation
from gen.report.sanitize import escape_json
from gen.repository.layout import is_input

if TYPE_CHECKING:
    from gen.diagnostics import Diagnostic, Location
    from gen.report.report import Report


def sarif(report: Report) -> str:
    results = [_result(finding) for finding in report.findings]
    if not report.done:
        results += [_change(change.path, change.status.value) for change in report.changes]
    in_inputs = {finding.code for finding in report.findings if is_input(finding.place.file)}
    names = sorted({result["ruleId"] for result in results})
    rules = [_rule(name, in_input=name in in_inputs) for name in names]
    driver = {"name": "gen", "version": __version__, "rules": rules}
    document = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}],
    }
    return escape_json(json.dumps(document, indent=2, ensure_ascii=False)) + "\n"


def _rule(name: str, *, in_input: bool) -> dict[str, Any]:
    """The explanation that a viewer shows next to findings of one name."""
    found = explanation(name, in_input=in_input)
    if found is None:
        return {"id": name}
    about = {"shortDescription": found.summary, "fullDescription": found.reason, "help": found.remedy}
    return {"id": name, **{field: {"text": " ".join(text.split())} for field, text in about.items()}}


def _result(finding: Diagnostic) -> dict[str, Any]:
    text = f"{finding.message}\n{finding.hint}" if finding.hint else finding.message
    related = [{**_place(place), "message": {"text": message}} for place, message in finding.related]
    return {
        "ruleId": finding.code,
        "level": finding.severity.value,
        "message": {"text": text},
        "locations": [_place(finding.place)],
        **({"relatedLocations": related} if related else {}),
    }


def _place(place: Location) -> dict[str, Any]:
    region = {"startLine": place.line, "startColumn": place.column}
    return {"physicalLocation": {"artifactLocation": {"uri": _uri(place.file)}, "region": region}}


def _uri(path: str) -> str:
    return quote(os.fsencode(path), safe="/,:@!$&'()*+;=~")


def _change(path: str, status: str) -> dict[str, Any]:
    text = f"{status}: run `gen render` and commit the result"
    location = {"physicalLocation": {"artifactLocation": {"uri": _uri(path)}}}
    return {"ruleId": status, "level": "error", "message": {"text": text}, "locations": [location]}
