"""Findings as a comment on a pull request. The first line contains the codes of the errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from gen.report.escaping import code_link, code_span

if TYPE_CHECKING:
    from gen.base import Diagnostic
    from gen.report.formats import Report

MAX_LENGTH: Final = 12_000
"""Characters; a plan follows in the same comment."""
MAX_CODES: Final = 8
"""Codes in the first line."""


def as_markdown(report: Report) -> str:
    errors = [finding for finding in report.findings if finding.is_error]
    others = [finding for finding in report.findings if not finding.is_error]
    entries = [
        *(_finding(one, report) for one in errors),
        *_changes(report),
        *(_finding(one, report) for one in others),
    ]
    text = f"{_heading(report, errors)}\n\n{code_span(report.summary)}\n\n"
    shown = 0
    for entry in entries:
        if len(text) + len(entry) > MAX_LENGTH:
            break
        text += entry
        shown += 1
    return text + (f"\n… and {len(entries) - shown} more\n\n" if shown < len(entries) else "\n")


def _heading(report: Report, errors: list[Diagnostic]) -> str:
    codes = Counter(finding.code for finding in errors)
    if not report.done:
        codes.update(change.status.value for change in report.changes)
    if not codes:
        return "### No errors"
    reasons = [f"{code_span(code)} ({count})" for code, count in codes.items()]
    return "### Refused: " + ", ".join(reasons[:MAX_CODES]) + (", …" if len(reasons) > MAX_CODES else "")


def _finding(finding: Diagnostic, report: Report) -> str:
    code = code_link(finding.code, report.documentation.finding(finding.code))
    hint = f"  {code_span(finding.hint)}\n" if finding.hint else ""
    severity = "" if finding.is_error else f"{finding.severity.value}: "
    place = code_span(str(finding.place))
    return f"- {severity}{code} at {place}: {code_span(finding.message)}\n{hint}"


def _changes(report: Report) -> Iterator[str]:
    if not report.done:
        for change in report.changes:
            yield f"- {code_span(change.status.value)}: {code_span(change.path)}\n"
