"""Findings as SARIF 2.1.0, which GitHub, GitLab and others show next to the code. Fixes are replacements of text."""

from __future__ import annotations

import os
from collections.abc import Iterator
from io import StringIO
from typing import TYPE_CHECKING
from urllib.parse import quote

from msgspec import Struct

from gen import __version__
from gen.base.line_changes import MAX_COMPARED, between_ends, changed_lines
from gen.kubernetes.rules.catalogue import CATALOGUE
from gen.report.escaping import json_document

if TYPE_CHECKING:
    from gen.base import Diagnostic, Location
    from gen.base.repository.files import Edit
    from gen.report.formats import Documentation, Report


class Position(Struct, frozen=True):
    """A line and a column, both counted from 1."""

    line: int
    column: int


class Replacement(Struct, frozen=True, kw_only=True):
    """Another text for a part of a file."""

    start: Position
    end: Position
    """After the last character."""
    text: str
    """Empty if the part is removed."""


def replacements_of(edit: Edit) -> Iterator[Replacement]:
    """The replacements from top to bottom; none if they are more than `MAX_COMPARED` lines apart.

    A replacement of all of these would show lines that the edit does not change, such as a secret. Columns do not count
    a byte order mark.
    """
    old, new = (list(StringIO(text.removeprefix("\ufeff"), newline="\n")) for text in (edit.old, edit.new))
    for begin, end, first, last in changed_lines(old, new):
        if max(end - begin, last - first) <= MAX_COMPARED:
            yield _narrowed(begin + 1, "".join(old[begin:end]), "".join(new[first:last]))


def _narrowed(line: int, old: str, new: str) -> Replacement:
    """Only what differs between two texts that start in a line."""
    start, end, first, last = between_ends(old, new)
    return Replacement(start=_position(line, old[:start]), end=_position(line, old[:end]), text=new[first:last])


def _position(line: int, before: str) -> Position:
    """Where a text ends that starts in a line."""
    return Position(line + before.count("\n"), len(before) - (before.rfind("\n") + 1) + 1)


def sarif(report: Report) -> str:
    results = [_result(finding, report.fixes.get(finding)) for finding in report.findings]
    if not report.done:
        results += [_change(change.path, change.status.value) for change in report.changes]
    names = sorted({str(result["ruleId"]) for result in results})
    rules = [_rule(name, report.documentation) for name in names]
    site = {"informationUri": url} if (url := report.documentation.start()) else {}
    driver = {"name": "gen", "version": __version__, **site, "rules": rules}
    document = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}],
    }
    return json_document(document)


def _rule(name: str, documentation: Documentation) -> dict[str, object]:
    """The explanation that a viewer shows next to findings of one name."""
    found = CATALOGUE.get(name)
    if found is None:
        return {"id": name}
    about = {"shortDescription": found.summary, "fullDescription": found.reason, "help": found.remedy}
    url = documentation.finding(name)
    texts = {field: {"text": " ".join(text.split())} for field, text in about.items()}
    return {"id": name, **texts, **({"helpUri": url} if url else {})}


def _result(finding: Diagnostic, edit: Edit | None) -> dict[str, object]:
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


def _fixes(finding: Diagnostic, edit: Edit) -> Iterator[dict[str, object]]:
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


def _place(place: Location) -> dict[str, object]:
    region = {"startLine": place.line, "startColumn": place.column}
    return {"physicalLocation": {"artifactLocation": {"uri": _uri(place.file)}, "region": region}}


def _uri(path: str) -> str:
    return quote(os.fsencode(path), safe="/,:@!$&'()*+;=~")


def _change(path: str, status: str) -> dict[str, object]:
    text = f"{status}: run `gen render` and commit the result"
    location = {"physicalLocation": {"artifactLocation": {"uri": _uri(path)}}}
    return {"ruleId": status, "level": "error", "message": {"text": text}, "locations": [location]}
