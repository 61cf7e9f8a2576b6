"""Each file in `errors/` is one typical mistake, with the exact output that a user gets, and its remedy as a diff."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from gen.base.findings import Severity
from gen.report.findings.text import text
from gen.report.formats import REPORTERS
from tests.error_cases import ErrorCase, encoded, error_cases, write
from tests.remedies import apply, is_followed, suggested, texts
from tests.report.junit import validate_junit
from tests.report.sarif import results
from tests.support import Repository

if TYPE_CHECKING:
    from pathlib import Path

    from gen.report.formats import Report

CASES = error_cases()


def report_has_errors(report: Report) -> bool:
    return any(finding.severity is Severity.ERROR for finding in report.findings)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_mistake_is_explained_and_its_remedies_work(case: ErrorCase, tmp_path: Path, update_golden: bool) -> None:
    repo = case.copy(tmp_path / "repo")
    report, code = repo.render()
    said = text(report)
    if update_golden:
        case.update(said)
    else:
        assert said == case.expected
    assert code == (1 if report_has_errors(report) else 0)
    assert (repo.root / "rendered").exists() == ("\nwrote  " in said)
    assert report.findings
    assert len(results(REPORTERS["sarif"](report))) >= len(report.findings)
    validate_junit(REPORTERS["junit"](report))
    for finding in report.findings:
        assert (repo.root / finding.place.file).exists(), "a place is in a file of the user"
        assert finding.message
        assert finding.hint
    if "    did you mean `" in case.expected:
        suggestions_end_the_finding(case.copy(tmp_path / "suggested"), report)
    if case.remedy:
        remedies_work(case, Repository(shutil.copytree(repo.root, tmp_path / "remedied")), report)


def suggestions_end_the_finding(repo: Repository, before: Report) -> None:
    """Each suggestion is written where the finding is, without thinking."""
    findings = [finding for finding in before.findings if suggested(finding)]
    for finding in reversed(findings):
        assert apply(finding, repo.root), f"nothing to replace at {finding.place}"
    left = {(finding.place.file, finding.code, finding.message) for finding in repo.render()[0].findings}
    assert [finding for finding in findings if (finding.place.file, finding.code, finding.message) in left] == []


def remedies_work(case: ErrorCase, repo: Repository, broken: Report) -> None:
    """The diff of the case follows the hints. The repository is the broken one after its render."""
    findings = [finding for finding in broken.findings if finding.severity is not Severity.NOTE]
    before = texts(repo.root)
    for name in ("jobs", "overlays"):
        shutil.rmtree(repo.root / name)
    write(case.remedied, repo.root)
    after = texts(repo.root)
    report, code = repo.render()
    assert code == 0, text(report)
    left = {(finding.code, finding.message) for finding in report.findings}
    assert [finding for finding in findings if (finding.code, finding.message) in left] == []
    ignored = [finding.hint for finding in findings if not is_followed(finding, before, after)]
    assert ignored == [], "the remedy does something else"


def test_the_remedies_of_at_least_two_hundred_mistakes_are_followed() -> None:
    assert sum(bool(case.remedy) for case in CASES) >= 200


def has_error(case: ErrorCase) -> bool:
    return ": error: " in case.expected


def test_all_mistakes_of_jobs_are_found_in_one_run(tmp_path: Path) -> None:
    """Those that need no overlay of their own, together in one repository."""
    repo = Repository.at(tmp_path / "repo")
    expected: list[str] = []
    for case in CASES:
        if case.has_overlays or "over-quota" in case.name or not has_error(case):
            continue
        for path, content in case.files.items():
            if path.endswith((".yaml", ".yml")):
                repo.write(path, encoded(content))
        expected += case.expected.splitlines()[:-1]
    said = text(repo.render()[0]).splitlines()
    assert [line for line in expected if line not in said] == []
