"""What no patch may take from an object, because operators, engines or gen itself go by it."""

from __future__ import annotations

import pytest

from gen.report.text import text
from tests.support import OVERLAY, Repository

JOB = "kind: {kind}\nimage: registry.example.com/train:1\ncommand: python train.py\nworkers: 2\ndata: {{nas: /nas}}\n"


def worker(template: str) -> str:
    return f"{{spec: {{pytorchReplicaSpecs: {{Worker: {{template: {template}}}}}}}}}"


def said(repo: Repository, target: str, patch: str, kind: str = "pytorch") -> str:
    repo.overlay(OVERLAY + f"patches:\n  - target: {target}\n    patch: {patch}\n")
    repo.job(JOB.format(kind=kind))
    report, code = repo.render()
    assert code == bool(report.findings)
    return text(report)


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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
