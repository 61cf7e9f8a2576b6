"""Findings for a terminal: one line each with a location that editors can open, its remedy, and diffs of files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gen.base.line_changes import unified
from gen.report.escaping import sanitize

if TYPE_CHECKING:
    from gen.base.findings import Diagnostic
    from gen.base.repository.files import Edit
    from gen.render.write.compare import Change
    from gen.report.formats import Report

_MAX_PATHS = 40
"""Paths that are printed when changes are listed without a diff."""


def text(report: Report) -> str:
    return "".join(f"{line}\n" for line in _lines(report))


def concise(report: Report) -> str:
    """One line for each finding, without remedies."""
    lines = (next(finding_lines(finding)) for finding in report.findings)
    return "".join(f"{line}\n" for line in (*lines, *change_lines(report), *map(sanitize, report.summary.split("\n"))))


def _lines(report: Report) -> Iterator[str]:
    for finding in report.findings:
        yield from finding_lines(finding)
    yield from change_lines(report)
    yield from map(sanitize, report.summary.split("\n"))


def change_lines(report: Report) -> Iterator[str]:
    """Changed files, with their diffs if nothing was written, after the diffs of fixes."""
    for edit in report.edits:
        yield from map(_without_secret, _diff(edit))
    listed = report.changes[:_MAX_PATHS] if report.done else report.changes
    for change in listed:
        yield sanitize(f"{_done(change) if report.done else change.status.value:<12} {change.path}")
    if len(listed) < len(report.changes):
        yield f"… and {len(report.changes) - len(listed)} more"
    if not report.done:
        for change in report.changes:
            yield from _diff(change)


def _done(change: Change) -> str:
    return "wrote" if change.old is None else "removed" if change.new is None else "changed"


def finding_lines(finding: Diagnostic) -> Iterator[str]:
    yield sanitize(f"{finding.place}: {finding.severity.value}: {finding.message} [{finding.code}]")
    for place, message in finding.related:
        yield sanitize(f"    {place}: {message}")
    if finding.hint:
        yield sanitize(f"    {finding.hint}")


def _without_secret(line: str) -> str:
    """A line that may contain a secret."""
    from gen.kubernetes.secrets import shows_secret

    return f"{line[:1]}(a line that may show a secret)" if shows_secret(line[1:]) else line


def _diff(change: Change | Edit) -> Iterator[str]:
    old = (change.old or "").splitlines()
    new = (change.new or "").splitlines()
    yield from (sanitize(line) for line in unified(old, new, f"a/{change.path}", f"b/{change.path}"))
