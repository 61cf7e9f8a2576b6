"""Deprecated and removed API versions with their replacements, and what else a version of Kubernetes changes.

API versions of Kubernetes are those of its Go types (`APILifecycleDeprecated` in `k8s.io/api`), older ones are from its
deprecation guide (`reference/using-api/deprecation-guide`). Those of operators are facts of their kinds. Each change
names its source, and has the first version with it as the default. Dates are those of the tags. Kinds without a
namespace, which schemas do not show, are from `kubectl api-resources --namespaced=false`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from msgspec import Struct

from gen.base import as_mappings, at
from gen.kubernetes.facts import RESOURCES
from gen.kubernetes.facts.base import RetiredVersion
from gen.kubernetes.facts.pods import pods_by_shape
from gen.kubernetes.objects import Body


def _retired(instead: str, deprecated: int, removed: int | None = None) -> RetiredVersion:
    return RetiredVersion(instead=instead, deprecated=deprecated, removed=removed)


def _all(kinds: str, retired: RetiredVersion, *versions: str) -> dict[tuple[str, str], RetiredVersion]:
    return {(version, kind): retired for version in versions for kind in kinds.split()}


_WORKLOADS = _retired("apps/v1", 8, 16)
_V1 = "v1"
_ADMISSION = "MutatingWebhookConfiguration ValidatingWebhookConfiguration"
_REVIEWS = "LocalSubjectAccessReview SelfSubjectAccessReview SubjectAccessReview SelfSubjectRulesReview"
_RBAC = "ClusterRole ClusterRoleBinding Role RoleBinding"
_BINDINGS = "ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding"
_MUTATIONS = "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding"
_CERTIFICATES = "ClusterTrustBundle PodCertificateRequest"
_DEVICES = "DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice"
_FLOWS = "FlowSchema PriorityLevelConfiguration"

RETIRED: Final[dict[tuple[str, str], RetiredVersion]] = {
    **{(version, fact.kind): retired for fact in RESOURCES.values() for version, retired in fact.retired.items()},
    **_all("Deployment DaemonSet ReplicaSet", _WORKLOADS, "extensions/v1beta1"),
    **_all("Deployment StatefulSet", _WORKLOADS, "apps/v1beta1"),
    **_all("Deployment DaemonSet ReplicaSet StatefulSet", _retired("apps/v1", 9, 16), "apps/v1beta2"),
    **_all("NetworkPolicy", _retired("networking.k8s.io/v1", 9, 16), "extensions/v1beta1"),
    **_all("PodSecurityPolicy", _retired("Pod Security admission does this now", 11, 16), "extensions/v1beta1"),
    **_all(_ADMISSION, _retired("admissionregistration.k8s.io/v1", 16, 22), "admissionregistration.k8s.io/v1beta1"),
    **_all("CustomResourceDefinition", _retired("apiextensions.k8s.io/v1", 16, 22), "apiextensions.k8s.io/v1beta1"),
    **_all("APIService", _retired("apiregistration.k8s.io/v1", 19, 22), "apiregistration.k8s.io/v1beta1"),
    **_all("TokenReview", _retired("authentication.k8s.io/v1", 19, 22), "authentication.k8s.io/v1beta1"),
    **_all(_REVIEWS, _retired("authorization.k8s.io/v1", 19, 22), "authorization.k8s.io/v1beta1"),
    **_all("CertificateSigningRequest", _retired("certificates.k8s.io/v1", 19, 22), "certificates.k8s.io/v1beta1"),
    **_all("Lease", _retired("coordination.k8s.io/v1", 19, 22), "coordination.k8s.io/v1beta1"),
    **_all("Ingress", _retired("networking.k8s.io/v1", 14, 22), "extensions/v1beta1"),
    **_all("Ingress IngressClass", _retired("networking.k8s.io/v1", 19, 22), "networking.k8s.io/v1beta1"),
    **_all("IPAddress ServiceCIDR", _retired("networking.k8s.io/v1", 34, 37), "networking.k8s.io/v1beta1"),
    **_all(_RBAC, _retired("rbac.authorization.k8s.io/v1", 17, 22), "rbac.authorization.k8s.io/v1beta1"),
    **_all("PriorityClass", _retired("scheduling.k8s.io/v1", 14, 22), "scheduling.k8s.io/v1beta1"),
    **_all("CSIDriver StorageClass VolumeAttachment", _retired("storage.k8s.io/v1", 19, 22), "storage.k8s.io/v1beta1"),
    **_all("CSINode", _retired("storage.k8s.io/v1", 17, 22), "storage.k8s.io/v1beta1"),
    **_all("VolumeAttachment", _retired("storage.k8s.io/v1", 21, 24), "storage.k8s.io/v1alpha1"),
    **_all("VolumeAttributesClass", _retired("storage.k8s.io/v1", 32, 35), "storage.k8s.io/v1alpha1"),
    **_all("VolumeAttributesClass", _retired("storage.k8s.io/v1", 34, 37), "storage.k8s.io/v1beta1"),
    **_all(_BINDINGS, _retired("admissionregistration.k8s.io/v1", 29, 32), "admissionregistration.k8s.io/v1alpha1"),
    **_all(_BINDINGS, _retired("admissionregistration.k8s.io/v1", 31, 34), "admissionregistration.k8s.io/v1beta1"),
    **_all(_MUTATIONS, _retired("admissionregistration.k8s.io/v1", 35, 38), "admissionregistration.k8s.io/v1alpha1"),
    **_all(_MUTATIONS, _retired("admissionregistration.k8s.io/v1", 37, 40), "admissionregistration.k8s.io/v1beta1"),
    **_all("SelfSubjectReview", _retired("authentication.k8s.io/v1", 29, 32), "authentication.k8s.io/v1alpha1"),
    **_all("SelfSubjectReview", _retired("authentication.k8s.io/v1", 30, 33), "authentication.k8s.io/v1beta1"),
    **_all("ClusterTrustBundle", _retired("certificates.k8s.io/v1beta1", 34, 37), "certificates.k8s.io/v1alpha1"),
    **_all(_CERTIFICATES, _retired("certificates.k8s.io/v1", 37, 40), "certificates.k8s.io/v1beta1"),
    **_all(
        "StorageVersionMigration", _retired("storagemigration.k8s.io/v1", 37, 40), "storagemigration.k8s.io/v1beta1"
    ),
    **_all("DeviceTaintRule", _retired("resource.k8s.io/v1beta2", 36, 39), "resource.k8s.io/v1alpha3"),
    **_all(_DEVICES, _retired("resource.k8s.io/v1", 35, 38), "resource.k8s.io/v1beta1"),
    **_all(_DEVICES, _retired("resource.k8s.io/v1", 36, 39), "resource.k8s.io/v1beta2"),
    **_all("CronJob", _retired("batch/v1", 21, 25), "batch/v1beta1"),
    **_all("CronJob", _retired("batch/v1", 8, 21), "batch/v2alpha1"),
    **_all("EndpointSlice", _retired("discovery.k8s.io/v1", 21, 25), "discovery.k8s.io/v1beta1"),
    **_all("Event", _retired("events.k8s.io/v1", 22, 25), "events.k8s.io/v1beta1"),
    **_all("HorizontalPodAutoscaler", _retired("autoscaling/v2", 23, 25), "autoscaling/v2beta1"),
    **_all("HorizontalPodAutoscaler", _retired("autoscaling/v2", 23, 26), "autoscaling/v2beta2"),
    **_all("PodDisruptionBudget", _retired("policy/v1", 21, 25), "policy/v1beta1"),
    **_all("PodSecurityPolicy", _retired("Pod Security admission does this now", 21, 25), "policy/v1beta1"),
    **_all("RuntimeClass", _retired("node.k8s.io/v1", 22, 25), "node.k8s.io/v1beta1"),
    **_all("CSIStorageCapacity", _retired("storage.k8s.io/v1", 21, 24), "storage.k8s.io/v1alpha1"),
    **_all("CSIStorageCapacity", _retired("storage.k8s.io/v1", 24, 27), "storage.k8s.io/v1beta1"),
    **_all(_FLOWS, _retired("flowcontrol.apiserver.k8s.io/v1", 23, 26), "flowcontrol.apiserver.k8s.io/v1beta1"),
    **_all(_FLOWS, _retired("flowcontrol.apiserver.k8s.io/v1", 26, 29), "flowcontrol.apiserver.k8s.io/v1beta2"),
    **_all(_FLOWS, _retired("flowcontrol.apiserver.k8s.io/v1", 29, 32), "flowcontrol.apiserver.k8s.io/v1beta3"),
    **_all("ComponentStatus", _retired("ask the components themselves", 19), _V1),
    **_all("Endpoints", _retired("discovery.k8s.io/v1 EndpointSlice", 33), _V1),
}


_KINDS: Final[dict[str, frozenset[str]]] = {
    group: frozenset(kinds.split())
    for group, kinds in {
        "": "ComponentStatus Namespace Node PersistentVolume",
        "admissionregistration.k8s.io": "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding "
        "MutatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding "
        "ValidatingWebhookConfiguration",
        "apiextensions.k8s.io": "CustomResourceDefinition",
        "apiregistration.k8s.io": "APIService",
        "authentication.k8s.io": "SelfSubjectReview TokenReview",
        "authorization.k8s.io": "SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview",
        "certificates.k8s.io": "CertificateSigningRequest ClusterTrustBundle",
        "flowcontrol.apiserver.k8s.io": "FlowSchema PriorityLevelConfiguration",
        "internal.apiserver.k8s.io": "StorageVersion",
        "networking.k8s.io": "IPAddress IngressClass ServiceCIDR",
        "node.k8s.io": "RuntimeClass",
        "rbac.authorization.k8s.io": "ClusterRole ClusterRoleBinding",
        "resource.k8s.io": "DeviceClass DeviceTaintRule ResourceSlice",
        "scheduling.k8s.io": "PriorityClass",
        "storage.k8s.io": "CSIDriver CSINode StorageClass VolumeAttachment VolumeAttributesClass",
        "storagemigration.k8s.io": "StorageVersionMigration",
    }.items()
}
"""By API group. A kind has the same scope in all versions."""


def is_cluster_scoped(api_version: str, kind: str) -> bool:
    """Whether a kind of Kubernetes is not in a namespace."""
    return kind in _KINDS.get(api_version.rpartition("/")[0], ())


class VersionChange(Struct, frozen=True, kw_only=True):
    """A removal, a deprecation or a changed default of a minor version, which some objects feel."""

    minor: int
    about: str
    remedy: str
    source: str
    """Page below kubernetes.io."""
    concerns: Callable[[Body], bool]


RELEASED: Final = {
    26: "2022-12-09",
    27: "2023-04-11",
    28: "2023-08-15",
    29: "2023-12-13",
    30: "2024-04-17",
    31: "2024-08-13",
    32: "2024-12-11",
    33: "2025-04-23",
    34: "2025-08-27",
    35: "2025-12-17",
    36: "2026-04-22",
    37: "2026-08-26",
}
"""Dates of the first releases, by minor version."""
GUIDE: Final = "docs/reference/using-api/deprecation-guide/"


def _pods(body: Body) -> Iterator[tuple[Body, Any]]:
    """The spec and the metadata of each pod."""
    pod: Any
    above: Any
    for route in pods_by_shape(body):
        pod = above = body
        for step in route:
            pod, above = pod[step], pod
        yield pod, above.get("metadata") if isinstance(above, dict) else None


def _has_volume(*types: str) -> Callable[[Body], bool]:
    """Whether a pod has a volume of one of the types, or the object is such a PersistentVolume."""

    def concerns(body: Body) -> bool:
        spec = body.get("spec")
        if body.get("kind") == "PersistentVolume" and isinstance(spec, dict):
            return any(one in spec for one in types)
        return any(
            one in volume for pod, _ in _pods(body) for volume in as_mappings(pod.get("volumes")) for one in types
        )

    return concerns


def _annotated(start: str) -> Callable[[Body], bool]:
    """Whether the object or one of its pods has an annotation that begins so."""

    def concerns(body: Body) -> bool:
        metadata = [body.get("metadata"), *(metadata for _, metadata in _pods(body))]
        keys = [key for one in metadata for key in at(one, "annotations") or ()]
        return any(str(key).startswith(start) for key in keys)

    return concerns


def _has_field(kind: str, *fields: str, missing: bool = False) -> Callable[[Body], bool]:
    def concerns(body: Body) -> bool:
        return body.get("kind") == kind and (at(body, *fields) is None) is missing

    return concerns


def _may_use_cached_images(body: Body) -> bool:
    """Whether a pod without secrets for registries may start with an image that its node already has."""
    return any(
        not pod.get("imagePullSecrets") and any(one.get("imagePullPolicy") != "Always" for one in containers)
        for pod, _ in _pods(body)
        if (containers := as_mappings(pod.get("containers")))
    )


CHANGES: Final = (
    VersionChange(
        minor=26,
        about="gives unbound claims without `storageClassName` the default class, also after they were created",
        remedy="set `storageClassName`, or an empty one to bind to a volume without a class",
        source="docs/concepts/storage/persistent-volumes/",
        concerns=_has_field("PersistentVolumeClaim", "spec", "storageClassName", missing=True),
    ),
    VersionChange(
        minor=26,
        about="has no driver for `glusterfs` volumes any more",
        remedy="copy the data to a volume of a CSI driver",
        source="docs/concepts/storage/volumes/",
        concerns=_has_volume("glusterfs"),
    ),
    VersionChange(
        minor=27,
        about="ignores the annotations of seccomp",
        remedy="set `seccompProfile` in `securityContext`",
        source="docs/tutorials/security/seccomp/",
        concerns=_annotated("seccomp.security.alpha.kubernetes.io"),
    ),
    VersionChange(
        minor=30,
        about="deprecates the annotations of AppArmor",
        remedy="set `appArmorProfile` in `securityContext`",
        source="docs/tutorials/security/apparmor/",
        concerns=_annotated("container.apparmor.security.beta.kubernetes.io"),
    ),
    VersionChange(
        minor=31,
        about="has no drivers for `cephfs` and `rbd` volumes any more",
        remedy="use the CSI driver of Ceph",
        source="docs/concepts/storage/volumes/",
        concerns=_has_volume("cephfs", "rbd"),
    ),
    VersionChange(
        minor=31,
        about="deletes the storage behind a volume with `Delete` also if the volume is deleted before its claim",
        remedy="set `persistentVolumeReclaimPolicy: Retain`",
        source="docs/concepts/storage/persistent-volumes/",
        concerns=lambda body: at(body, "spec", "persistentVolumeReclaimPolicy") == "Delete",
    ),
    VersionChange(
        minor=33,
        about="does not mount `gitRepo` volumes by default",
        remedy="clone in an init container into an `emptyDir`; jobs use `code.git`",
        source="docs/concepts/storage/volumes/",
        concerns=_has_volume("gitRepo"),
    ),
    VersionChange(
        minor=35,
        about="checks by default that a pod may pull an image which its node already has",
        remedy="give pods with a private image the secret of its registry, also if another pod has pulled it",
        source="docs/concepts/containers/images/",
        concerns=_may_use_cached_images,
    ),
    VersionChange(
        minor=36,
        about="cannot mount `gitRepo` volumes any more",
        remedy="clone in an init container into an `emptyDir`; jobs use `code.git`",
        source="docs/concepts/storage/volumes/",
        concerns=_has_volume("gitRepo"),
    ),
    VersionChange(
        minor=36,
        about="deprecates `externalIPs` of Services",
        remedy="use a Service of type `LoadBalancer`, or a Gateway",
        source="docs/concepts/services-networking/service/",
        concerns=_has_field("Service", "spec", "externalIPs"),
    ),
)
"""Changes that objects feel although they stay valid."""
