"""Findings in formats with a schema. `tests/test_errors.py` validates the findings of every error case."""

from __future__ import annotations

import pytest

from gen.base.findings import Diagnostic, Location, Severity
from gen.report.formats import REPORTERS, Report
from tests.report.findings.test_report import EMPTY, REPORT
from tests.report.junit import schema, validate_junit
from tests.report.sarif import results, validator

ODD = Diagnostic(Location("jobs/a b/ü%#?.yaml"), "odd", "a\ufffe\x00b", "", severity=Severity.NOTE)


@pytest.mark.parametrize("report", [REPORT, EMPTY, Report((ODD,), (), "")], ids=["usual", "empty", "odd"])
def test_sarif_and_junit_are_valid(report: Report) -> None:
    assert len(results(REPORTERS["sarif"](report))) >= len(report.findings)
    validate_junit(REPORTERS["junit"](report))


def test_other_documents_are_invalid() -> None:
    assert not validator().is_valid({"version": "2.1.0"})
    assert not schema().is_valid("<testsuite/>")
