"""Storage belongs to no job, and no engine removes it."""

from __future__ import annotations

from tests.lifecycle import ENGINES, JOB
from tests.support import OVERLAY, Repository


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


def test_a_volume_and_its_claim_are_bound_by_name(repo: Repository) -> None:
    """D6: `Retain`, the same class on both sides, and no uid, which a new claim would not have."""
    repo.job(JOB.format(kind="batch"))
    volume, claim = (repo.one(kind)["spec"] for kind in ("PersistentVolume", "PersistentVolumeClaim"))
    assert volume["persistentVolumeReclaimPolicy"] == "Retain"
    assert volume["storageClassName"] == claim["storageClassName"] == ""
    assert volume["claimRef"] == {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "namespace": "team",
        "name": "nas",
    }
    assert claim["volumeName"] == "team-nas"
    assert volume["accessModes"] == claim["accessModes"]
    assert volume["capacity"]["storage"] == claim["resources"]["requests"]["storage"]


def test_a_provisioned_claim_names_its_class(repo: Repository) -> None:
    repo.overlay('kubernetes: "1.34"\nvolumes: {fast: {size: 1Gi, storageClass: retained}}\n')
    repo.job("kind: batch\nimage: a:1\ncommand: x\ndata: {fast: /d}\n")
    claim = repo.one("PersistentVolumeClaim")
    assert claim["spec"]["storageClassName"] == "retained"
    assert claim["metadata"]["annotations"]["argocd.argoproj.io/sync-options"] == "Prune=false,Delete=false"


def test_no_change_of_a_job_touches_storage(repo: Repository) -> None:
    """D6: names without a run, files without a job, and nothing that the engine named today decides."""
    trees = set()
    for more, overlay in (("", ""), ("attempt: 2\n", ""), ("state: finished\n", ENGINES["flux"])):
        repo.overlay(OVERLAY + overlay)
        repo.job(JOB.format(kind="pytorch") + more)
        repo.render()
        files = {path: text for path, text in repo.rendered().items() if path.startswith("dev/storage/")}
        assert sorted(files) == [
            "dev/storage/team/persistentvolume-team-nas.yaml",
            "dev/storage/team/persistentvolumeclaim-nas.yaml",
        ]
        trees.add(str(files))
    assert len(trees) == 1


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
