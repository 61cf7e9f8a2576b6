"""Objects and pod volumes of every storage profile, as rendered for a job."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gen.overlay.profiles.storage import STORAGE, ClaimedProfile, StaticProfile
from tests.cases import for_each
from tests.overlay.profiles.storage.examples import EXAMPLES, JOB, one, overlay, pod, render

if TYPE_CHECKING:
    from tests.support import Repository

STATIC = [name for name, profile in STORAGE.items() if issubclass(profile, StaticProfile)]
CLAIMED = [name for name, profile in STORAGE.items() if issubclass(profile, ClaimedProfile)]
WITH_OPTIONS = [name for name in STATIC if "mountOptions" in STORAGE[name].settings]
WITH_ZONE = [name for name in STATIC if "zone" in STORAGE[name].settings]
UNCLAIMED = [name for name in STORAGE if name not in CLAIMED]


def test_every_profile_has_an_example() -> None:
    assert sorted(EXAMPLES) == sorted(STORAGE)


@for_each("name", STORAGE)
def test_the_training_container_mounts_the_volume(repo: Repository, name: str) -> None:
    spec = pod(render(repo, name))
    (volume,) = spec["volumes"]
    assert volume["name"] == "vol"
    assert spec["containers"][0]["volumeMounts"] == [{"name": "vol", "mountPath": "/data"}]


@for_each("name", CLAIMED)
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


@for_each("name", STATIC)
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


@for_each("name", STATIC)
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


@for_each("name", STATIC)
def test_each_namespace_has_its_own_persistent_volume(repo: Repository, name: str) -> None:
    repo.overlay(overlay(name))
    repo.job(JOB)
    repo.job(JOB, namespace="other")
    volumes = [body for body in repo.objects() if body["kind"] == "PersistentVolume"]
    assert {body["metadata"]["name"] for body in volumes} == {"team-vol", "other-vol"}
    assert {body["spec"]["claimRef"]["namespace"] for body in volumes} == {"team", "other"}


@for_each("name", WITH_OPTIONS)
def test_a_persistent_volume_has_the_mount_options_of_the_overlay(repo: Repository, name: str) -> None:
    volume = one(render(repo, name, mountOptions=["nolock"]), "PersistentVolume")
    assert volume["spec"]["mountOptions"][-1] == "nolock"
    profile = STORAGE[name]
    assert issubclass(profile, StaticProfile)
    own = list(profile.mount_options)
    assert volume["spec"]["mountOptions"][:-1] == (["-o allow_other"] if name == "azureBlob" else own)


@for_each("name", WITH_ZONE)
def test_a_persistent_volume_has_the_zone_of_the_overlay(repo: Repository, name: str) -> None:
    (term,) = one(render(repo, name, zone="us-east-1a"), "PersistentVolume")["spec"]["nodeAffinity"]["required"][
        "nodeSelectorTerms"
    ]
    assert term["matchExpressions"] == [
        {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["us-east-1a"]}
    ]


@for_each("name", STATIC)
def test_a_read_only_volume_is_read_only_everywhere(repo: Repository, name: str) -> None:
    objects = render(repo, name, readOnly=True)
    spec = one(objects, "PersistentVolume")["spec"]
    sources = [spec[key] for key in ("csi", "nfs") if key in spec]
    assert [source["readOnly"] for source in sources] == [True] * len(sources)
    assert sources or "local" in spec, "a local volume has no such field"
    assert spec["accessModes"] == ["ReadOnlyMany"]
    assert pod(objects)["volumes"][0]["persistentVolumeClaim"]["readOnly"] is True
    assert pod(objects)["containers"][0]["volumeMounts"][0]["readOnly"] is True


@for_each("name", STORAGE)
def test_a_read_only_volume_is_mounted_read_only(repo: Repository, name: str) -> None:
    (mount,) = pod(render(repo, name, readOnly=True))["containers"][0]["volumeMounts"]
    assert mount["readOnly"] is True


@for_each("name", CLAIMED)
def test_a_claimed_volume_needs_a_size(repo: Repository, name: str) -> None:
    repo.overlay(overlay(name).replace("    size: 10Gi\n", ""))
    repo.job(JOB)
    assert "invalid-value" in repo.codes()


@for_each("name", STORAGE)
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


@for_each("name", STORAGE)
def test_tensorboard_reads_only_volumes_that_outlive_the_pods(repo: Repository, name: str) -> None:
    repo.overlay(overlay(name))
    repo.job(JOB + "tensorboard: {logdir: /data/logs}\n")
    if STORAGE[name].outlives_pods:
        assert one(repo.objects(), "Deployment")["spec"]["template"]["spec"]["volumes"][0]["name"] == "vol"
    else:
        assert repo.codes() == ["no-logdir"]


@for_each("name", STORAGE)
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
