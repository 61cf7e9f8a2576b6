"""The findings of every mistake, in formats with a schema. The cases are those of `test_errors.py`, rendered once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gen.diagnostics import Diagnostic, Location, Severity
from gen.report.formats import REPORTERS
from gen.report.report import Report
from tests.report.sarif import results, validator
from tests.report.test_report import EMPTY, REPORT
from tests.support import HERE, cases

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support import Repository


@pytest.fixture(scope="module")
def reports(rendered_case: Callable[[Path], tuple[Repository, Report, int]]) -> list[Report]:
    """Reports of every error case, and some special ones."""
    odd = Diagnostic(Location("jobs/a b/ü%#?.yaml"), "odd", "a\ufffe\x00b", "", severity=Severity.NOTE)
    return [REPORT, EMPTY, Report((odd,), (), ""), *(rendered_case(case)[1] for case in cases("errors"))]


def test_sarif_is_valid(reports: list[Report]) -> None:
    for report in reports:
        assert len(results(REPORTERS["sarif"](report))) >= len(report.findings)
    assert not validator().is_valid({"version": "2.1.0"})


def test_junit_is_valid(reports: list[Report]) -> None:
    """Schema of Jenkins, the strictest one in use."""
    from xmlschema import XMLSchema  # noqa: PLC0415 - takes long to import, and no other test needs it

    schema = XMLSchema(str(HERE / "data/junit-10.xsd"))
    for report in reports:
        schema.validate(REPORTERS["junit"](report))
    assert not schema.is_valid("<testsuite/>")
