"""What GitOps engines and queues may do with an object is said on the object."""

from __future__ import annotations

import pytest

from tests.support import Repository

JOB = "kind: {kind}\nimage: a:1\ncommand: x\ndata: {{nas: /data}}\ntensorboard: true\nfiles: {{/etc/a: b}}\n"
KINDS = {"pytorch": "PyTorchJob", "tensorflow": "TFJob", "mpi": "MPIJob", "batch": "Job"}
FORBIDDEN = (
    "app.kubernetes.io/instance",
    "argocd.argoproj.io/tracking-id",
    "argocd.argoproj.io/sync-wave",
    "ttlSecondsAfterFinished",
    "generateName",
    "creationTimestamp",
    "\nstatus:",
    "null",
)


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize(
    ("state", "annotations", "suspended"),
    [
        ("active", {"kustomize.toolkit.fluxcd.io/ssa": "IfNotPresent"}, None),
        ("suspended", {"kustomize.toolkit.fluxcd.io/ssa": "IfNotPresent"}, True),
        ("finished", {"argocd.argoproj.io/hook": "Skip", "kustomize.toolkit.fluxcd.io/ssa": "Ignore"}, None),
    ],
)
def test_the_state_of_a_job(
    repo: Repository, kind: str, state: str, annotations: dict[str, str], suspended: bool | None
) -> None:
    repo.job(JOB.format(kind=kind) + f"state: {state}\n")
    objects = {body["kind"]: body for body in repo.objects() if "gen/run" in body["metadata"]["labels"]}
    for body in objects.values():
        assert body["metadata"]["annotations"] == annotations
    spec = objects[KINDS[kind]]["spec"]
    assert spec.get("runPolicy", spec).get("suspend") is suspended


@pytest.mark.parametrize("kind", list(KINDS))
def test_what_is_never_rendered(repo: Repository, kind: str) -> None:
    repo.job(JOB.format(kind=kind))
    repo.render()
    text = "".join(repo.rendered().values())
    assert [word for word in FORBIDDEN if word in text] == []


def test_a_queue_is_a_label_of_the_job_and_of_nothing_else(repo: Repository) -> None:
    repo.job(JOB.format(kind="pytorch") + "queue: research\n")
    body = repo.one("PyTorchJob")
    assert body["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "research"
    assert "suspend" not in body["spec"]["runPolicy"]
    assert "kueue" not in str(body["spec"])


def test_metrics_are_an_annotation_of_the_run(repo: Repository) -> None:
    repo.job(JOB.format(kind="mpi") + "metrics: [{name: images/sec}, {name: accuracy, format: percentage}]\n")
    assert repo.one("MPIJob")["metadata"]["annotations"]["gen/metrics"] == "images/sec=raw,accuracy=percentage"
    assert "gen/metrics" not in str(repo.one("MPIJob")["spec"])


def test_only_kinds_with_an_operator_clean_up(repo: Repository) -> None:
    repo.job(JOB.format(kind="pytorch") + "cleanup: All\n")
    assert repo.one("PyTorchJob")["spec"]["runPolicy"]["cleanPodPolicy"] == "All"
    repo.job(JOB.format(kind="batch") + "cleanup: All\n")
    assert repo.codes() == ["unknown-field"]


def test_labels_of_a_job_are_on_its_objects_and_not_on_its_pods(repo: Repository) -> None:
    repo.job(JOB.format(kind="batch") + "labels: {cost-center: '42'}\npodLabels: {app: demo}\n")
    for body in repo.objects():
        of_job = "gen/job" in body["metadata"]["labels"]
        assert (body["metadata"]["labels"].get("cost-center") == "42") is of_job
    pod = repo.one("Job")["spec"]["template"]["metadata"]["labels"]
    assert pod["app"] == "demo"
    assert "cost-center" not in pod


def test_storage_belongs_to_no_job_and_is_protected(repo: Repository) -> None:
    repo.job(JOB.format(kind="batch"))
    for kind in ("PersistentVolume", "PersistentVolumeClaim"):
        metadata = repo.one(kind)["metadata"]
        assert metadata["labels"] == {"app.kubernetes.io/managed-by": "gen", "gen/volume": "nas"}
        assert metadata["annotations"] == {
            "argocd.argoproj.io/compare-options": "IgnoreExtraneous",
            "argocd.argoproj.io/sync-options": "Prune=false,Delete=false",
            "kustomize.toolkit.fluxcd.io/prune": "disabled",
        }


def test_two_namespaces_with_one_volume_get_two_persistent_volumes(repo: Repository) -> None:
    repo.job(JOB.format(kind="batch"))
    repo.job(JOB.format(kind="batch"), namespace="other")
    volumes = [body for body in repo.objects() if body["kind"] == "PersistentVolume"]
    assert {body["metadata"]["name"] for body in volumes} == {"team-nas", "other-nas"}
    assert len({body["spec"]["csi"]["volumeHandle"] for body in volumes}) == 2


def test_names_that_meet_in_the_cluster_are_refused(repo: Repository) -> None:
    repo.overlay(
        'kubernetes: "1.34"\nvolumes:\n'
        "  c: {size: 1Gi, nfs: {server: a, path: /}}\n  b-c: {size: 1Gi, nfs: {server: b, path: /}}\n"
    )
    repo.job("kind: batch\nimage: a:1\ncommand: x\ndata: {c: /c}\n", namespace="a-b")
    repo.job("kind: batch\nimage: a:1\ncommand: x\ndata: {b-c: /c}\n", namespace="a")
    assert repo.codes() == ["duplicate-object"]
