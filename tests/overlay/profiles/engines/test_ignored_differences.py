"""Differences that Argo CD ignores, evaluated as `del(<expression>)` (`util/argo/normalizers`)."""

from __future__ import annotations

import copy
from typing import Any

import jq
import pytest
import yaml

from gen.base.routes import at, follow, set_value
from gen.commands.new import job_text
from gen.job.kinds import KINDS
from gen.kubernetes.facts.argo import WORKFLOW
from gen.kubernetes.facts.base import Resource
from gen.kubernetes.facts.katib import EXPERIMENT
from gen.kubernetes.facts.pods import matches, pod_sets
from gen.kubernetes.facts.ray import RAYJOB
from tests.cases import for_each
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
    for pattern in resource.kueue.marks if resource.kueue is not None else ():
        for _, metadata in matches(live, pattern):
            metadata["annotations"] = {"kueue.x-k8s.io/workload": "a"}
            metadata["labels"] = {**metadata.get("labels", {}), "kueue.x-k8s.io/podset": "worker"}
    return live


def filled(body: dict[str, Any], resource: Resource, *, other: bool = False) -> dict[str, Any]:
    """An object with what its operator adds, or with other values there."""
    live = copy.deepcopy(body)
    for one in resource.filled:
        for _, holder in matches(live, one.place) if one.value is not None else ():
            if other or at(holder, *one.field) is None:
                set_value(holder, one.field, "other" if other else one.value)
    return live


def without_filled(body: dict[str, Any], resource: Resource) -> dict[str, Any]:
    found = copy.deepcopy(body)
    for one in resource.filled:
        for _, holder in matches(found, one.place) if one.value is not None else ():
            holder.pop(one.field[0], None)
    return found


SEARCH = """\
kind: batch
image: a:1
command: python a.py --lr {{ params.lr }} --name {{ params.name }}
metrics: [loss]
search: {minimize: loss, params: {lr: {min: 0.1, max: 0.5}, name: [a, b]}, maxTrials: 2}
"""
PIPELINE = """\
kind: pipeline
image: a:1
steps:
  first: {kind: batch, command: x}
  last: {kind: batch, command: x, needs: [first]}
"""
SEARCHES = """\
kubernetes: "1.34"
namespaces: {"*": {search: {maxTrials: 9}}}
pipelines: {argo: {serviceAccount: gen-pipeline}}
"""


@pytest.mark.parametrize(
    ("job", "resource"), [(job_text("ray", with_schema=False), RAYJOB), (SEARCH, EXPERIMENT), (PIPELINE, WORKFLOW)]
)
def test_what_an_operator_adds_inside_a_list_is_no_difference(repo: Repository, job: str, resource: Resource) -> None:
    """KubeRay, the webhook of Katib and Argo Workflows write fields into a list that is compared as a whole."""
    repo.overlay(SEARCHES + GITOPS)
    repo.job(job)
    body = repo.one(resource.kind)
    assert normalized(repo, filled(body, resource)) == normalized(repo, body)
    assert normalized(repo, filled(body, resource, other=True)) != normalized(repo, body)
    # Flux compares with the whole list in Git
    known = [one for one in resource.filled if one.in_all]
    assert all(at(holder, *one.field) == one.value for one in known for _, holder in matches(body, one.place))


@for_each("kind", [kind for kind, job in KINDS.items() if job.facts.kueue is not None])
def test_a_queue_may_change_the_runs_that_it_admits(repo: Repository, kind: str) -> None:
    repo.overlay(OVERLAY + GITOPS)
    repo.job(job_text(kind, with_schema=False) + "queue: research\n")
    body = repo.one(KINDS[kind].facts.kind)
    live = admitted(body, KINDS[kind].facts)
    assert live != body
    assert normalized(repo, live) == normalized(repo, body)
    live["spec"]["unexpected"] = 1
    assert normalized(repo, live) != normalized(repo, body)


@for_each("kind", [kind for kind, job in KINDS.items() if job.facts.suspend is not None])
def test_a_run_without_a_queue_is_compared_in_full(repo: Repository, kind: str) -> None:
    """With `RespectIgnoreDifferences=true` a `state: suspended` would otherwise never reach the cluster."""
    repo.overlay(OVERLAY + GITOPS)
    repo.job(job_text(kind, with_schema=False) + "state: suspended\n")
    body = repo.one(KINDS[kind].facts.kind)
    assert normalized(repo, body) == without_filled(body, KINDS[kind].facts)
    assert body["spec"].get("runPolicy", body["spec"])["suspend"] is True


def test_nothing_is_ignored_where_there_are_no_queues(repo: Repository) -> None:
    repo.overlay('kubernetes: "1.34"\n' + GITOPS)
    repo.job("kind: batch\nimage: a:1\ncommand: x\n")
    repo.render()
    assert "ignoreDifferences" not in repo.rendered()["argocd/dev/applications/applicationset-dev-jobs.yaml"]
