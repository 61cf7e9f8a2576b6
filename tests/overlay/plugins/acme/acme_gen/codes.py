"""The output format `codes`: one code of a finding a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gen.report.formats import Report


def codes(report: Report) -> str:
    return "".join(f"{finding.code}\n" for finding in report.findings)
