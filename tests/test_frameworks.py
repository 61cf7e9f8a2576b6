"""Every job in docs/frameworks.md renders without a finding."""

from __future__ import annotations

import re

import pytest

from tests.support import OVERLAY, PROJECT, Repository

PAGE = (PROJECT / "docs/frameworks.md").read_text("utf-8")
JOBS = re.findall(r"(?sm)^```yaml\n(.*?)^```$", PAGE)


def test_jobs_are_found() -> None:
    assert len(JOBS) >= 7


@pytest.mark.parametrize("job", JOBS)
def test_a_job_renders(repo: Repository, job: str) -> None:
    repo.overlay(OVERLAY + "operators: {mpi: kubeflow.org/v2beta1}\n")
    repo.job(job)
    report, code = repo.render()
    assert (code, report.findings) == (0, ()), report
