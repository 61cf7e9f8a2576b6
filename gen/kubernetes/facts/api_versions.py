"""Deprecated and removed API versions, with their replacements.

Those of Kubernetes are from its deprecation guide (`reference/using-api/deprecation-guide`). Those of operators are
facts of their kinds.

Kinds of Kubernetes that are not in a namespace. Schemas do not contain the scope.

From `kubectl api-resources --namespaced=false` of a server with all API versions.
"""

from __future__ import annotations

from typing import Final

from gen.kubernetes.facts import RESOURCES
from gen.kubernetes.facts.base import Retired


def _retired(instead: str, deprecated: int, removed: int | None = None) -> Retired:
    return Retired(instead=instead, deprecated=deprecated, removed=removed)


def _all(kinds: str, retired: Retired, *versions: str) -> dict[tuple[str, str], Retired]:
    return {(version, kind): retired for version in versions for kind in kinds.split()}


_WORKLOADS = _retired("apps/v1", 8, 16)
_V1 = "v1"
_ADMISSION = "MutatingWebhookConfiguration ValidatingWebhookConfiguration"
_REVIEWS = "LocalSubjectAccessReview SelfSubjectAccessReview SubjectAccessReview SelfSubjectRulesReview"
_RBAC = "ClusterRole ClusterRoleBinding Role RoleBinding"
_FLOWS = "FlowSchema PriorityLevelConfiguration"

RETIRED: Final[dict[tuple[str, str], Retired]] = {
    **{(version, fact.kind): retired for fact in RESOURCES.values() for version, retired in fact.retired.items()},
    **_all("Deployment DaemonSet ReplicaSet", _WORKLOADS, "extensions/v1beta1"),
    **_all("Deployment StatefulSet", _WORKLOADS, "apps/v1beta1"),
    **_all("Deployment DaemonSet ReplicaSet StatefulSet", _WORKLOADS, "apps/v1beta2"),
    **_all("NetworkPolicy", _retired("networking.k8s.io/v1", 8, 16), "extensions/v1beta1"),
    **_all("PodSecurityPolicy", _retired("Pod Security admission does this now", 11, 16), "extensions/v1beta1"),
    **_all(_ADMISSION, _retired("admissionregistration.k8s.io/v1", 16, 22), "admissionregistration.k8s.io/v1beta1"),
    **_all("CustomResourceDefinition", _retired("apiextensions.k8s.io/v1", 16, 22), "apiextensions.k8s.io/v1beta1"),
    **_all("APIService", _retired("apiregistration.k8s.io/v1", 19, 22), "apiregistration.k8s.io/v1beta1"),
    **_all("TokenReview", _retired("authentication.k8s.io/v1", 19, 22), "authentication.k8s.io/v1beta1"),
    **_all(_REVIEWS, _retired("authorization.k8s.io/v1", 19, 22), "authorization.k8s.io/v1beta1"),
    **_all("CertificateSigningRequest", _retired("certificates.k8s.io/v1", 19, 22), "certificates.k8s.io/v1beta1"),
    **_all("Lease", _retired("coordination.k8s.io/v1", 19, 22), "coordination.k8s.io/v1beta1"),
    **_all("Ingress", _retired("networking.k8s.io/v1", 14, 22), "extensions/v1beta1", "networking.k8s.io/v1beta1"),
    **_all("IngressClass", _retired("networking.k8s.io/v1", 19, 22), "networking.k8s.io/v1beta1"),
    **_all(_RBAC, _retired("rbac.authorization.k8s.io/v1", 17, 22), "rbac.authorization.k8s.io/v1beta1"),
    **_all("PriorityClass", _retired("scheduling.k8s.io/v1", 14, 22), "scheduling.k8s.io/v1beta1"),
    **_all(
        "CSIDriver CSINode StorageClass VolumeAttachment",
        _retired("storage.k8s.io/v1", 19, 22),
        "storage.k8s.io/v1beta1",
    ),
    **_all("CronJob", _retired("batch/v1", 21, 25), "batch/v1beta1"),
    **_all("CronJob", _retired("batch/v1", 8, 21), "batch/v2alpha1"),
    **_all("EndpointSlice", _retired("discovery.k8s.io/v1", 21, 25), "discovery.k8s.io/v1beta1"),
    **_all("Event", _retired("events.k8s.io/v1", 19, 25), "events.k8s.io/v1beta1"),
    **_all("HorizontalPodAutoscaler", _retired("autoscaling/v2", 23, 25), "autoscaling/v2beta1"),
    **_all("HorizontalPodAutoscaler", _retired("autoscaling/v2", 23, 26), "autoscaling/v2beta2"),
    **_all("PodDisruptionBudget", _retired("policy/v1", 21, 25), "policy/v1beta1"),
    **_all("PodSecurityPolicy", _retired("Pod Security admission does this now", 21, 25), "policy/v1beta1"),
    **_all("RuntimeClass", _retired("node.k8s.io/v1", 20, 25), "node.k8s.io/v1beta1"),
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
