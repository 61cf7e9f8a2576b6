"""Each folder below `errors/` is one typical mistake, with the exact text that a user gets for it.

Its folder `mended/` has the files after a user has done what the hints name: the jobs, the overlays, or both.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from gen.diagnostics import Severity
from gen.report.text import text
from tests.remedies import apply, is_followed, suggested, texts
from tests.support import Repository, cases, copy_case

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from gen.report.report import Report

    Render = Callable[[Path], tuple[Repository, Report, int]]

CASES = cases("errors")


def report_has_errors(report: Report) -> bool:
    return any(finding.severity is Severity.ERROR for finding in report.findings)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_mistake_is_explained_and_nothing_is_written(case: Path, rendered_case: Render, update_golden: bool) -> None:
    repo, report, code = rendered_case(case)
    said = text(report)
    if update_golden:
        (case / "expected.txt").write_text(said, "utf-8")
    assert said == (case / "expected.txt").read_text("utf-8")
    assert code == (1 if report_has_errors(report) else 0)
    assert (repo.root / "rendered").exists() == ("\nwrote  " in said)
    assert report.findings
    for finding in report.findings:
        assert (repo.root / finding.place.file).exists(), "a place is in a file of the user"
        assert finding.message
        assert finding.hint


MENDED = [case for case in CASES if (case / "mended").exists()]
SUGGESTING = [case for case in CASES if "    did you mean `" in (case / "expected.txt").read_text("utf-8")]


@pytest.mark.parametrize("case", SUGGESTING, ids=lambda case: case.name)
def test_a_suggested_name_or_value_ends_the_finding(case: Path, tmp_path: Path, rendered_case: Render) -> None:
    """Each suggestion is written where the finding is, without thinking."""
    repo = copy_case(case, tmp_path / "repo")
    findings = [finding for finding in rendered_case(case)[1].findings if suggested(finding)]
    for finding in reversed(findings):
        assert apply(finding, repo.root), f"nothing to replace at {finding.place}"
    left = {(finding.place.file, finding.code, finding.message) for finding in repo.render()[0].findings}
    assert [finding for finding in findings if (finding.place.file, finding.code, finding.message) in left] == []


@pytest.mark.parametrize("case", MENDED, ids=lambda case: case.name)
def test_the_remedies_are_followed_and_work(case: Path, tmp_path: Path, rendered_case: Render) -> None:
    """`mended/` has the files after someone has followed the hints."""
    broken, report, _ = rendered_case(case)
    findings = [finding for finding in report.findings if finding.severity is not Severity.NOTE]
    before = texts(broken.root)
    repo = Repository(shutil.copytree(broken.root, tmp_path / "repo"))
    for name in ("jobs", "overlays"):
        if (case / "mended" / name).exists():
            shutil.rmtree(repo.root / name)
            shutil.copytree(case / "mended" / name, repo.root / name)
    after = texts(repo.root)
    report, code = repo.render()
    assert code == 0, text(report)
    left = {(finding.code, finding.message) for finding in report.findings}
    assert [finding for finding in findings if (finding.code, finding.message) in left] == []
    ignored = [finding.hint for finding in findings if not is_followed(finding, before, after)]
    assert ignored == [], "the mended files do something else"


def test_the_remedies_of_at_least_two_hundred_mistakes_are_followed() -> None:
    assert len(MENDED) >= 200


def has_error(case: Path) -> bool:
    return ": error: " in (case / "expected.txt").read_text("utf-8")


def test_all_mistakes_of_jobs_are_found_in_one_run(tmp_path: Path) -> None:
    """Those that need no overlay of their own, together in one repository."""
    repo = Repository.at(tmp_path / "repo")
    expected: list[str] = []
    for case in CASES:
        if (case / "overlays").exists() or "over-quota" in case.name or not has_error(case):
            continue
        for path in (case / "jobs").rglob("*.y*ml"):
            repo.write(f"jobs/{path.relative_to(case / 'jobs')}", path.read_bytes())
        expected += (case / "expected.txt").read_text("utf-8").splitlines()[:-1]
    said = text(repo.render()[0]).splitlines()
    assert [line for line in expected if line not in said] == []
