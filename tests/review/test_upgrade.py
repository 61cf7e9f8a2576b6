"""An overlay with another version of Kubernetes."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from gen.commands.check import Request, run
from gen.kubernetes.facts.api_versions import CHANGES, RELEASED, RETIRED
from gen.kubernetes.schemas.registry import schemas, versions
from tests.history import branch

if TYPE_CHECKING:
    from tests.history import History

TEMPLATE: dict[str, Any] = {"metadata": {"annotations": {}}, "spec": {"containers": [{"name": "a", "image": "a:1"}]}}


def overlay(version: str, **fields: Any) -> str:
    return yaml.safe_dump({"kubernetes": version, **fields})


def upgraded(history: History, old: str, new: str, **fields: Any) -> list[str]:
    """Messages of a plan about an upgrade."""
    history.overlay(overlay(old, **fields))
    history.job("kind: batch\nimage: registry.example.com/a:1\ncommand: sleep 1\n")
    branch(history)
    history.overlay(overlay(new, **fields))
    history.rendering()
    found = [one for one in history.plan().findings if one.code == "kubernetes-upgrade"]
    assert {one.place.file for one in found} <= {"overlays/dev/overlay.yaml"}
    assert not any(one.is_error for one in found)
    return [one.message for one in found]


IMAGES = "checks by default that a pod may pull an image which its node already has"


def test_an_upgrade_lists_changed_defaults_with_dates(history: History) -> None:
    (message,) = upgraded(history, "1.33", "1.35")
    assert message.startswith(f"Kubernetes 1.35 (2025-12-17) {IMAGES}: `Job team/demo-")
    (found,) = (one for one in run(Request(root=history.root)).output.findings if one.code == "kubernetes-upgrade")
    assert found.message == message
    assert "https://kubernetes.io/docs/concepts/containers/images/" in found.hint


def test_an_upgrade_without_effect_says_so(history: History) -> None:
    (message,) = upgraded(history, "1.33", "1.34.2")
    assert message == "no object uses what Kubernetes 1.34 (2025-08-27) removes, deprecates or changes"


@pytest.mark.parametrize(("old", "new"), [("1.35", "1.33"), ("1.34", "1.34.3")])
def test_only_newer_minor_versions_count(history: History, old: str, new: str) -> None:
    assert upgraded(history, old, new) == []


def test_an_overlay_that_does_not_change_has_no_finding(history: History) -> None:
    assert upgraded(history, "1.35", "1.35") == []


def test_the_version_of_an_extended_overlay_counts(history: History) -> None:
    history.overlay(overlay("1.34", abstract=True), name="base")
    history.overlay("extends: base\n")
    history.job("kind: batch\nimage: registry.example.com/a:1\ncommand: sleep 1\n")
    branch(history)
    history.overlay(overlay("1.35", abstract=True), name="base")
    history.rendering()
    (found,) = (one for one in history.plan().findings if one.code == "kubernetes-upgrade")
    assert found.place.file == "overlays/base/overlay.yaml"


def test_versions_and_fields_that_disappear_are_found_in_the_schemas(history: History) -> None:
    claim = {"apiVersion": "resource.k8s.io/v1alpha3", "kind": "ResourceClaimTemplate"}
    history.overlay(overlay("1.33"))
    branch(history)
    metadata = {"name": "a", "namespace": "team"}
    pod = {"workloadRef": {"name": "w", "podGroup": "g"}, **TEMPLATE["spec"], "restartPolicy": "Never"}
    own = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": pod}
    spec: dict[str, Any] = {"devices": {}}
    history.write(
        "rendered/dev/jobs/team/a/claim.yaml", yaml.safe_dump({**claim, "metadata": metadata, "spec": {"spec": spec}})
    )
    history.write("rendered/dev/jobs/team/a/pod.yaml", yaml.safe_dump(own))
    history.overlay(overlay("1.34"))
    messages = [one.message for one in history.plan().findings if one.code == "kubernetes-upgrade"]
    gone = "has no `resource.k8s.io/v1alpha3` ResourceClaimTemplate any more: `ResourceClaimTemplate team/a`"
    assert messages == [f"Kubernetes 1.34 (2025-08-27) {gone}"]
    history.overlay(overlay("1.35"))
    history.git("add", "--all")
    history.git("commit", "--quiet", "--message", "1.35")
    history.git("branch", "--force", "main")
    history.overlay(overlay("1.36"))
    messages = [one.message for one in history.plan().findings if one.code == "kubernetes-upgrade"]
    assert messages == ["Kubernetes 1.36 rejects fields that 1.35 accepts: `Pod team/a`"]


def pod(**spec: Any) -> dict[str, Any]:
    return {"kind": "Job", "spec": {"template": {"spec": TEMPLATE["spec"] | spec}}}


def annotated(key: str) -> dict[str, Any]:
    return {"kind": "Job", "spec": {"template": {"metadata": {"annotations": {key: "x"}}, "spec": TEMPLATE["spec"]}}}


CONCERNED: dict[str, list[dict[str, Any]]] = {
    "seccomp": [annotated("seccomp.security.alpha.kubernetes.io/pod")],
    "storageClassName": [{"kind": "PersistentVolumeClaim", "spec": {}}],
    "AppArmor": [annotated("container.apparmor.security.beta.kubernetes.io/a")],
    "cephfs": [pod(volumes=[{"name": "a", "rbd": {}}]), {"kind": "PersistentVolume", "spec": {"cephfs": {}}}],
    "`Delete`": [{"kind": "PersistentVolume", "spec": {"persistentVolumeReclaimPolicy": "Delete"}}],
    "`gitRepo`": [pod(volumes=[{"name": "a", "gitRepo": {}}])],
    "may pull": [pod(), {"kind": "Job", "spec": {"tasks": [{"template": {"spec": TEMPLATE["spec"]}}]}}],
    "`glusterfs`": [pod(volumes=[{"name": "a", "glusterfs": {}}])],
    "externalIPs": [{"kind": "Service", "spec": {"externalIPs": ["192.0.2.1"]}}],
}
UNCONCERNED: list[dict[str, Any]] = [
    {"kind": "PersistentVolumeClaim", "spec": {"storageClassName": ""}},
    {"kind": "PersistentVolume", "spec": {"persistentVolumeReclaimPolicy": "Retain", "csi": {}}},
    {"kind": "Service", "spec": {}},
    pod(imagePullSecrets=[{"name": "a"}], volumes=[{"name": "a", "emptyDir": {}}]),
    pod(containers=[{"image": "a:1", "imagePullPolicy": "Always"}]),
    {"kind": "ConfigMap", "data": {}},
    {"kind": "Job", "spec": []},
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: f"1.{change.minor} {change.about}")
def test_each_change_concerns_its_objects_only(change: Any) -> None:
    own = [body for words, bodies in CONCERNED.items() if words in change.about for body in bodies]
    others = [body for words, bodies in CONCERNED.items() if words not in change.about for body in bodies]
    assert own
    assert all(change.concerns(body) for body in own)
    others = [body for body in others if "may pull" not in change.about or body["kind"] != "Job"]
    assert not any(change.concerns(body) for body in [*others, *UNCONCERNED])


def test_every_removal_of_the_table_is_one_of_the_schemas() -> None:
    """And each version that has a date has schemas, and each schema but the newest has a date."""
    for old, new in pairwise(versions()):
        minor = int(new.partition(".")[2])
        for key, retired in RETIRED.items():
            known = [key in schemas(version).types.kinds for version in (old, new)]
            assert known in ([True, False], [False, False]) if retired.removed == minor else True, (key, new)
    minors = [int(version.partition(".")[2]) for version in versions()]
    assert set(RELEASED) <= set(minors)
    assert {minor for minor in minors[1:] if minor not in RELEASED} <= {minors[-1]}
