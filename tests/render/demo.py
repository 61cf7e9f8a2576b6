"""A committed run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from gen.kubernetes.rules.gitops.runs import BEST_PRACTICES
from gen.render.run import render

if TYPE_CHECKING:
    from gen.render.results import RenderedJob
    from gen.report.formats import Report
    from tests.support import Repository

JOB = "kind: {kind}\nimage: a:1\ncommand: x\nworkers: 2\ngpus: 1\n"
FOLDER = "dev/jobs/team/demo/"


def runs(repo: Repository) -> dict[str, dict[str, Any]]:
    """Objects of the run on disk, by kind."""
    bodies = (yaml.safe_load(text) for path, text in repo.rendered().items() if path.startswith(FOLDER))
    return {body["kind"]: body for body in bodies if "gen/run" in body["metadata"]["labels"]}


def rendered(repo: Repository) -> list[str]:
    """Render without errors; the codes of the warnings, except best practices of jobs."""
    report, code = repo.render()
    assert code == 0, report
    return codes(report)


def codes(report: Report) -> list[str]:
    return [item.code for item in report.findings if item.code not in {rule.name for rule in BEST_PRACTICES}]


def behind(repo: Repository) -> tuple[RenderedJob, ...]:
    return render(repo.root, (), ()).behind
