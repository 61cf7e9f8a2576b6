"""Parts that no patch may remove, because operators, engines or gen itself depend on them."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from gen.base.findings import Location
from gen.render.patch.apply import breaches
from gen.render.results import Manifest
from gen.report.findings.text import concise
from tests.cases import for_each
from tests.support import OVERLAY, Repository

JOB = "kind: {kind}\nimage: registry.example.com/train:1\ncommand: python train.py\nworkers: 2\ndata: {{nas: /nas}}\n"


def worker(template: str) -> str:
    return f"{{spec: {{pytorchReplicaSpecs: {{Worker: {{template: {template}}}}}}}}}"


def said(repo: Repository, target: str, patch: str, kind: str = "pytorch") -> str:
    repo.overlay(OVERLAY + f"patches:\n  - target: {target}\n    patch: {patch}\n")
    repo.job(JOB.format(kind=kind))
    report, code = repo.render()
    assert code == bool(report.findings)
    return concise(report)


@for_each(
    ("target", "patch", "expected"),
    [
        (
            "{kind: PyTorchJob}",
            "[{op: replace, path: /spec/pytorchReplicaSpecs/Worker/template/spec/containers/0/name, value: main}]",
            "takes the container `pytorch` out of `spec.pytorchReplicaSpecs.Worker`",
        ),
        (
            "{kind: PyTorchJob}",
            worker("{spec: {containers: [{name: pytorch, $patch: delete}]}}"),
            "takes the container `pytorch` out of `spec.pytorchReplicaSpecs.Worker`",
        ),
        (
            "{kind: PyTorchJob}",
            worker("{spec: {containers: null}}"),
            "takes the container `pytorch` out of `spec.pytorchReplicaSpecs.Worker`",
        ),
        (
            "{kind: PyTorchJob}",
            "{spec: {pytorchReplicaSpecs: {Worker: null}}}",
            "takes the container `pytorch` out of `spec.pytorchReplicaSpecs.Worker`",
        ),
        (
            "{kind: PyTorchJob}",
            "{spec: {pytorchReplicaSpecs: {Extra: {template: {spec: {containers: [{name: x}]}}}}}}",
            "takes the container `pytorch` out of `spec.pytorchReplicaSpecs.Extra`",
        ),
        ("{kind: PyTorchJob}", "{metadata: {labels: {gen/run: x}}}", "changes the label `gen/run`"),
        ("{kind: PyTorchJob}", "{metadata: {labels: null}}", "changes the label `gen/job`"),
        ("{kind: PyTorchJob}", "{metadata: {labels: {gen/other: x}}}", "changes the label `gen/other`"),
        (
            "{kind: PyTorchJob}",
            "[{op: remove, path: /metadata/labels/app.kubernetes.io~1managed-by}]",
            "changes the label `app.kubernetes.io/managed-by`",
        ),
        ("{kind: PyTorchJob}", worker("{metadata: {labels: {gen/job: null}}}"), "changes the label `gen/job`"),
        (
            "{kind: PersistentVolumeClaim}",
            "{metadata: {annotations: {$patch: replace, a: b}}}",
            "takes the protection `argocd.argoproj.io/sync-options` from the data",
        ),
        (
            "{kind: PersistentVolume}",
            "{metadata: {annotations: {argocd.argoproj.io/sync-options: Delete=false}}}",
            "takes the protection `argocd.argoproj.io/sync-options` from the data",
        ),
    ],
)
def test_what_others_rely_on_stays(repo: Repository, target: str, patch: str, expected: str) -> None:
    report = said(repo, target, patch)
    assert f"error: the patch {expected}" in report
    assert "[patch-breaks]" in report


def test_the_place_is_the_line_that_broke_it(repo: Repository) -> None:
    patch = "\n      metadata:\n        labels:\n          a: b\n          gen/job: other"
    line = (OVERLAY + "patches:\n").count("\n") + 6
    assert f"overlays/dev/overlay.yaml:{line}:20: error: the patch changes the label `gen/job`" in said(
        repo, "{kind: PyTorchJob}", patch
    )


@pytest.mark.parametrize(
    ("target", "patch"),
    [
        ("{kind: PyTorchJob}", "{metadata: {labels: {team: a}}}"),
        ("{kind: PyTorchJob}", worker("{spec: {containers: [{name: side, image: 'x:1'}]}}")),
        (
            "{kind: PersistentVolume}",
            "{metadata: {annotations: {argocd.argoproj.io/sync-options: 'Delete=false,Prune=false,Validate=true'}}}",
        ),
    ],
)
def test_more_may_be_added(repo: Repository, target: str, patch: str) -> None:
    assert "error" not in said(repo, target, patch)


@for_each(
    ("kind", "patch"),
    [
        ("pytorch", "[{op: replace, path: /kind, value: TFJob}]"),
        ("pytorch", "[{op: replace, path: /metadata/namespace, value: other}]"),
        ("pytorch", "[{op: remove, path: /metadata}]"),
        ("pytorch", "{metadata: [a]}"),
        ("batch", "[{op: replace, path: /apiVersion, value: batch/v2}]"),
    ],
)
def test_an_object_stays_the_same_object(repo: Repository, kind: str, patch: str) -> None:
    target = "{kind: PyTorchJob}" if kind == "pytorch" else "{kind: Job}"
    assert "makes another object" in said(repo, target, patch, kind)


def template(container: str = "main") -> dict[str, Any]:
    return {"metadata": {"labels": {"gen/job": "demo"}}, "spec": {"containers": [{"name": container}]}}


def job_set(*templates: dict[str, Any]) -> dict[str, Any]:
    jobs = [{"name": f"job{i}", "template": {"spec": {"template": one}}} for i, one in enumerate(templates)]
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {},
        "spec": {"replicatedJobs": jobs},
    }


def ray_job(head: dict[str, Any], *workers: dict[str, Any]) -> dict[str, Any]:
    groups = [{"groupName": f"group{index}", "template": one} for index, one in enumerate(workers)]
    cluster = {"headGroupSpec": {"template": head}, "workerGroupSpecs": groups}
    return {"apiVersion": "ray.io/v1", "kind": "RayJob", "metadata": {}, "spec": {"rayClusterSpec": cluster}}


def unknown(*templates: dict[str, Any]) -> dict[str, Any]:
    """A kind without facts, with templates deep in maps and lists, and fields of any name."""
    deep: Any = {"deep": [[{"a": {"b": {"c": {"d": [{"pods": one}]}}}}] for one in templates]}
    return {"apiVersion": "example.com/v1", "kind": "Unknown", "metadata": {}, "spec": deep}


MAKERS = [job_set, ray_job, unknown]


def broken(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    here = Location("jobs/team/demo.yaml")
    manifest = Manifest(body=before, name="demo", source=here, folder="team/demo", main_container="main")
    return [breach.what for breach in breaches(manifest, after)]


@pytest.mark.parametrize("make", MAKERS)
def test_the_container_is_kept_in_every_template_at_any_route(make: Any) -> None:
    before = make(template(), template())
    assert broken(before, deepcopy(before)) == []
    (what,) = broken(before, make(template(), template("renamed")))
    assert what.startswith("takes the container `main` out of `spec.")
    assert len(broken(before, make(template("renamed"), {"spec": {"containers": None}}))) >= 2


@pytest.mark.parametrize("make", MAKERS)
def test_labels_are_kept_in_every_template_at_any_route(make: Any) -> None:
    changed = template()
    changed["metadata"]["labels"]["gen/job"] = "other"
    assert broken(make(template(), template()), make(template(), changed)) == ["changes the label `gen/job`"]


@pytest.mark.parametrize("make", MAKERS)
def test_a_template_cannot_be_removed(make: Any) -> None:
    assert broken(make(template(), template()), make(template())) != []


@pytest.mark.parametrize("make", MAKERS)
def test_another_template_may_be_added_where_the_operator_accepts_any_container(make: Any) -> None:
    assert broken(make(template()), make(template(), template("side"))) == []


@for_each("spec", [None, 3, "text", [], {"replicatedJobs": 3}, {"replicatedJobs": [None, {}]}])
def test_an_object_of_any_form_is_compared(spec: Any) -> None:
    before = job_set(template())
    assert broken(before, {**before, "spec": spec}) != []
