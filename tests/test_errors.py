"""Each folder below `errors/` is one typical mistake, with the exact text that a user gets for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gen.report.text import text
from tests.support import Repository, cases, copy_case

if TYPE_CHECKING:
    from pathlib import Path

CASES = cases("errors")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_mistake_is_explained_and_nothing_is_written(case: Path, tmp_path: Path, update_golden: bool) -> None:
    repo = copy_case(case, tmp_path / "repo")
    report, code = repo.render()
    said = text(report)
    if update_golden:
        (case / "expected.txt").write_text(said, "utf-8")
    assert said == (case / "expected.txt").read_text("utf-8")
    assert code == 1
    assert not (repo.root / "rendered").exists()
    for finding in report.findings:
        assert (repo.root / finding.place.file).exists(), "a place is in a file of the user"
        assert finding.message
        assert finding.hint


def test_there_are_at_least_twenty_five_mistakes() -> None:
    assert len(CASES) >= 25


def test_all_mistakes_of_jobs_are_found_in_one_run(tmp_path: Path) -> None:
    """Those that need no overlay of their own, together in one repository."""
    repo = Repository.at(tmp_path / "repo")
    expected: list[str] = []
    for case in CASES:
        if (case / "overlays").exists() or "over-quota" in case.name:
            continue
        for path in (case / "jobs").rglob("*.y*ml"):
            repo.write(f"jobs/{path.relative_to(case / 'jobs')}", path.read_bytes())
        expected += (case / "expected.txt").read_text("utf-8").splitlines()[:-1]
    said = text(repo.render()[0]).splitlines()
    assert [line for line in expected if line not in said] == []
