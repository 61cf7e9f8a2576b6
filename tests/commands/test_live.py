"""Which clusters a command asks."""

from __future__ import annotations

import pytest

from gen.base.findings import Findings
from gen.commands.common import LiveRequest, cluster_questions
from tests.support import Repository, rendered

JOB = "kind: pytorch\nimage: a/b:1\ncommand: x\ntimeout: 1h\n"


@pytest.mark.parametrize(
    ("jobs", "overlay", "expected"),
    [
        (["team/a"], (), ["dev"]),
        (["team/both"], (), ["dev", "other"]),
        ([], (), ["dev", "other"]),
        (["team/a"], ("other",), ["other"]),
    ],
)
def test_only_the_clusters_with_runs_of_the_jobs_need_a_context(
    repo: Repository, jobs: list[str], overlay: tuple[str, ...], expected: list[str]
) -> None:
    repo.overlay('kubernetes: "1.34"\n', name="other")
    repo.job(JOB + "clusters: [dev]\n", name="a")
    repo.job(JOB, name="both")
    rendered(repo.root)
    config = repo.write("kubeconfig", "apiVersion: v1\nkind: Config\nclusters: []\ncontexts: []\nusers: []\n")
    found = Findings()
    cluster_questions(LiveRequest(root=repo.root, kubeconfig=str(config), overlay=overlay), jobs, found)
    assert [finding.place.file for finding in found] == [f"overlays/{name}/overlay.yaml" for name in expected]
    assert {finding.code for finding in found} <= {"cluster-context"}
