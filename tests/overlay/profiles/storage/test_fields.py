"""Fields of single storage profiles, and those that a driver would refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cases import for_each
from tests.overlay.profiles.storage.examples import FS, JOB, one, overlay, render

if TYPE_CHECKING:
    from tests.support import Repository


def test_a_local_volume_is_on_its_node(repo: Repository) -> None:
    spec = one(render(repo, "local"), "PersistentVolume")["spec"]
    (term,) = spec["nodeAffinity"]["required"]["nodeSelectorTerms"]
    assert term["matchExpressions"] == [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["node-1"]}]


def test_a_storage_class_provisions_the_claim(repo: Repository) -> None:
    claim = one(render(repo, "storageClass"), "PersistentVolumeClaim")
    assert claim["spec"]["storageClassName"] == "fast"
    assert "volumeName" not in claim["spec"]


def test_oss_with_a_role_needs_no_secret(repo: Repository) -> None:
    fields = {"bucket": "data", "url": "oss-cn-hangzhou.aliyuncs.com", "role": "reader"}
    source = one(render(repo, "oss", fields=fields), "PersistentVolume")["spec"]["csi"]
    assert source["volumeAttributes"]["authType"] == "rrsa"
    assert source["volumeAttributes"]["roleName"] == "reader"
    assert "nodePublishSecretRef" not in source


def test_a_dataset_for_nodes_without_a_driver_has_a_sidecar(repo: Repository) -> None:
    (objects,) = [render(repo, "fluid", fields={"dataset": "imagenet", "serverless": True})]
    template = one(objects, "PyTorchJob")["spec"]["pytorchReplicaSpecs"]["Master"]["template"]
    assert template["metadata"]["labels"]["serverless.fluid.io/inject"] == "true"


@pytest.mark.parametrize(
    ("fields", "handle"),
    [
        ({"fileSystem": FS}, FS),
        ({"fileSystem": FS, "path": "/a/b"}, f"{FS}:/a/b"),
        ({"fileSystem": FS, "accessPoint": "fsap-01234567"}, f"{FS}::fsap-01234567"),
    ],
)
def test_the_handle_of_efs_has_its_directory_and_access_point(
    repo: Repository, fields: dict[str, str], handle: str
) -> None:
    source = one(render(repo, "efs", fields=fields), "PersistentVolume")["spec"]["csi"]
    assert source == {"driver": "efs.csi.aws.com", "volumeHandle": handle}


def test_azure_files_over_smb_needs_the_key(repo: Repository) -> None:
    source = one(render(repo, "azureFile", fields={"share": "a", "secret": "key"}), "PersistentVolume")["spec"]["csi"]
    assert source["nodeStageSecretRef"] == {"name": "key", "namespace": "team"}
    assert source["volumeAttributes"] == {"shareName": "a"}


@for_each(
    ("name", "fields"),
    [
        ("azureBlob", {"container": "a"}),
        ("azureBlob", {"container": "a", "protocol": "nfs"}),
        ("azureBlob", {"container": "a", "protocol": "nfs", "account": "a", "secret": "a"}),
        ("azureFile", {"share": "a"}),
        ("azureFile", {"share": "a/b", "secret": "a"}),
        ("azureFile", {"share": "a", "protocol": "nfs"}),
        ("cephfs", {"cluster": "a", "path": "a", "secret": "a"}),
        ("csi", {"driver": "Not A Driver"}),
        ("efs", {"fileSystem": "efs:fs-01234567"}),
        ("efs", {"fileSystem": FS, "path": "a"}),
        ("filestore", {"instance": "a", "location": "us-central1-c", "ip": "10.0.0.2:/vol1", "share": "vol1"}),
        ("fsxLustre", {"fileSystem": "fsx", "dnsName": "a.example.com", "mountName": "fsx"}),
        ("gcsFuse", {"bucket": "gs://datasets"}),
        ("s3", {"bucket": "s3://datasets"}),
        ("cfs", {"host": "10.0.0.7", "vers": "3"}),
        ("cos", {"bucket": "data", "url": "http://example.com", "secret": "keys", "mounter": "lite"}),
        ("cpfs", {"server": "cpfs.example.com", "path": "/other"}),
        ("nas", {"server": "nas.example.com", "mode": "755"}),
        ("nas", {"server": "nas.example.com:/training"}),
        ("oss", {"bucket": "data", "url": "oss-cn-hangzhou.aliyuncs.com"}),
        ("oss", {"bucket": "data", "url": "oss-cn-hangzhou.aliyuncs.com", "secret": "a", "role": "b"}),
        ("oss", {"bucket": "data", "url": "data.oss-cn-hangzhou.aliyuncs.com", "secret": "a"}),
        ("oss", {"bucket": "data", "url": "oss-cn-hangzhou.aliyuncs.com", "secret": "a", "otherOpts": "ro"}),
    ],
)
def test_a_driver_would_refuse_these_fields(repo: Repository, name: str, fields: dict[str, str]) -> None:
    repo.overlay(overlay(name, fields))
    repo.job(JOB)
    assert "invalid-value" in repo.codes()
