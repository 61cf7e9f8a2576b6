"""Objects and pod volumes of every storage profile, as rendered for a job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
import yaml

from gen.storage import STORAGE
from gen.storage.base import ClaimedProfile, StaticProfile

if TYPE_CHECKING:
    from tests.support import Repository

JOB = "kind: pytorch\nimage: registry.example.com/train:1\ncommand: python train.py\ndata: {vol: /data}\n"


class Example(NamedTuple):
    """A profile with all of its fields, and what it must render."""

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

STATIC = [name for name, profile in STORAGE.items() if issubclass(profile, StaticProfile)]
CLAIMED = [name for name, profile in STORAGE.items() if issubclass(profile, ClaimedProfile)]
WITH_OPTIONS = [name for name in STATIC if "mountOptions" in STORAGE[name].settings]
WITH_ZONE = [name for name in STATIC if "zone" in STORAGE[name].settings]
UNCLAIMED = [name for name in STORAGE if name not in CLAIMED]


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


def test_every_profile_has_an_example() -> None:
    assert sorted(EXAMPLES) == sorted(STORAGE)


@pytest.mark.parametrize("name", STORAGE)
def test_the_training_container_mounts_the_volume(repo: Repository, name: str) -> None:
    spec = pod(render(repo, name))
    (volume,) = spec["volumes"]
    assert volume["name"] == "vol"
    assert spec["containers"][0]["volumeMounts"] == [{"name": "vol", "mountPath": "/data"}]


@pytest.mark.parametrize("name", CLAIMED)
def test_a_rendered_claim_is_the_volume_of_the_pod(repo: Repository, name: str) -> None:
    objects = render(repo, name)
    claim = one(objects, "PersistentVolumeClaim")
    assert (claim["metadata"]["namespace"], claim["metadata"]["name"]) == ("team", "vol")
    assert claim["spec"]["resources"] == {"requests": {"storage": "10Gi"}}
    assert pod(objects)["volumes"][0]["persistentVolumeClaim"] == {"claimName": "vol"}


@pytest.mark.parametrize("name", UNCLAIMED)
def test_a_profile_without_a_claim_renders_no_storage(repo: Repository, name: str) -> None:
    objects = render(repo, name)
    assert [body["kind"] for body in objects] == ["PyTorchJob"]
    assert pod(objects)["volumes"] == [{"name": "vol", **EXAMPLES[name].source}]


@pytest.mark.parametrize("name", STATIC)
def test_a_persistent_volume_and_its_claim_are_bound_to_each_other(repo: Repository, name: str) -> None:
    objects = render(repo, name)
    volume, claim = one(objects, "PersistentVolume"), one(objects, "PersistentVolumeClaim")
    assert claim["spec"]["volumeName"] == volume["metadata"]["name"]
    reference = volume["spec"]["claimRef"]
    assert (reference["kind"], reference["namespace"], reference["name"]) == ("PersistentVolumeClaim", "team", "vol")
    assert volume["spec"]["storageClassName"] == claim["spec"]["storageClassName"] == "", "no default class"
    assert volume["spec"]["accessModes"] == claim["spec"]["accessModes"] == ["ReadWriteMany"]
    assert volume["spec"]["capacity"] == claim["spec"]["resources"]["requests"] == {"storage": "10Gi"}
    assert volume["spec"]["persistentVolumeReclaimPolicy"] == "Retain"


@pytest.mark.parametrize("name", STATIC)
def test_the_source_of_a_persistent_volume_has_every_field_of_the_profile(repo: Repository, name: str) -> None:
    volume = one(render(repo, name), "PersistentVolume")
    expected = EXAMPLES[name].source
    if "driver" not in expected:
        assert volume["spec"].items() >= expected.items()
        return
    source = dict(volume["spec"]["csi"])
    handle = EXAMPLES[name].handle or volume["metadata"]["name"]
    assert source.pop("volumeHandle") == handle, "two equal handles would be the same volume"
    secrets = [source.pop(f"node{step}SecretRef", None) for step in ("Publish", "Stage")]
    assert source == expected
    wanted = (EXAMPLES[name].secret, EXAMPLES[name].stage_secret)
    assert secrets == [{"name": one, "namespace": "team"} if one else None for one in wanted]


@pytest.mark.parametrize("name", STATIC)
def test_each_namespace_has_its_own_persistent_volume(repo: Repository, name: str) -> None:
    repo.overlay(overlay(name))
    repo.job(JOB)
    repo.job(JOB, namespace="other")
    volumes = [body for body in repo.objects() if body["kind"] == "PersistentVolume"]
    assert {body["metadata"]["name"] for body in volumes} == {"team-vol", "other-vol"}
    assert {body["spec"]["claimRef"]["namespace"] for body in volumes} == {"team", "other"}


@pytest.mark.parametrize("name", WITH_OPTIONS)
def test_a_persistent_volume_has_the_mount_options_of_the_overlay(repo: Repository, name: str) -> None:
    volume = one(render(repo, name, mountOptions=["nolock"]), "PersistentVolume")
    assert volume["spec"]["mountOptions"][-1] == "nolock"
    profile = STORAGE[name]
    assert issubclass(profile, StaticProfile)
    assert volume["spec"]["mountOptions"][:-1] == list(profile.mount_options)


@pytest.mark.parametrize("name", WITH_ZONE)
def test_a_persistent_volume_has_the_zone_of_the_overlay(repo: Repository, name: str) -> None:
    (term,) = one(render(repo, name, zone="us-east-1a"), "PersistentVolume")["spec"]["nodeAffinity"]["required"][
        "nodeSelectorTerms"
    ]
    assert term["matchExpressions"] == [
        {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["us-east-1a"]}
    ]


def test_a_local_volume_is_on_its_node(repo: Repository) -> None:
    spec = one(render(repo, "local"), "PersistentVolume")["spec"]
    (term,) = spec["nodeAffinity"]["required"]["nodeSelectorTerms"]
    assert term["matchExpressions"] == [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["node-1"]}]


@pytest.mark.parametrize("name", STATIC)
def test_a_read_only_volume_is_read_only_everywhere(repo: Repository, name: str) -> None:
    objects = render(repo, name, readOnly=True)
    spec = one(objects, "PersistentVolume")["spec"]
    sources = [spec[key] for key in ("csi", "nfs") if key in spec]
    assert [source["readOnly"] for source in sources] == [True] * len(sources)
    assert sources or "local" in spec, "a local volume has no such field"
    assert spec["accessModes"] == ["ReadOnlyMany"]
    assert pod(objects)["volumes"][0]["persistentVolumeClaim"]["readOnly"] is True
    assert pod(objects)["containers"][0]["volumeMounts"][0]["readOnly"] is True


@pytest.mark.parametrize("name", STORAGE)
def test_a_read_only_volume_is_mounted_read_only(repo: Repository, name: str) -> None:
    (mount,) = pod(render(repo, name, readOnly=True))["containers"][0]["volumeMounts"]
    assert mount["readOnly"] is True


@pytest.mark.parametrize("name", CLAIMED)
def test_a_claimed_volume_needs_a_size(repo: Repository, name: str) -> None:
    repo.overlay(overlay(name).replace("    size: 10Gi\n", ""))
    repo.job(JOB)
    assert "invalid-value" in repo.codes()


@pytest.mark.parametrize("name", STORAGE)
def test_only_a_guarded_profile_reaches_the_node(repo: Repository, name: str) -> None:
    """Pod Security's baseline profile forbids host paths."""
    objects = render(repo, name)
    volumes = [body["spec"] for body in objects if body["kind"] == "PersistentVolume"]
    reaches = any({"hostPath", "local"} & source.keys() for source in [*volumes, *pod(objects)["volumes"]])
    assert reaches == bool(STORAGE[name].grant)


