"""Jobs of a cluster whose overlay was removed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.support import Repository

JOB = "kind: pytorch\nimage: registry.example.com/train:1\ncommand: train\nclusters: [old]\n"


@pytest.mark.parametrize("state", ["finished", "stopped"])
def test_a_record_of_a_retired_cluster_does_not_stop_other_jobs(repo: Repository, state: str) -> None:
    repo.job(f"{JOB}state: {state}\n", "record")
    repo.job(JOB.replace("clusters: [old]\n", ""), "other")
    report, code = repo.render()
    assert code == 0
    found = [(one.code, one.severity.value, one.place.file) for one in report.findings if "cluster" in one.code]
    assert found == [("unknown-cluster", "warning", "jobs/team/record.yaml")]
    assert {path.split("/")[3] for path in repo.rendered()} == {"other"}


def test_a_job_that_should_run_there_is_refused(repo: Repository) -> None:
    repo.job(JOB)
    report, code = repo.render()
    assert code == 1
    assert [(one.code, one.is_error) for one in report.findings] == [("unknown-cluster", True)]
