"""One more format of reports or plans costs one function and one line in its registry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.report.formats import PLAN_REPORTERS, REPORTERS, Report
from tests.support import Repository
from tests.test_costs import JOB, gen

if TYPE_CHECKING:
    import pytest

    from gen.report.terminal import View
    from gen.review.result import Review
    from tests.history import History


def counts(report: Report) -> str:
    return f"{len(report.findings)} findings, {len(report.changes)} changes\n"


def test_a_report_format_is_a_choice_of_every_command_with_findings(
    repo: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(REPORTERS, "counts", counts)
    repo.job(JOB)
    root = ("--root", str(repo.root))
    assert gen("check", *root, "--output", "counts") == "0 findings, 1 changes\n"
    assert gen("render", *root, "--output", "counts") == "0 findings, 1 changes\n"
    assert gen("validate", str(repo.root / "rendered"), "--output", "counts") == "0 findings, 0 changes\n"
    for command in ("render", "check", "validate"):
        assert "counts" in gen(command, "--help")


def test_a_format_of_plans_is_a_choice_of_the_plan(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    def starts(view: View[Review]) -> str:
        return f"{len(view.data.runs)} runs\n"

    monkeypatch.setitem(PLAN_REPORTERS, "starts", starts)
    history.job(JOB)
    history.rendering()
    assert gen("plan", "--root", str(history.root), "--base", "main", "--output", "starts") == "1 runs\n"
