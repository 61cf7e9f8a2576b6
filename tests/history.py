"""A repository with real commits."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gen.commands.plan import Request as PlanRequest
from gen.commands.plan import review
from gen.report.formats import PLAN_REPORTERS, Planned
from tests.support import Repository

if TYPE_CHECKING:
    from pathlib import Path

    from gen.review.result import Review

JOB = (
    "kind: pytorch\nimage: registry.example.com/train:1\ncommand: python train.py\nworkers: 3\ngpus: 8\ntimeout: 12h\n"
)
SETTINGS = ("-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "maintenance.auto=false")
UNRENDERED = ("foreign-file", "hand-edited", "stale")
"""Codes for files that differ from the result of a render, which most tests of effects edit by hand."""


@dataclass(frozen=True)
class History(Repository):
    """Renders and commits; `main` is the default branch."""

    def git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", *SETTINGS, "-C", self.root, *arguments],
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout.strip()

    def rendering(self, **options: Any) -> None:
        report, code = self.render(**options)
        assert code == 0, report

    def commit(self, message: str = "change", **options: Any) -> None:
        self.rendering(**options)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", message)

    def plan(self, **options: Any) -> Review:
        """Review the work tree as it is."""
        return review(PlanRequest(root=self.root, **options))

    def report(self, form: str = "json", **options: Any) -> Any:
        """Render, and return the plan in one of the formats; JSON is parsed."""
        self.rendering()
        text = reported(form, self.plan(**options))
        return json.loads(text) if form == "json" else text

    def codes(self, **options: Any) -> list[tuple[str, str]]:  # type: ignore[override] # of a plan, not of a render
        """Code and severity of each finding, except that files were not rendered."""
        findings = [finding for finding in self.plan(**options).findings if finding.code not in UNRENDERED]
        return [(finding.code, finding.severity.value) for finding in findings]

    def file(self, start: str) -> Path:
        """The only rendered file with this prefix."""
        (found,) = (self.root / "rendered").rglob(f"{start}*.yaml")
        return found


def reported(form: str, plan: Review) -> str:
    return PLAN_REPORTERS[form](Planned(data=plan))


def branch(repository: History) -> None:
    """Commit the current state as the base; later changes are a pull request."""
    repository.commit("base")
    refs = repository.root / ".git/refs/heads"  # what `git switch --create topic` writes, without its process
    if not (refs / "main").exists():
        repository.git("switch", "--quiet", "--create", "topic")
        return
    shutil.copy(refs / "main", refs / "topic")
    (repository.root / ".git/HEAD").write_text("ref: refs/heads/topic\n", "utf-8")
