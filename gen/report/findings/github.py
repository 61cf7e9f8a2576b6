"""Findings as workflow commands of GitHub Actions, which appear next to the lines of a pull request.

Values are escaped as in actions/toolkit (`packages/core/src/command.ts`), so that a job file cannot inject commands.
Control characters are replaced, because people read the same lines in terminals.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gen.base import Diagnostic, Severity
from gen.report.escaping import sanitize

if TYPE_CHECKING:
    from gen.report.formats import Report


_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def github(report: Report) -> str:
    lines = [
        f"::{_COMMANDS[finding.severity]} file={_property(finding.place.file)},line={finding.place.line},"
        f"col={finding.place.column},title={_property(finding.code)}::" + _data("\n".join(_texts(finding, report)))
        for finding in report.findings
    ]
    if not report.done:
        lines += [
            f"::error file={_property(change.path)},title={_property(change.status.value)}::"
            "run `gen render` and commit the result"
            for change in report.changes
        ]
    return "".join(f"{line}\n" for line in (*lines, _data(report.summary)))


def _texts(finding: Diagnostic, report: Report) -> Iterator[str]:
    """A workflow command has no form for a link or a fix."""
    yield finding.message
    if finding.hint:
        yield finding.hint
    if finding.fixes and report.root is not None:
        yield "`gen check --fix` corrects it"
    if page := report.documentation.finding(finding.code):
        yield page


def _data(text: str) -> str:
    return "%0A".join(sanitize(line).replace("%", "%25") for line in text.split("\n"))


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
