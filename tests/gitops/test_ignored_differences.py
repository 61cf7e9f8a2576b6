"""Differences that Argo CD ignores in runs with a queue, evaluated as `del(<expression>)` (`util/argo/normalizers`)."""

from __future__ import annotations

import copy
from typing import Any

import jq
import pytest
import yaml

from gen.commands.new import job_text
from gen.kinds import KINDS
from gen.resources.base import Resource
from gen.resources.pods import follow, pod_sets
from tests.support import OVERLAY, Repository

GITOPS = "gitops: {argocd: {repoURL: https://a.example/b.git}}\n"
SELECTED = {"zone": "a"}
TOLERATED = [{"key": "spot", "operator": "Exists"}]


def normalized(repo: Repository, body: dict[str, Any]) -> dict[str, Any]:
    """An object without what its Application ignores."""
    applications = yaml.safe_load(repo.rendered()["argocd/dev/applications/applicationset-dev-jobs.yaml"])
    for ignored in applications["spec"]["template"]["spec"].get("ignoreDifferences", []):
        if (ignored["group"], ignored["kind"]) == (body["apiVersion"].rpartition("/")[0], body["kind"]):
            for expression in ignored["jqPathExpressions"]:
                body = jq.compile(f"del({expression})").input_value(body).first()
    return body


def admitted(body: dict[str, Any], resource: Resource) -> dict[str, Any]:
    """A run after Kueue admitted it (`pkg/podset/podset.go`)."""
    live = copy.deepcopy(body)
    assert resource.suspend is not None
    follow(live, resource.suspend[:-1])[resource.suspend[-1]] = False
    for pods in pod_sets(resource, live):
        pods.template["spec"]["nodeSelector"] = SELECTED
        pods.template["spec"]["tolerations"] = TOLERATED
    return live


@pytest.mark.parametrize("kind", [kind for kind, job in KINDS.items() if job.facts.kueue is not None])
def test_a_queue_may_change_the_runs_that_it_admits(repo: Repository, kind: str) -> None:
    repo.overlay(OVERLAY + GITOPS)
    repo.job(job_text(kind, with_schema=False) + "queue: research\n")
    body = repo.one(KINDS[kind].facts.kind)
    live = admitted(body, KINDS[kind].facts)
    assert live != body
    assert normalized(repo, live) == normalized(repo, body)
    live["spec"]["unexpected"] = 1
    assert normalized(repo, live) != normalized(repo, body)


@pytest.mark.parametrize("kind", [kind for kind, job in KINDS.items() if job.facts.suspend is not None])
def test_a_run_without_a_queue_is_compared_in_full(repo: Repository, kind: str) -> None:
    """With `RespectIgnoreDifferences=true` a `state: suspended` would otherwise never reach the cluster."""
    repo.overlay(OVERLAY + GITOPS)
    repo.job(job_text(kind, with_schema=False) + "state: suspended\n")
    body = repo.one(KINDS[kind].facts.kind)
    assert normalized(repo, body) == body
    assert body["spec"].get("runPolicy", body["spec"])["suspend"] is True


def test_nothing_is_ignored_where_there_are_no_queues(repo: Repository) -> None:
    repo.overlay('kubernetes: "1.34"\n' + GITOPS)
    repo.job("kind: batch\nimage: a:1\ncommand: x\n")
    repo.render()
    assert "ignoreDifferences" not in repo.rendered()["argocd/dev/applications/applicationset-dev-jobs.yaml"]
