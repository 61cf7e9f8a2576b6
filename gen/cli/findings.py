"""Findings with the addresses of their explanations and, for formats that offer them, their fixes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from gen.report.formats import WITH_FIXES

if TYPE_CHECKING:
    from gen.report.documentation import Documentation
    from gen.report.report import Report


def with_links(report: Report, documentation: Documentation, output: str) -> Report:
    """The report for a format."""
    found = replace(report, documentation=documentation)
    if output not in WITH_FIXES or report.root is None or not any(finding.fixes for finding in report.findings):
        return found
    from gen.commands.fix import fixes_alone  # noqa: PLC0415 - only for this format

    return replace(found, fixes=fixes_alone(report.root, report.findings))
