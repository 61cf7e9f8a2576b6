"""For people: one line a finding that editors can jump to, its remedy below, changes with their diff."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.diagnostics import Diagnostic
    from gen.report.types import Report
    from gen.write import Change

_LISTED = 40
"""Changes that are named one by one when their diff is not shown."""
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def text(report: Report) -> str:
    return "".join(f"{line}\n" for line in _lines(report))


def _lines(report: Report) -> Iterator[str]:
    for finding in report.findings:
        yield from _finding(finding)
    listed = report.changes[:_LISTED] if report.done else report.changes
    for change in listed:
        yield _shown(f"{_done(change) if report.done else change.status.value:<12} {change.path}")
    if len(listed) < len(report.changes):
        yield f"… and {len(report.changes) - len(listed)} more"
    if not report.done:
        for change in report.changes:
            yield from _diff(change)
    yield report.summary


def _done(change: Change) -> str:
    return "wrote" if change.old is None else "removed" if change.new is None else "changed"


def _finding(finding: Diagnostic) -> Iterator[str]:
    yield _shown(f"{finding.place}: {finding.severity.value}: {finding.message} [{finding.code}]")
    for place, what in finding.related:
        yield _shown(f"    {place}: {what}")
    if finding.hint:
        yield _shown(f"    {finding.hint}")


def _diff(change: Change) -> Iterator[str]:
    import difflib  # noqa: PLC0415 - where nothing differs it is not needed

    old = (change.old or "").splitlines()
    new = (change.new or "").splitlines()
    lines = difflib.unified_diff(old, new, f"a/{change.path}", f"b/{change.path}", lineterm="")
    yield from (_shown(line) for line in lines)


def _shown(line: str) -> str:
    """Without control characters, by which an input could write anything into a terminal."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", line.replace("\n", " "))
