"""A volume of every storage profile, and the job that mounts it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from gen.overlay.profiles.storage import STORAGE

if TYPE_CHECKING:
    from tests.support import Repository

JOB = "kind: pytorch\nimage: registry.example.com/train:1\ncommand: python train.py\ndata: {vol: /data}\n"


class Example(NamedTuple):
    """A profile with all of its fields, and the expected objects."""

    fields: dict[str, Any] | str
    source: dict[str, Any]
    """Source of the persistent volume, or of the pod's volume if there is none."""
    secret: str | None = None
    stage_secret: str | None = None
    handle: str | None = None
    """Handle of the volume, if it is not its name."""


FS = "fs-0123456789abcdef0"
EXAMPLES = {
    "azureBlob": Example(
        {
            "container": "data",
            "protocol": "fuse",
            "account": "acct",
            "resourceGroup": "ml",
            "server": "acct.privatelink.blob.core.windows.net",
            "secret": "keys",
        },
        {
            "driver": "blob.csi.azure.com",
            "volumeAttributes": {
                "containerName": "data",
                "protocol": "fuse",
                "storageAccount": "acct",
                "resourceGroup": "ml",
                "server": "acct.privatelink.blob.core.windows.net",
            },
        },
        stage_secret="keys",  # noqa: S106 - the name of a Secret
    ),
    "azureFile": Example(
        {
            "share": "data",
            "protocol": "nfs",
            "account": "acct",
            "resourceGroup": "ml",
            "server": "acct.privatelink.file.core.windows.net",
        },
        {
            "driver": "file.csi.azure.com",
            "volumeAttributes": {
                "shareName": "data",
                "protocol": "nfs",
                "storageAccount": "acct",
                "resourceGroup": "ml",
                "server": "acct.privatelink.file.core.windows.net",
            },
        },
    ),
    "cephfs": Example(
        {"cluster": "a", "path": "/a", "secret": "ceph", "fileSystem": "fs", "driver": "rook-ceph.cephfs.csi.ceph.com"},
        {
            "driver": "rook-ceph.cephfs.csi.ceph.com",
            "volumeAttributes": {"clusterID": "a", "fsName": "fs", "rootPath": "/a", "staticVolume": "true"},
        },
        stage_secret="ceph",  # noqa: S106 - the name of a Secret
    ),
    "cfs": Example(
        {"host": "10.0.0.7", "path": "/a", "vers": "3", "fsid": "abcd"},
        {
            "driver": "com.tencent.cloud.csi.cfs",
            "volumeAttributes": {"host": "10.0.0.7", "path": "/a", "vers": "3", "fsid": "abcd"},
        },
    ),
    "claim": Example("existing", {"persistentVolumeClaim": {"claimName": "existing"}}),
    "cos": Example(
        {
            "bucket": "data-1250000000",
            "url": "http://cos.ap-guangzhou.myqcloud.com",
            "path": "/a",
            "secret": "cos-keys",
            "additionalArgs": "-oallow_other",
        },
        {
            "driver": "com.tencent.cloud.csi.cosfs",
            "volumeAttributes": {
                "url": "http://cos.ap-guangzhou.myqcloud.com",
                "bucket": "data-1250000000",
                "path": "/a",
                "mounter": "cosfs",
                "additional_args": "-oallow_other",
            },
        },
        secret="cos-keys",  # noqa: S106 - the name of a Secret
    ),
    "cpfs": Example(
        {"server": "cpfs.example.com", "path": "/share/a", "protocol": "efc"},
        {
            "driver": "nasplugin.csi.alibabacloud.com",
            "volumeAttributes": {"server": "cpfs.example.com", "path": "/share/a", "mountProtocol": "efc"},
        },
    ),
    "csi": Example(
        {
            "driver": "lustre.csi.example.com",
            "handle": "a/b",
            "attributes": {"b": "2", "a": "1"},
            "fsType": "lustre",
            "secret": "mount",
            "stageSecret": "stage",
        },
        {"driver": "lustre.csi.example.com", "fsType": "lustre", "volumeAttributes": {"a": "1", "b": "2"}},
        secret="mount",  # noqa: S106 - the name of a Secret
        stage_secret="stage",  # noqa: S106 - the name of a Secret
        handle="a/b",
    ),
    "efs": Example(
        {"fileSystem": FS, "path": "/a", "accessPoint": "fsap-0123456789abcdef0", "encryptInTransit": False},
        {"driver": "efs.csi.aws.com", "volumeAttributes": {"encryptInTransit": "false"}},
        handle=f"{FS}:/a:fsap-0123456789abcdef0",
    ),
    "emptyDir": Example(
        {"sizeLimit": "2Gi", "medium": "Memory"}, {"emptyDir": {"medium": "Memory", "sizeLimit": "2Gi"}}
    ),
    "filestore": Example(
        {"instance": "ml", "location": "us-central1-c", "ip": "10.0.0.2", "share": "vol1"},
        {"driver": "filestore.csi.storage.gke.io", "volumeAttributes": {"ip": "10.0.0.2", "volume": "vol1"}},
        handle="modeInstance/us-central1-c/ml/vol1",
    ),
    "azureLustre": Example(
        {"server": "10.0.0.9", "fileSystem": "fs", "path": "/team"},
        {
            "driver": "azurelustre.csi.azure.com",
            "volumeAttributes": {"mgs-ip-address": "10.0.0.9", "fs-name": "fs", "sub-dir": "team"},
        },
    ),
    "fluid": Example({"dataset": "imagenet"}, {"persistentVolumeClaim": {"claimName": "imagenet"}}),
    "fsxLustre": Example(
        {"fileSystem": FS, "dnsName": f"{FS}.fsx.us-east-1.amazonaws.com", "mountName": "fsx"},
        {
            "driver": "fsx.csi.aws.com",
            "volumeAttributes": {"dnsname": f"{FS}.fsx.us-east-1.amazonaws.com", "mountname": "fsx"},
        },
        handle=FS,
    ),
    "gcsFuse": Example(
        {"bucket": "datasets", "hostNetwork": True, "skipAccessCheck": True},
        {
            "driver": "gcsfuse.csi.storage.gke.io",
            "volumeAttributes": {"hostNetworkPodKSA": "true", "skipCSIBucketAccessCheck": "true"},
        },
        handle="datasets:team-vol",
    ),
    "hostPath": Example("/mnt/data", {"hostPath": {"path": "/mnt/data", "type": "Directory"}}),
    "juicefs": Example(
        {"secret": "juicefs"},
        {"driver": "csi.juicefs.com", "fsType": "juicefs"},
        secret="juicefs",  # noqa: S106 - the name of a Secret
    ),
    "local": Example({"path": "/mnt/disk", "node": "node-1"}, {"local": {"path": "/mnt/disk"}}),
    "nas": Example(
        {"server": "nas.example.com", "path": "/a", "vers": "4.0", "mode": "755", "modeType": "recursive"},
        {
            "driver": "nasplugin.csi.alibabacloud.com",
            "volumeAttributes": {
                "server": "nas.example.com",
                "path": "/a",
                "vers": "4.0",
                "mode": "755",
                "modeType": "recursive",
            },
        },
    ),
    "nfs": Example({"server": "10.0.0.8", "path": "/export"}, {"nfs": {"server": "10.0.0.8", "path": "/export"}}),
    "oss": Example(
        {
            "bucket": "data",
            "url": "oss-cn-hangzhou-internal.aliyuncs.com",
            "path": "/a",
            "secret": "oss-keys",
            "fuseType": "ossfs2",
            "otherOpts": "-o max_stat_cache_size=0",
        },
        {
            "driver": "ossplugin.csi.alibabacloud.com",
            "volumeAttributes": {
                "bucket": "data",
                "url": "oss-cn-hangzhou-internal.aliyuncs.com",
                "path": "/a",
                "fuseType": "ossfs2",
                "otherOpts": "-o max_stat_cache_size=0",
            },
        },
        secret="oss-keys",  # noqa: S106 - the name of a Secret
    ),
    "s3": Example(
        {"bucket": "datasets", "authenticationSource": "pod"},
        {"driver": "s3.csi.aws.com", "volumeAttributes": {"bucketName": "datasets", "authenticationSource": "pod"}},
    ),
    "storageClass": Example("fast", {}),
}


def overlay(name: str, fields: Any = None, *, allow: bool = True, **shared: Any) -> str:
    """An overlay with one volume, `vol`, of a profile."""
    profile = STORAGE[name]
    size = {"size": "10Gi"} if profile.needs_size else {}
    volume = {**size, name: EXAMPLES[name].fields if fields is None else fields, **shared}
    grant = {"allow": [profile.grant]} if allow and profile.grant else {}
    return yaml.safe_dump({"kubernetes": "1.34", "namespaces": {"*": grant}, "volumes": {"vol": volume}})


def pod(objects: list[dict[str, Any]]) -> dict[str, Any]:
    (workload,) = [body for body in objects if body["kind"] == "PyTorchJob"]
    spec: dict[str, Any] = workload["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]
    return spec


def one(objects: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    (found,) = [body for body in objects if body["kind"] == kind]
    return found


def render(repo: Repository, name: str, **shared: Any) -> list[dict[str, Any]]:
    repo.overlay(overlay(name, **shared))
    repo.job(JOB)
    return repo.objects()