@pytest.mark.parametrize("name", [name for name, profile in STORAGE.items() if profile.grant])
def test_a_guarded_profile_needs_the_grant(repo: Repository, name: str) -> None:
    repo.overlay(overlay(name, allow=False))
    repo.job(JOB)
    assert repo.codes() == ["not-granted"]


@pytest.mark.parametrize("name", STORAGE)
def test_tensorboard_reads_only_volumes_that_outlive_the_pods(repo: Repository, name: str) -> None:
    repo.overlay(overlay(name))
    repo.job(JOB + "tensorboard: {logdir: /data/logs}\n")
    if STORAGE[name].outlives_pods:
        assert one(repo.objects(), "Deployment")["spec"]["template"]["spec"]["volumes"][0]["name"] == "vol"
    else:
        assert repo.codes() == ["no-logdir"]


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


@pytest.mark.parametrize("name", STORAGE)
def test_pods_have_what_the_driver_acts_on(repo: Repository, name: str) -> None:
    """Also those of TensorBoard."""
    repo.overlay(overlay(name))
    repo.job(JOB + ("tensorboard: {logdir: /data/logs}\n" if STORAGE[name].outlives_pods else ""))
    wanted = {"gke-gcsfuse/volumes": "true"} if name == "gcsFuse" else {}
    templates = [
        *one(repo.objects(), "PyTorchJob")["spec"]["pytorchReplicaSpecs"].values(),
        *(body["spec"] for body in repo.objects() if body["kind"] == "Deployment"),
    ]
    for template in templates:
        assert template["template"]["metadata"].get("annotations", {}) == wanted


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


@pytest.mark.parametrize(
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
