"""For CI servers: JUnit XML, a test case for each file that has findings or is not as it should be."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.report.types import Report

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(report: Report) -> str:
    cases = list(_cases(report))
    failures = sum("<failure" in case for case in cases)
    counts = f'tests="{max(len(cases), 1)}" failures="{failures}"'
    body = "".join(cases) or f"  <testcase name={quoteattr(report.summary)}/>\n"
    text = f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuite name="gen" {counts}>\n{body}</testsuite>\n'
    return _NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", text)


def _cases(report: Report) -> Iterator[str]:
    for finding in report.findings:
        text = escape(f"{finding.place}: {finding.message}. {finding.hint}")
        if finding.severity.value == "error":
            yield _case(
                finding.place.file, finding.code, f"<failure message={quoteattr(finding.message)}>{text}</failure>"
            )
        else:
            yield _case(finding.place.file, finding.code, f"<system-out>{text}</system-out>")
    for change in () if report.done else report.changes:
        failure = f'<failure message="{change.status.value}">run `gen render` and commit the result</failure>'
        yield _case(change.path, change.status.value, failure)


def _case(file: str, name: str, inner: str) -> str:
    return f"  <testcase classname={quoteattr(file)} name={quoteattr(name)}>{inner}</testcase>\n"
